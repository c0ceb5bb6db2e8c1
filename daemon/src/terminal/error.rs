//! What can go wrong with terminals, for `rpc::error` to say.

use std::path::PathBuf;

use termd_proto::approval::{ApprovalId, ApprovalInfo};
use termd_proto::policy::Judgement;
use termd_proto::terminal::{CloseCause, Front};
use termd_proto::{Label, TerminalId};
use thiserror::Error;

use super::invalid_param::InvalidParam;
use super::lifecycle::idle_timeout::IdleTimeout;
use crate::config::ApprovedError;
use crate::keeper_client::KeeperError;
use crate::scope::ScopeWall;
use crate::store::StoreError;
use crate::terminal::lifecycle::launch::LaunchError;
use crate::terminal::output::transcript::TranscriptError;
use termd_keeper::protocol::message::SpawnFailure;

/// What the gate did not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What it said.
    pub judgement: Judgement,
    /// Of what, cut where it is long; `None`: it was a secret.
    pub command: Option<String>,
    /// The question that somebody may answer, or has; `None`: it cannot be asked.
    pub approval: Option<ApprovalInfo>,
}

impl Refusal {
    /// Who said no.
    fn rejection(&self) -> String {
        let by = self
            .approval
            .as_ref()
            .and_then(|approval| approval.answered_by.as_ref());
        let by = by.and_then(|by| by.client.as_deref()).unwrap_or("somebody");
        format!(
            "this was rejected through {by} ({}); do not try it another way",
            self.reason()
        )
    }

    fn reason(&self) -> &str {
        self.judgement
            .reason
            .as_deref()
            .unwrap_or("a rule of config.toml asks for it")
    }
}

/// A limit on running terminals, of `[limits]` in config.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningLimit {
    /// Of everybody.
    OfAll(usize),
    /// Of one client process of one front.
    OfClient(usize),
    /// Of one front.
    OfFront(usize),
}

impl RunningLimit {
    /// Its key.
    pub fn name(self) -> &'static str {
        match self {
            Self::OfAll(_) => "terminals",
            Self::OfClient(_) => "terminals_of_client",
            Self::OfFront(_) => "terminals_of_front",
        }
    }

    /// The bound.
    pub fn value(self) -> usize {
        match self {
            Self::OfAll(value) | Self::OfClient(value) | Self::OfFront(value) => value,
        }
    }

    /// Whose terminals it counts, in a sentence.
    pub fn whose(self) -> &'static str {
        match self {
            Self::OfAll(_) => "this daemon",
            Self::OfClient(_) => "this client",
            Self::OfFront(_) => "this front",
        }
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
    /// Its profile cannot be held to.
    #[error("cannot be confined as its profile ({profiles}) asks: {problem}")]
    Unconfinable {
        /// The profiles' names.
        profiles: String,
        /// What is in the way.
        problem: String,
    },
    /// Its profile's limits on all of it together cannot be held.
    #[error("cannot be held to {} as its profile ({profiles}) asks: {problem}", wall.name())]
    NoScope {
        /// The profiles' names.
        profiles: String,
        /// Which limit.
        wall: ScopeWall,
        /// What is in the way.
        problem: String,
    },
    /// There is too little free space to run anything new.
    #[error(
        "the disk has {free} bytes free, less than the floor of {floor} (store.free_floor): \
         nothing new is run until there is room"
    )]
    DiskFloor {
        /// The floor, in bytes.
        floor: u64,
        /// What is free, in bytes.
        free: u64,
    },
    /// Its command has exited.
    #[error("terminal {0} has exited: nothing can be sent to it")]
    Exited(TerminalId),
    /// It was closed, and not by whoever asks.
    #[error("terminal {id} was {}: nothing can be sent to it", closed(*cause, *idle_timeout))]
    Closed {
        /// Which.
        id: TerminalId,
        /// Why.
        cause: CloseCause,
        /// Its idle timeout, if it had one.
        idle_timeout: Option<IdleTimeout>,
    },
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
    #[error("{} terminals of {} are running, which is the limit (limits.{})", .0.value(), .0.whose(), .0.name())]
    TooMany(RunningLimit),
    /// As many terminals as this client wanted to have at the most.
    #[error(
        "this client has as many terminals running as it wanted at the most ({max_running}): close \
         one of them (session.list shows them), or say a greater max_running in daemon.hello"
    )]
    TooManyOfClient {
        /// The bound, as the client said it.
        max_running: u32,
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
    /// A person said no a while ago; nothing was run or typed.
    #[error("{}", .0.rejection())]
    Rejected(Box<Refusal>),
    /// A rule of config.toml forbids it; nothing was run or typed.
    #[error("rule {} of config.toml forbids this", .0.judgement.rule.unwrap_or_default())]
    Denied(Box<Refusal>),
    /// No such question.
    #[error("no question {0}: it was never asked, or is long over")]
    NoQuestion(ApprovalId),
    /// Somebody was faster, or it is too late.
    #[error("question {} is {} already", .0.id, .0.state.as_str())]
    QuestionOver(Box<ApprovalInfo>),
    /// Whoever answers works in a terminal that an agent has started.
    #[error(
        "what runs in {0}, an agent's terminal, may not answer questions: answer from a terminal of \
         your own"
    )]
    ApproverRefused(TerminalId),
    /// An agent's front may not agree to anything for always.
    #[error("the front {} may not agree for always: answer with termctl", .0.as_str())]
    NotForAlways(Front),
    /// What somebody agreed to for always could not be written down.
    #[error("it cannot be approved for always: {0}")]
    NotWritten(#[source] ApprovedError),
    /// The daemon is stopping or being replaced.
    #[error("the daemon is stopping")]
    Stopping,
}

/// How it was closed.
fn closed(cause: CloseCause, idle_timeout: Option<IdleTimeout>) -> String {
    match (cause, idle_timeout) {
        (CloseCause::Idle, Some(timeout)) => {
            format!("closed after {} without activity", seconds(timeout.ms()))
        }
        (CloseCause::Idle, None) => "closed after a time without activity".to_owned(),
        (CloseCause::Disconnect, _) => {
            "closed when the connection ended that it was tied to".to_owned()
        }
    }
}

/// Milliseconds as seconds for a person: `1,800 s`, `1.5 s`.
fn seconds(ms: u64) -> String {
    let digits = (ms / 1_000).to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match ms % 1_000 {
        0 => format!("{grouped} s"),
        rest => format!("{grouped}.{} s", format!("{rest:03}").trim_end_matches('0')),
    }
}

impl From<InvalidParam> for TerminalError {
    fn from(InvalidParam { field, problem }: InvalidParam) -> Self {
        Self::Invalid { field, problem }
    }
}

impl From<KeeperError> for TerminalError {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::Stopping | KeeperError::Gone => Self::Stopping,
            other => Self::Keeper(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_for_a_person() {
        for (ms, text) in [
            (1_000, "1 s"),
            (1_500, "1.5 s"),
            (1_050, "1.05 s"),
            (1_800_000, "1,800 s"),
            (999_000, "999 s"),
            (2_678_400_000, "2,678,400 s"),
        ] {
            assert_eq!(seconds(ms), text);
        }
    }
}
