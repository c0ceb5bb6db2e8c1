//! See `termd_parser_tests::acp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_parser_tests::acp::holds(data));
