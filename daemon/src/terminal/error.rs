//! What can go wrong with terminals, for `rpc::error` to say.

use std::path::PathBuf;

use termd_proto::policy::Judgement;
use termd_proto::{Label, TerminalId};
use thiserror::Error;

use super::launch::LaunchError;
use super::transcript::TranscriptError;
use crate::control::client::KeeperError;
use crate::control::message::SpawnFailure;
use crate::store::StoreError;

/// What the gate did not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What it said.
    pub judgement: Judgement,
    /// Of what, cut where it is long; `None`: it was a secret.
    pub command: Option<String>,
}

impl Refusal {
    fn reason(&self) -> &str {
        self.judgement
            .reason
            .as_deref()
            .unwrap_or("a rule of config.toml asks for it")
    }
}

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
    /// The gate asks first; nothing was run or typed.
    #[error("this needs a confirmation: {}", .0.reason())]
    ConfirmationRequired(Box<Refusal>),
    /// A rule of config.toml forbids it; nothing was run or typed.
    #[error("rule {} of config.toml forbids this", .0.judgement.rule.unwrap_or_default())]
    Denied(Box<Refusal>),
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
