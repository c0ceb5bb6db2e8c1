//! See `acp::wire::property`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| termd_fuzz::acp::wire::property::holds(data));
