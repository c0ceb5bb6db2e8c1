//! A terminal's output as a recording: when it came, and the screens that it can be played from.
//!
//! `session.read` with `times` gives the output itself.

use serde::{Deserialize, Serialize};

use crate::id::{Offset, TerminalRef};
use crate::terminal::TerminalState;

/// Most output in one [`TimelineSpan`], in bytes: what a reader goes through to find a time in it.
pub const MAX_SPAN_BYTES: u64 = 1 << 20;
/// The shortest pause that can be asked for, in milliseconds: output is noted to 10 ms.
pub const MIN_PAUSE_MS: u64 = 20;

/// Params of `session.timeline`: when the output in a range came, as spans without long pauses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTimeline {
    /// The terminal.
    pub id: TerminalRef,
    /// The offset to begin at; absent: the start of the output that is kept.
    pub since: Option<Offset>,
    /// The offset to end at; absent: the end of the output.
    pub until: Option<Offset>,
    /// A pause longer than this, in milliseconds, ends a span: at least [`MIN_PAUSE_MS`]; absent: 2,000.
    pub pause_ms: Option<u64>,
}

/// Answer to `session.timeline`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// In order. What lies between two is not kept.
    pub spans: Vec<TimelineSpan>,
    /// Where to go on.
    pub end: Offset,
    /// Whether that was all of the range.
    pub at_end: bool,
    /// Where the terminal is in its life.
    pub state: TerminalState,
}

/// Output that came without a long pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineSpan {
    /// The offset of its first byte.
    pub start: Offset,
    /// The offset after its last one, at most [`MAX_SPAN_BYTES`] later where its times are known.
    pub end: Offset,
    /// When it began to come and when the last of it came; absent: no times were noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_ms: Option<CameMs>,
}

/// When a span came, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameMs {
    /// Its first byte.
    pub first: i64,
    /// Its last byte.
    pub last: i64,
}

/// Params of `session.keyframe`: the last screen that is kept at or before an offset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadKeyframe {
    /// The terminal.
    pub id: TerminalRef,
    /// The offset.
    pub at: Offset,
}

/// Answer to `session.keyframe`: a screen that the output after it goes on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// It shows the output up to here.
    pub at: Offset,
    /// Columns and rows from here on.
    pub cols: u16,
    /// See `cols`.
    pub rows: u16,
    /// The dump of termd's model of a terminal, base64, whose version is within; absent: none is kept, and
    /// the screen is empty where the output begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}
