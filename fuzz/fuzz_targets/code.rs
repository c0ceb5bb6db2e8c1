//! See `termd_parser_tests::code`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_parser_tests::code::holds(data));
