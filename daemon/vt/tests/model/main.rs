//! The model as a whole: properties for any bytes, and what other emulators show.

// Tests: what is not there is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod differential;
mod generate;
mod properties;
mod runner;
