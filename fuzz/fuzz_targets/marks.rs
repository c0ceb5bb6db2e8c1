//! See `termd_parser_tests::marks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_parser_tests::marks::holds(data));
