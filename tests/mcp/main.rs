//! `termctl mcp` end to end: the real binaries, spoken to in JSON lines as an MCP client does.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod client;
mod end_cause;
mod ends;
mod gate;
mod paging;
mod protocol;
mod replaced;
mod resources;
mod sessions;
mod terminal_exec;
mod terminal_io;
mod terminal_run;
mod terminal_start;
mod waits;
