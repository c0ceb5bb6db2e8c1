//! Checks of the tree itself, which no crate's own tests can make.

// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod arrows;
mod docs;
mod markdown;
