//! `termctl` end to end: the real binaries, used from a shell and at a person's tty.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

mod askpass;
mod attention;
mod audit;
mod codex_exec_server;
mod completions;
mod doctor;
mod errors;
mod exec;
mod full_disk;
mod hook;
mod manual_pages;
mod policy;
mod replay;
mod run;
mod send;
mod setup;
mod setup_hooks;
mod setup_shell;
mod tags;
mod termctl;
mod terminal_end;
mod verbs;

/// `approvals`, `approve` and `deny`.
mod approvals {
    mod answers;
}

/// `attach`.
mod attach {
    mod away;
    mod key_line;
    mod list;
    mod screen;
    mod scrollback;
    mod tty;
}

/// The daemon behind `termctl`: started on demand, replaced, or silent.
mod daemon {
    mod elsewhere;
    mod server_change;
    pub(crate) mod start;
    mod unresponsive;
    mod verbs;
}

/// `notifier`, on a real bus.
mod notifier {
    mod desktop;
    mod fixture;
    mod questions;
    mod terminals;
}

/// What `read`, `run` and `history` print.
mod output {
    mod agent_line;
    mod animation;
    mod emulator;
    mod export;
    mod gaps;
    mod history;
    mod import;
    mod lines;
    mod past;
    mod pipes;
    mod search;
    mod tty;
}

/// `top`.
mod top {
    mod overview;
    mod questions;
    mod top_tty;
    mod tty;
}
