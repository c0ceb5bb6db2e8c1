//! How a terminal is closed.

use std::time::Duration;

use termd_proto::terminal::CloseCause;

/// How a terminal is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// By `session.close`, or by termd itself.
    Close {
        /// Why, where no client asked for it.
        cause: Option<CloseCause>,
        /// How long the command may take to end by itself after end of file was typed. Nothing is
        /// typed where this is `None`.
        eof: Option<Duration>,
    },
    /// By `terminal/release`: ACP's `terminal/*` may no longer name the terminal.
    Release,
}

impl Closing {
    /// termd closes the terminal by itself.
    pub(super) fn because(cause: CloseCause) -> Self {
        Self::Close {
            cause: Some(cause),
            eof: None,
        }
    }

    pub(super) fn cause(self) -> Option<CloseCause> {
        match self {
            Self::Close { cause, .. } => cause,
            Self::Release => None,
        }
    }
}
