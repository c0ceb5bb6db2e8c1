//! How `termctl` is linked: for a quick start. Scripts run it for each command, and most of what
//! that takes is the start of the program.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") || is_static {
        return;
    }
    // At a fixed address, so that the loader has no 21,000 pointers to set right, on a hundred pages
    // that are copied for it: 0.3 ms of 1.6. Stack, heap and libraries are placed at random as ever.
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // The unwinder alone. All of `libgcc_s.so` asks the processor what it can before main, and on a
    // virtual machine each such question (CPUID) goes to the host.
    println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
}
