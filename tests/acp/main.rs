//! `termctl acp` end to end: the real binaries, with a test at both ends of the proxy.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod initialize;
mod ours;
mod passing;
mod proxied;
mod record;
mod schema;
mod sessions;
