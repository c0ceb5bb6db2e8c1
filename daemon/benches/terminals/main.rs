//! Figures beside their limits; not there yet.
fn main() {}
