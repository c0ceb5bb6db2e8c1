//! What the overview does, as values.

use termd_proto::approval::{ApprovalId, Decision};
use termd_proto::secret::Secret;
use termd_proto::{Offset, Tags, TerminalId};

/// Something to be done outside of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Give the tty back, and then do this.
    Leave(Leave),
    /// Show this terminal's screen as it changes, this number of rows; `None`: of no terminal.
    Follow(Option<Followed>),
    /// A call of the daemon.
    Call(Call),
}

/// Why the overview gives the tty back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// For good.
    Quit,
    /// Until the shell continues the process.
    Suspend,
    /// To attach to a terminal, and to come back when that is over.
    Attach(TerminalId),
    /// To play a terminal's output, from an offset on or as it comes.
    Replay(TerminalId, Option<Offset>),
}

/// A screen that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The terminal.
    pub id: TerminalId,
    /// Rows that can be shown.
    pub rows: u16,
    /// Rows above the screen's first that the first shown one is. 0: the screen as it changes. Otherwise
    /// a part of the scrollback, as it is now.
    pub scrolled: u32,
}

/// A call of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// What is known of a terminal.
    Show(TerminalId),
    /// What these terminals show, in a line each.
    Glance(Vec<TerminalId>),
    /// A person's answer to a question of the gate.
    Answer(ApprovalId, Decision),
    /// A person's answer to a question for a secret; `None`: no.
    AnswerSecret(ApprovalId, Option<Secret>),
    /// Type a line into a terminal.
    TypeLine(TerminalId, String),
    /// Type a secret into a terminal that awaits one.
    TypeSecret(TerminalId, Secret),
    /// Give a terminal tags, and take some away.
    Tag {
        id: TerminalId,
        add: Tags,
        remove: Tags,
    },
    /// End a command and all that it started.
    Kill(TerminalId),
    /// End a terminal, and take it off the list.
    Close(TerminalId),
    /// Start a shell line, or a shell, here.
    Create { line: String, cwd: Option<String> },
    /// Search all output.
    Search(String),
    /// Copy what the last command in a terminal has printed.
    Copy(TerminalId),
}

impl Call {
    /// What a person is told where it is not made; `None`: they have not asked for it.
    pub(super) fn left_out(&self) -> Option<&'static str> {
        Some(match self {
            Self::Show(_) | Self::Glance(_) => return None,
            Self::Answer(..) => "nothing is answered",
            Self::AnswerSecret(..) => "no secret is given",
            Self::TypeLine(..) | Self::TypeSecret(..) => "nothing is typed",
            Self::Tag { .. } => "no tag is changed",
            Self::Kill(_) => "nothing is ended",
            Self::Close(_) => "nothing is closed",
            Self::Create { .. } => "nothing is started",
            Self::Search(_) => "nothing is searched",
            Self::Copy(_) => "nothing is copied",
        })
    }
}
