//! See `parsers::marks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_fuzz::parsers::marks::holds(data));
