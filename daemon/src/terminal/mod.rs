//! One terminal's life: from the request that starts it to the record of its end.
//!
//! Each [`Terminal`] is watched by anyone and written to by its own task alone ([`actor`]). What can be
//! done to terminals is `service`'s. Pure parts: [`flow`], [`input`], [`text`].
//!
//! **Invariant:** nothing here knows JSON-RPC or a connection. An exit is published after the
//! output before it can be read; an audit record is committed before what it records is done.

pub mod activity;
pub mod actor;
pub(crate) mod backlog;
pub(crate) mod bounded;
pub(crate) mod checkpoints;
pub mod command_output;
pub mod commands;
pub(crate) mod disk;
pub mod error;
pub mod flow;
pub mod foreground;
pub mod handle;
pub mod input;
pub(crate) mod intake;
pub mod keeping;
pub(crate) mod keyboard;
pub mod keys;
pub mod launch;
pub(crate) mod limit_shown;
pub(crate) mod master;
pub mod origins;
pub(crate) mod pace;
pub(crate) mod plain_reading;
pub mod presence;
pub mod read_options;
pub mod reading;
pub mod record;
pub mod resolved;
pub mod restore;
pub mod screen;
pub mod shell_log;
pub mod source;
pub mod spool;
pub(crate) mod streams;
pub mod tally;
pub mod text;
pub mod transcript;
pub(crate) mod tty;
pub mod typed;
pub mod typing;
pub mod viewing;
pub mod waiting;

pub use crate::clock;
pub use error::TerminalError;
pub use handle::Terminal;
