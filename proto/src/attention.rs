//! What waits for a person: the attention that each terminal wants, and `attention.report`, by which an
//! agent's hook or a script says that it waits, is done, or has failed.

use serde::{Deserialize, Serialize};

use crate::id::{TerminalId, TerminalRef};
use crate::terminal::Owner;

/// The longest text of a report that is shown, in bytes.
pub const MAX_TEXT_BYTES: usize = 512;
/// The longest [`Attention::why`], in bytes.
pub const MAX_WHY_BYTES: usize = 256;

/// What a terminal wants of a person, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttentionState {
    /// The gate asks whether something may run in it, or what runs in it may run something.
    Approval,
    /// Its tty reads a line and does not show it.
    Secret,
    /// The program in its foreground reads from the tty and has been quiet, and is at no prompt for
    /// commands; or a program has said that it waits.
    Input,
    /// The command, or the last one in its shell, has failed, or a program has said so; not seen yet.
    Failed,
    /// The same, and it ended well; not seen yet.
    Done,
    /// A command runs.
    Running,
    /// Nothing runs, and what ran was seen.
    Idle,
}

impl AttentionState {
    /// All, the most urgent first.
    pub const ALL: [Self; 7] = [
        Self::Approval,
        Self::Secret,
        Self::Input,
        Self::Failed,
        Self::Done,
        Self::Running,
        Self::Idle,
    ];

    /// The word for it in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Secret => "secret",
            Self::Input => "input",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Running => "running",
            Self::Idle => "idle",
        }
    }

    /// Whether something waits for a person: an answer is wanted, or an end was not seen yet.
    pub fn is_waiting(self) -> bool {
        self <= Self::Done
    }
}

/// What a terminal wants of a person, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    /// What it wants.
    pub state: AttentionState,
    /// Why: the command that is asked about, the prompt, what a program has said, or the command that
    /// runs or has ended. One line, without control characters, at most [`MAX_WHY_BYTES`]; perhaps empty.
    pub why: String,
    /// Since when, in milliseconds since the Unix epoch.
    pub since_ms: i64,
    /// Whether a program has said so of itself, or a script by [`ReportAttention`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub said: bool,
    /// Whether a person has looked at the terminal since then, or is attached to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen: bool,
}

/// What an agent or a script says that it wants of its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedState {
    /// It waits for an answer.
    Input,
    /// It has done what it was asked for.
    Done,
    /// It could not do it.
    Failed,
}

impl From<ReportedState> for AttentionState {
    fn from(state: ReportedState) -> Self {
        match state {
            ReportedState::Input => Self::Input,
            ReportedState::Done => Self::Done,
            ReportedState::Failed => Self::Failed,
        }
    }
}

/// Params of `attention.report`. A terminal that is named must run its command: what has ended waits for
/// nothing. Who watches sees it in `approval.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAttention {
    /// What it wants.
    pub state: ReportedState,
    /// In its words; at most [`MAX_TEXT_BYTES`] of it are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The terminal that this is about; absent: the one that the caller works in, if it works in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalRef>,
}

/// What an agent or a script has said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionReport {
    /// Counts them, from 1, under one server.
    pub number: u64,
    /// What it wants.
    pub state: ReportedState,
    /// In its words, without control characters; perhaps empty.
    pub text: String,
    /// Who has said it.
    pub of: Owner,
    /// The terminal that it is about, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalId>,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}
