//! What is known here of one terminal that the agent has created.

use termd_proto::TerminalId;
use termd_proto::terminal::ExitStatus;
use tokio::sync::watch;

/// One terminal, from its create on, past its release.
#[derive(Debug)]
pub(in crate::acp) struct Tracked {
    /// Its id.
    pub(in crate::acp) id: TerminalId,
    /// The ACP session that it is of.
    pub(in crate::acp) session: String,
    /// What runs in it, as a person would type it.
    pub(in crate::acp) command: String,
    /// Where, if that is known.
    pub(in crate::acp) cwd: Option<String>,
    /// How it ended, once it has.
    pub(in crate::acp) ended: watch::Receiver<Option<Ended>>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::acp) struct Ended {
    /// Its exit code, or the signal.
    pub(in crate::acp) status: ExitStatus,
    /// Ended by us, for this.
    pub(in crate::acp) cause: Option<EndCause>,
}

/// Why a command was ended from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::acp) enum EndCause {
    /// It ran longer than `--default-timeout`.
    TimedOut(std::time::Duration),
}
