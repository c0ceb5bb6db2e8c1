//! Input: from keys, text and pastes to bytes, and the bytes' way into the tty.

pub(crate) mod budget;
pub mod foreground;
pub mod input_audit;
pub(crate) mod keyboard;
pub mod keys;
pub mod queue;
pub(crate) mod send;
pub mod shell_prompt;
pub(crate) mod stdin_pipe;
pub(crate) mod stdin_reader;
pub(crate) mod tty;
pub mod typed_log;
pub mod typing;

pub use queue::{
    Care, Input, InputQueue, LineCare, MAX_QUEUED_BYTES, Outcome, PipePosition, Place, Secrecy,
};
