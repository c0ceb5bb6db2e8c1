//! One terminal's life: from the request that starts it to the record of its end.
//!
//! [`Terminals`] is the service that the fronts ask; each [`Terminal`] is watched by anyone and
//! written to by its own task alone ([`actor`]). Pure parts: [`flow`], [`input`], [`text`].
//!
//! **Invariant:** nothing here knows JSON-RPC or a connection. An exit is published after the
//! output before it can be read; an audit record is committed before what it records is done.

pub mod activity;
pub mod actor;
mod backlog;
mod bounded;
mod checkpoints;
pub mod command_output;
pub mod commands;
mod disk;
pub mod error;
pub mod flow;
pub mod foreground;
pub mod handle;
pub mod input;
mod intake;
pub mod keeping;
mod keyboard;
pub mod keys;
pub mod launch;
mod limit_shown;
mod master;
pub mod origins;
mod pace;
mod plain_reading;
pub mod presence;
pub mod reading;
pub mod record;
pub mod resolved;
pub mod restore;
pub mod screen;
mod service;
pub mod shell_log;
pub mod source;
pub mod spool;
mod streams;
pub mod tally;
pub mod text;
pub mod transcript;
mod tty;
pub mod typed;
pub mod typing;
pub mod viewing;
pub mod waiting;

pub use crate::clock;
pub use error::TerminalError;
pub use handle::Terminal;
pub use service::{CreateRequest, Terminals, TerminalsOptions, Typist};
