//! `termctl` end to end: the real binaries, as a shell and as a person at a tty use them.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

#[path = "../support/pty.rs"]
mod pty;
#[path = "../support/mod.rs"]
mod support;

mod approvals;
mod attach;
mod attach_screen;
mod audit;
mod desktop;
mod errors;
mod faults;
mod gaps;
mod history;
mod life;
mod notify;
mod pages;
mod pipes;
mod policy;
mod run;
mod send;
mod setup;
mod silent;
mod start;
mod termctl;
mod verbs;
