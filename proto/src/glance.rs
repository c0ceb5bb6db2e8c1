//! `session.glance`: what terminals show, in a line each, for an overview of many.
//!
//! A glance is no look: it counts neither as activity nor as a person's who has seen the terminal.

use serde::{Deserialize, Serialize};

use crate::id::{TerminalId, TerminalRef};
use crate::screen::Progress;

/// Most terminals of one call: more than a tty has rows.
pub const MAX_GLANCES: usize = 256;
/// Longest text of a glance, in bytes.
pub const MAX_GLANCE_BYTES: usize = 256;

/// Params of `session.glance`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlanceAtTerminals {
    /// The terminals, at most [`MAX_GLANCES`]. Those that are not there are left out of the answer.
    pub ids: Vec<TerminalRef>,
}

/// What a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// The terminal.
    pub id: TerminalId,
    /// The last row of its screen with text, without control characters, at most [`MAX_GLANCE_BYTES`]
    /// of it. Absent where the screen is not in memory: the terminal has ended long ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// The shell's directory (OSC 7, 9;9, 1337); absent: it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What a program reports of its progress (OSC 9;4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}
