//! Why a request on terminals fails.

use std::fmt;
use std::path::PathBuf;

use termd_proto::approval::{ApprovalId, ApprovalInfo};
use termd_proto::byte_count::bytes;
use termd_proto::policy::Judgement;
use termd_proto::terminal::{CloseCause, Front};
use termd_proto::{Label, TerminalId};
use thiserror::Error;

use super::file_error::FileError;
use super::input::shell_prompt::PromptState;
use super::invalid_param::InvalidParam;
use super::lifecycle::idle_timeout::IdleTimeout;
use crate::clock::utc;
use crate::config::ApprovedError;
use crate::keeper_client::KeeperError;
use crate::scope::ScopeLimit;
use crate::store::StoreError;
use crate::terminal::lifecycle::launch::LaunchError;
use crate::terminal::output::transcript::TranscriptError;
use termd_keeper::protocol::message::SpawnFailure;

/// A refusal of the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub judgement: Judgement,
    /// Whether only a person can agree, and the caller's `confirmed` does not count.
    pub needs_person: bool,
    /// The refused command, cut where it is long; `None` for a secret.
    pub command: Option<String>,
    /// The question that a person may answer, or has answered; `None` where none can be asked.
    pub approval: Option<ApprovalInfo>,
}

impl Refusal {
    fn rejection(&self) -> String {
        let by = self
            .approval
            .as_ref()
            .and_then(|approval| approval.answered_by.as_ref());
        let by = by.and_then(|by| by.client.as_deref()).unwrap_or("somebody");
        let rejected = format!("this was rejected through {by} ({})", self.reason());
        match &self.approval {
            Some(denial) => format!(
                "{rejected}, and is refused until {}, with `confirmed`, too; do not try it another \
                 way. Only a person can lift that, by `termctl approve {}`",
                utc(denial.expires_at_ms),
                denial.id
            ),
            None => format!("{rejected}; do not try it another way"),
        }
    }

    fn reason(&self) -> &str {
        self.judgement
            .reason
            .as_deref()
            .unwrap_or("a rule of config.toml asks for it")
    }
}

/// Where an agent's process works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentsPlace {
    /// In this terminal.
    Terminal(TerminalId),
    /// Outside termd's terminals, or in none that is known.
    Elsewhere,
}

impl fmt::Display for AgentsPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal(id) => write!(f, "what runs in {id}, an agent's terminal,"),
            Self::Elsewhere => f.write_str("a process that an agent has started"),
        }
    }
}

/// A limit on running terminals, of `[limits]` in config.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningLimit {
    OfAll(usize),
    /// For one client process of one front.
    OfClient(usize),
    OfFront(usize),
}

impl RunningLimit {
    /// The limit's key in config.toml.
    pub fn name(self) -> &'static str {
        match self {
            Self::OfAll(_) => "terminals",
            Self::OfClient(_) => "terminals_of_client",
            Self::OfFront(_) => "terminals_of_front",
        }
    }

    pub fn value(self) -> usize {
        match self {
            Self::OfAll(value) | Self::OfClient(value) | Self::OfFront(value) => value,
        }
    }

    /// Whose terminals the limit counts, for a sentence.
    pub fn whose(self) -> &'static str {
        match self {
            Self::OfAll(_) => "this daemon",
            Self::OfClient(_) => "this client",
            Self::OfFront(_) => "this front",
        }
    }
}

/// Why a request on terminals failed.
#[derive(Debug, Error)]
pub enum TerminalError {
    /// A param is out of bounds.
    #[error("{field} {problem}")]
    Invalid {
        /// The param's name on the wire.
        field: &'static str,
        problem: String,
    },
    /// There is no such terminal, or it is not the caller's.
    #[error("no terminal {0}")]
    NotFound(String),
    /// The reference is a prefix of several ids, or the label of several closed terminals.
    #[error("{reference} fits several terminals: {}", named(matches))]
    Ambiguous {
        reference: String,
        /// Some of the ids.
        matches: Vec<TerminalId>,
    },
    #[error("the label {0} is taken by an open terminal")]
    LabelTaken(Label),
    #[error("the command is to be run where its shell is: {0}")]
    InPlace(String),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The keeper could not start the command.
    #[error("cannot start {}", command.display())]
    Spawn {
        command: PathBuf,
        failure: SpawnFailure,
    },
    /// The sandbox of its profile cannot be made.
    #[error("cannot be confined as its profile ({profiles}) asks: {problem}")]
    Unconfinable { profiles: String, problem: String },
    /// A limit of its profile on the whole tree cannot be held.
    #[error("cannot be held to {} as its profile ({profiles}) asks: {problem}", wall.name())]
    NoScope {
        profiles: String,
        wall: ScopeLimit,
        problem: String,
    },
    /// There is too little free space to run anything new.
    #[error(
        "the disk has {} free, less than the floor of {} (store.free_floor): \
         nothing new is run until there is room", bytes(*free), bytes(*floor)
    )]
    DiskFloor {
        /// In bytes.
        floor: u64,
        /// In bytes.
        free: u64,
    },
    /// The disk takes no more output.
    #[error("the disk is full ({} free): nothing new is run until there is room", bytes(*free))]
    DiskFull {
        /// In bytes.
        free: u64,
    },
    #[error("terminal {0} has exited: nothing can be sent to it")]
    Exited(TerminalId),
    /// The daemon has closed the terminal.
    #[error("terminal {id} was {}: nothing can be sent to it", closed(*cause, *idle_timeout))]
    Closed {
        id: TerminalId,
        cause: CloseCause,
        idle_timeout: Option<IdleTimeout>,
    },
    #[error("terminal {id} is not reading: {limit} bytes of input are queued already")]
    InputQueueFull {
        id: TerminalId,
        /// In bytes.
        limit: usize,
    },
    #[error("terminal {0} has no input: its command runs on pipes")]
    NoInput(TerminalId),
    #[error("the input of terminal {0} has ended: nothing more can be sent to it")]
    InputEnded(TerminalId),
    /// The tty would cut a line; nothing was typed.
    #[error(
        "terminal {id} reads lines and holds {limit} bytes of one: a longer line would be cut, so \
         nothing was typed (`force` types it all the same; a file or a pipe takes any length)"
    )]
    CanonicalLimit {
        id: TerminalId,
        /// The longest line in bytes, without its end.
        limit: usize,
    },
    /// A secret would have been shown; nothing was typed.
    #[error(
        "terminal {0} does not wait for a secret (it shows what is typed, or reads keys), so nothing \
         was typed; `force` types it all the same"
    )]
    NoSecretAwaited(TerminalId),
    /// The next command of the shell would not be this line's; nothing was typed.
    #[error("the shell of terminal {id} is not at its prompt{}: nothing was typed", line_waits(*state))]
    NotAtPrompt { id: TerminalId, state: PromptState },
    #[error("{} terminals of {} are running, which is the limit (limits.{})", .0.value(), .0.whose(), .0.name())]
    TooMany(RunningLimit),
    /// The client runs as many terminals as it wanted at most.
    #[error(
        "this client has as many terminals running as it wanted at the most ({max_running}): close \
         one of them (session.list shows them), or say a greater max_running in daemon.hello"
    )]
    TooManyOfClient { max_running: u32 },
    #[error("the audit record could not be written, so nothing was done: {0}")]
    Audit(#[source] StoreError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The number of processes that outlived SIGKILL.
    #[error(
        "{0} processes of this terminal could not be ended: stuck in the kernel or another user's \
         (termctl status lists what is left); end it again"
    )]
    ProcessesLeft(u32),
    #[error(transparent)]
    Keeper(KeeperError),
    /// A system call on the terminal itself failed.
    #[error("the terminal failed: {0}")]
    Io(#[from] std::io::Error),
    /// The gate asks a person first; nothing was run or typed.
    #[error("this needs a confirmation: {}", .0.reason())]
    ConfirmationRequired(Box<Refusal>),
    /// A person said no a while ago; nothing was run or typed.
    #[error("{}", .0.rejection())]
    Rejected(Box<Refusal>),
    /// A rule of config.toml forbids it; nothing was run or typed.
    #[error("rule {} of config.toml forbids this", .0.judgement.rule.unwrap_or_default())]
    Denied(Box<Refusal>),
    #[error(transparent)]
    File(#[from] FileError),
    /// An agent may not use a terminal that it has not opened; nothing was done.
    #[error(
        "terminal {0} is not this agent's, and config.toml lets an agent use no other \
         (policy.foreign_terminals)"
    )]
    ForeignTerminal(TerminalId),
    /// An agent deletes its own transcripts alone; nothing was done.
    #[error("terminal {0} is not this agent's: an agent deletes its own transcripts alone")]
    NotOwn(TerminalId),
    #[error("terminal {0} is open: close it first")]
    StillOpen(TerminalId),
    #[error("no question {0}: it was never asked, or is long over")]
    NoQuestion(ApprovalId),
    /// The question was answered, or is too old.
    #[error("question {} is {} already", .0.id, .0.state.as_str())]
    QuestionOver(Box<ApprovalInfo>),
    /// The answer comes from an agent's process.
    #[error(
        "{0} may not answer questions: answer from a terminal that no agent has opened or typed into"
    )]
    ApproverRefused(AgentsPlace),
    /// A front answers for nobody but its own person.
    #[error("the front {} answers only what it has asked its own person: answer with termctl", .0.as_str())]
    NotItsQuestion(Front),
    /// A process answers what it has asked itself.
    #[error(
        "what asks does not answer itself: answer with termctl approve, or at the prompt of termctl"
    )]
    OwnQuestion,
    /// An agent's front may not agree to anything for always.
    #[error("the front {} may not agree for always: answer with termctl", .0.as_str())]
    NotForAlways(Front),
    /// A lasting approval could not be written.
    #[error("it cannot be approved for always: {0}")]
    NotWritten(#[source] ApprovedError),
    /// The daemon is stopping, or is being replaced.
    #[error("the daemon is stopping")]
    Stopping,
}

/// How a terminal was closed, for a sentence.
fn closed(cause: CloseCause, idle_timeout: Option<IdleTimeout>) -> String {
    match (cause, idle_timeout) {
        (CloseCause::Idle, Some(timeout)) => {
            format!("closed after {} without activity", seconds(timeout.ms()))
        }
        (CloseCause::Idle, None) => "closed after a time without activity".to_owned(),
        (CloseCause::Disconnect, _) => {
            "closed when the connection ended that it was tied to".to_owned()
        }
        (CloseCause::CallEnd, _) => "closed when its call was over".to_owned(),
        (CloseCause::AgentEnd, _) => "closed when its agent had ended".to_owned(),
    }
}

fn line_waits(state: PromptState) -> &'static str {
    match state {
        PromptState::LineWaits => ", or has a line there already",
        PromptState::AnswersStand => {
            ", or has the terminal's answers there, which a command did not read"
        }
        PromptState::Free | PromptState::Elsewhere => "",
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

fn named(terminals: &[TerminalId]) -> String {
    let ids: Vec<&str> = terminals.iter().map(TerminalId::as_str).collect();
    ids.join(", ")
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
            KeeperError::Survivors(left) => Self::ProcessesLeft(left),
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
