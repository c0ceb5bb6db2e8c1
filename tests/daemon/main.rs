//! The daemon end to end: the real binary over its real socket, with a fresh home for each test.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

/// What has been done to other terminals, multiplexers and container engines.
mod attacks;
/// `file.write` and `file.search`.
mod files;
/// Signals to the daemon, and the death of either of its processes.
mod signals;
/// Reloads with a program that cannot serve.
mod upgrade;

/// ACP's `terminal/*`.
mod acp {
    mod create;
    mod environment;
    mod examples;
    mod kill;
    mod output;
    mod release;
    mod sessions;
    mod wait;
}

/// The audit: what it records, never stores, and does when it cannot be written.
mod audit {
    mod records;
    mod secrets;
    mod typing;
    mod unavailable;
}

/// Sandboxes and limits of commands.
mod confinement {
    mod limits;
    mod ordinary_user;
    mod sandbox;
}

/// The database file, quotas, and a full disk.
mod disk {
    mod database;
    mod database_of_0_1_0;
    mod free_floor;
    mod full_disk;
    mod numbered_lines;
    mod quota;
}

/// What is judged before it runs, and who answers.
mod gate {
    mod approval;
    pub(crate) mod judgement;
    mod profiles;
    mod unended;
}

/// `session.send` and `session.type`.
mod input {
    mod pipe;
    mod programs;
    mod secrets;
    mod send;
    pub(crate) mod typing;
}

/// `session.read`.
mod output {
    mod page_pipe;
    mod pipes;
    mod plain_text;
    mod read;
    mod times;
}

/// `session.screen`.
mod screen {
    mod contents;
    mod history;
    mod replies;
    mod wait;
}

/// The life of a terminal by the native API.
mod session {
    mod attention;
    mod attention_command;
    mod close;
    mod closed_pty;
    mod commands;
    mod create;
    mod delete;
    mod events;
    mod idle_timeout;
    mod lifecycle;
    mod rename;
    mod tags;
}

/// Shell integration.
mod shell {
    pub(crate) mod marked_shell;
    mod marks;
    mod user_settings;
}

/// The socket, its lines, and who may use it how much.
mod socket {
    mod bad_clients;
    mod other_user;
    mod peer_limits;
    mod protocol;
    mod runtime_directory;
}

/// `session.wait_for` and `session.interact`.
mod wait {
    mod awaited_input;
    mod command_end;
    mod load;
    pub(crate) mod pattern;
}
