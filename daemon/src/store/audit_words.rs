//! The words of audit records: what was done, and what came of it.
//!
//! Both are stored, hashed, and matched by `audit.list` and by scripts. A word never changes; new
//! ones are added.

use std::fmt;

use termd_proto::TerminalId;

/// What an audit record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAction {
    /// A person answered a question of the gate, or nobody did in time.
    ApprovalAnswer,
    /// Retention dropped the oldest records.
    AuditPruned,
    /// Records can be written again after the disk was full.
    AuditRecovered,
    /// A record could not be written because the disk is full.
    AuditRefused,
    /// A server has started.
    DaemonStart,
    /// The disk is above its floor again.
    LimitLeft,
    /// A limit of a terminal or of the disk is reached.
    LimitReached,
    /// Another config.toml or approved.toml is in force, or was refused.
    PolicyChanged,
    /// A connection attached to a terminal.
    TerminalAttach,
    /// A terminal was closed.
    TerminalClose,
    /// A command runs without a part of its sandbox or limits.
    TerminalConfined,
    /// A terminal was requested.
    TerminalCreate,
    /// A connection detached from a terminal.
    TerminalDetach,
    /// A command has ended, or did not start after all.
    TerminalExit,
    /// A connection typed into a terminal for the first time, or typed a line that is not safe.
    TerminalInput,
    /// A command and all that it started was ended.
    TerminalKill,
    /// ACP released a terminal.
    TerminalRelease,
    /// A signal was sent.
    TerminalSignal,
    /// How much was typed, summed over a second.
    TerminalTyped,
    /// A word for tests of filters, which termd never writes.
    #[cfg(test)]
    Other(&'static str),
}

impl AuditAction {
    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApprovalAnswer => "approval.answer",
            Self::AuditPruned => "audit.pruned",
            Self::AuditRecovered => "audit.recovered",
            Self::AuditRefused => "audit.refused",
            Self::DaemonStart => "daemon.start",
            Self::LimitLeft => "limit.left",
            Self::LimitReached => "limit.reached",
            Self::PolicyChanged => "policy.changed",
            Self::TerminalAttach => "terminal.attach",
            Self::TerminalClose => "terminal.close",
            Self::TerminalConfined => "terminal.confined",
            Self::TerminalCreate => "terminal.create",
            Self::TerminalDetach => "terminal.detach",
            Self::TerminalExit => "terminal.exit",
            Self::TerminalInput => "terminal.input",
            Self::TerminalKill => "terminal.kill",
            Self::TerminalRelease => "terminal.release",
            Self::TerminalSignal => "terminal.signal",
            Self::TerminalTyped => "terminal.typed",
            #[cfg(test)]
            Self::Other(word) => word,
        }
    }

    /// Whether the record tells of what has happened already. A writer retries such a record until
    /// it is written.
    pub(super) fn is_of_the_past(self) -> bool {
        matches!(
            self,
            Self::TerminalExit | Self::TerminalTyped | Self::TerminalDetach
        )
    }
}

/// What came of it. A filter may name the part before the colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// It was done.
    Ok,
    /// A part of it was done.
    InPart,
    /// Nobody knows: the daemon that ran the command ended with it.
    Lost,
    /// A command was not started, for this reason.
    NotStarted(String),
    /// It was refused for a reason that stands elsewhere in the record.
    Refused,
    /// It was refused for this reason.
    RefusedBecause(String),
    /// A rule of config.toml forbids it.
    Forbidden,
    /// A person rejected it.
    Rejected,
    /// Nobody has confirmed it.
    NotConfirmed,
    /// Whoever answered works in this terminal of an agent.
    ApproverRefused(TerminalId),
    /// A person approved it once.
    Approved,
    /// A person approved it for always.
    ApprovedForAlways,
    /// A person denied it.
    Denied,
    /// An answer came after another one.
    TooLate,
    /// Nobody answered in time.
    NotAnswered,
    /// An approval was not used in time.
    NotUsed,
}

impl fmt::Display for AuditOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::NotStarted(reason) => return write!(f, "not started: {reason}"),
            Self::RefusedBecause(reason) => return write!(f, "refused: {reason}"),
            Self::ApproverRefused(id) => return write!(f, "refused: works in {id}"),
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
