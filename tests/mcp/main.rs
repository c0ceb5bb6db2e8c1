//! `termctl mcp` end to end: the real binaries, with a client that sends lines of JSON.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod answers;
mod first_wait;
mod gate;
mod lean;
mod limit_causes;
mod one_shots;
mod protocol;
mod resources;
mod server_change;
mod shutdown;
mod tasks;
mod turns;

/// The tools that stand in for smart-terminal-mcp's.
mod smart_terminal {
    mod exec;
    mod io;
    mod run;
    pub(crate) mod start;
}

/// The tools that stand in for terminal-mcp's.
mod terminal_mcp {
    mod environment;
    mod paging;
    mod sessions;
    mod waits;
}
