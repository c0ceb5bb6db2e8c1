//! See `termd_parser_tests::control`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_parser_tests::control::holds(data));
