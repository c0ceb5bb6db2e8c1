//! See `acp::property`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_fuzz::acp::property::holds(data));
