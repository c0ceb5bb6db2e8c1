//! What can go wrong with terminals, for `rpc::error` to say.

use std::path::PathBuf;

use termd_proto::{Label, TerminalId};
use thiserror::Error;

use super::launch::LaunchError;
use super::transcript::TranscriptError;
use crate::control::client::KeeperError;
use crate::control::message::SpawnFailure;
use crate::store::StoreError;

/// Why a terminal did not do what was asked.
#[derive(Debug, Error)]
pub enum TerminalError {
    /// A param is out of bounds.
    #[error("{field} {problem}")]
    Invalid {
        /// The param's name, as on the wire.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// No such terminal, or not this asker's.
    #[error("no terminal {0}")]
    NotFound(String),
    /// A prefix of several ids.
    #[error("{reference} fits {} terminals and more", matches.len())]
    Ambiguous {
        /// As asked.
        reference: String,
        /// Some that fit.
        matches: Vec<TerminalId>,
    },
    /// Another open terminal has this label.
    #[error("the label {0} is taken by an open terminal")]
    LabelTaken(Label),
    /// The request cannot be run.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The keeper could not start it.
    #[error("cannot start {}", command.display())]
    Spawn {
        /// The program.
        command: PathBuf,
        /// Where it failed.
        failure: SpawnFailure,
    },
    /// Its command has exited.
    #[error("terminal {0} has exited: nothing can be sent to it")]
    Exited(TerminalId),
    /// More input is queued than it takes.
    #[error("terminal {id} is not reading: {limit} bytes of input are queued already")]
    InputQueueFull {
        /// Which.
        id: TerminalId,
        /// The bound, in bytes.
        limit: usize,
    },
    /// It has no input at all.
    #[error("terminal {0} has no input: its command runs on pipes")]
    NoInput(TerminalId),
    /// Its tty would cut a line short; nothing was typed.
    #[error(
        "terminal {id} reads lines and holds {limit} bytes of one: a longer line would be cut, so \
         nothing was typed (`force` types it all the same; a file or a pipe takes any length)"
    )]
    CanonicalLimit {
        /// Which.
        id: TerminalId,
        /// The longest line, in bytes, without its end.
        limit: usize,
    },
    /// A secret was to be typed where it would be seen; nothing was typed.
    #[error(
        "terminal {0} does not wait for a secret (it shows what is typed, or reads keys), so nothing \
         was typed; `force` types it all the same"
    )]
    NoSecretAwaited(TerminalId),
    /// As many terminals as may be.
    #[error("{limit} terminals are running, which is the limit (limits.terminals)")]
    TooMany {
        /// The bound.
        limit: usize,
    },
    /// The audit record could not be written, so nothing was done.
    #[error("the audit record could not be written, so nothing was done: {0}")]
    Audit(#[source] StoreError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Output could not be read.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The keeper.
    #[error(transparent)]
    Keeper(KeeperError),
    /// A system call on the terminal itself.
    #[error("the terminal failed: {0}")]
    Io(#[from] std::io::Error),
    /// The daemon is stopping or being replaced.
    #[error("the daemon is stopping")]
    Stopping,
}

impl From<KeeperError> for TerminalError {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::Stopping | KeeperError::Gone => Self::Stopping,
            other => Self::Keeper(other),
        }
    }
}
