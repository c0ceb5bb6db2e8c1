//! The terminal model as a whole: properties that hold for any bytes, and what other terminals show
//! for the same ones.

// Tests: what is not there is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod differential;
mod generate;
mod properties;
mod runner;
