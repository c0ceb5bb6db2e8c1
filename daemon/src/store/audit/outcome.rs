//! What came of what an audit record is about.

use std::fmt;

use termd_proto::TerminalId;

/// What came of an action. Its text is stored, hashed, and matched by `audit.list` and by scripts, so
/// it never changes. A filter may name the part before the colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// It was done.
    Ok,
    /// A part of it was done.
    InPart,
    /// Not known: the daemon that ran the command ended with it.
    Lost,
    /// A command was not started, for this reason.
    NotStarted(String),
    /// It was not done, for this reason.
    NotDone(String),
    /// It was refused. The reason is elsewhere in the record.
    Refused,
    /// It was refused for this reason.
    RefusedBecause(String),
    /// A rule of config.toml forbids it.
    Forbidden,
    /// A person rejected it.
    Rejected,
    /// It was not confirmed.
    NotConfirmed,
    /// Who answered works in this terminal of an agent.
    ApproverRefused(TerminalId),
    /// Who answered may not answer this question.
    AnswerRefused,
    /// A person approved it once.
    Approved,
    /// A person approved it for always.
    ApprovedForAlways,
    /// A person denied it.
    Denied,
    /// An answer came after another one.
    TooLate,
    /// No answer came in time.
    NotAnswered,
    /// An approval was not used in time.
    NotUsed,
}

impl fmt::Display for AuditOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::NotStarted(reason) => return write!(f, "not started: {reason}"),
            Self::NotDone(reason) => return write!(f, "not done: {reason}"),
            Self::RefusedBecause(reason) => return write!(f, "refused: {reason}"),
            Self::ApproverRefused(id) => return write!(f, "refused: works in {id}"),
            Self::AnswerRefused => "refused: may not answer this",
            Self::Ok => "ok",
            Self::InPart => "in part",
            Self::Lost => "lost",
            Self::Refused => "refused",
            Self::Forbidden => "refused: a rule forbids it",
            Self::Rejected => "refused: rejected",
            Self::NotConfirmed => "refused: not confirmed",
            Self::Approved => "approved",
            Self::ApprovedForAlways => "approved for always",
            Self::Denied => "denied",
            Self::TooLate => "too late",
            Self::NotAnswered => "expired: nobody answered",
            Self::NotUsed => "expired: approved and not used",
        };
        f.write_str(word)
    }
}
