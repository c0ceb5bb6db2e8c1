//! What changes in a terminal's life, as everyone may watch it.

use std::time::Instant;

use termd_proto::Offset;
use termd_proto::terminal::{CloseCause, EndCause, ExitStatus};

use crate::terminal::screen::size::Size;

/// A command's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// `None` where the exit was not seen, because the daemon was gone.
    pub status: Option<ExitStatus>,
    /// When the exit was known and the output drained, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// The state of a screen, for those who wait for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenState {
    /// Counts the screen's changes.
    pub seq: u64,
    /// A frame of synchronized output (mode 2026) is not complete.
    pub drawing: bool,
    pub changed_at: Instant,
}

impl ScreenState {
    /// The state of a screen that has not changed under this server.
    pub fn still(seq: u64) -> Self {
        Self {
            seq,
            drawing: false,
            changed_at: Instant::now(),
        }
    }
}

/// How far a terminal has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The end of the output.
    pub end: Offset,
    pub size: Size,
    pub screen: ScreenState,
    /// Set once, after the root process was reaped and its output drained.
    pub exit: Option<Exit>,
    /// When `terminal/release` ended the terminal's ACP life.
    pub released_at_ms: Option<i64>,
    pub closed_at_ms: Option<i64>,
    /// Why the daemon closed the terminal by itself.
    pub close_cause: Option<CloseCause>,
    /// The limit that ended the command.
    pub end_cause: Option<EndCause>,
}
