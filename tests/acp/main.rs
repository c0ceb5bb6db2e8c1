//! `termctl acp` end to end: the real binaries, with a test at both ends of the proxy.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod display;
mod end_cause;
mod endings;
mod example;
mod initialize;
mod limits;
mod ours;
mod passing;
mod permission;
mod proxied;
mod record;
mod recorded;
mod schema;
mod sessions;
mod started;
mod sweeps;
mod terminals;
mod timeout;
