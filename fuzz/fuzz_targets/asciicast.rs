//! See `termd_parser_tests::asciicast`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_parser_tests::asciicast::holds(data));
