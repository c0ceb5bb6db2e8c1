//! One terminal: its task, its output, its screen, and what is typed, read and waited for.
//!
//! - [`handle`]: a terminal as the rest of the server holds it.
//! - [`lifecycle`]: from the request that starts it to the record of its end; the task.
//! - [`output`]: from the PTY or the pipes into the spool, the screen and the store.
//! - [`screen`]: the model, its checkpoints in the database and how it is made again.
//! - [`read`]: output as plain text, raw text or bytes.
//! - [`input`]: from keys and text to bytes, and the bytes' way into the tty.
//! - [`wait`]: for a pattern, for a command's end, for quiet.
//!
//! **Invariant:** nothing here knows JSON-RPC or a connection. An exit is published after the
//! output before it can be read; an audit record is committed before what it records is done.

#![allow(
    missing_docs,
    reason = "no library: only the daemon uses it, and names say most"
)]

pub mod error;
pub mod file_error;
pub mod handle;
pub mod input;
pub mod invalid_param;
pub mod lifecycle;
pub mod output;
pub mod read;
pub mod screen;
pub mod wait;

pub use error::TerminalError;
pub use handle::Terminal;
