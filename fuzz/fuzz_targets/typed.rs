//! See `parsers::typed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_fuzz::parsers::typed::holds(data));
