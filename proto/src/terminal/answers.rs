//! What the methods of `session.*` answer.

use serde::{Deserialize, Serialize};

use super::{EndCause, ExitStatus, Gap, TerminalState};
use crate::id::Offset;

/// How `session.read` writes bytes into JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Plain text in `text`: escape sequences resolved, carriage returns, backspaces and redraws
    /// applied, so that a progress bar is its last state. Lines are given when they are ended; an
    /// unfinished one, and rows being redrawn, once the terminal is quiet. Read on from `end`, and no
    /// line comes twice unless it was changed.
    #[default]
    Text,
    /// As `text`, with the colours and attributes of the characters as SGR sequences, and no other
    /// escape sequence. Each line begins and ends in the default style; the text may end within a line.
    Styled,
    /// UTF-8 in `text` with escape sequences and line ends as they came, each invalid part as
    /// U+FFFD; a character is never cut in two.
    Raw,
    /// The exact bytes, base64 (RFC 4648 §4, padded) in `data`.
    Base64,
    /// The exact bytes, written into the empty pipe whose write end comes beside the request
    /// (`SCM_RIGHTS`, unix(7)); the answer says in `written` how many they are. A page is not longer than
    /// the pipe. Only for `session.read`.
    Pipe,
}

impl Encoding {
    /// Whether it is plain text, styled or not.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Text | Self::Styled)
    }
}

/// Answer to `session.read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadResult {
    /// The output as text, as the encoding asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes as base64, as the encoding asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// How many bytes were written into the pipe, as the encoding asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The offset of the first byte returned. Later than asked for: what lies between is gone.
    pub start: Offset,
    /// What lies between, where the read began in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Where to go on. For plain text that is before a line that is not given yet.
    pub end: Offset,
    /// Whether the text ends with U+FFFD for a character that the program had begun 300 ms before. It
    /// is given again, whole, if the rest of it comes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_character: bool,
    /// Whether nothing more was there to be read at that moment.
    pub at_end: bool,
    /// Where the output ended at that moment, where more was there to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_end: Option<Offset>,
    /// Where the terminal is in its life. `exited` and `at_end` together: that was all.
    pub state: TerminalState,
    /// How it ended, once it has.
    pub exit_status: Option<ExitStatus>,
    /// When the output from `start` to `end` came, where that was requested: in order. Of output that is
    /// older than what notes the times, there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<OutputTime>>,
    /// With `times`, the sizes of the terminal: that in force at `start`, and each that was set from there
    /// to `end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<OutputSize>>,
}

/// The size of a terminal from an offset of its output on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSize {
    /// The first byte that may have been meant for it.
    pub at: Offset,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// When it was set, in milliseconds since the Unix epoch; absent: at the terminal's start, or it is older
    /// than what notes these times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

/// Output that came at one time, to 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputTime {
    /// The offset of its first byte.
    pub start: Offset,
    /// The offset after its last one.
    pub end: Offset,
    /// When it came, in milliseconds since the Unix epoch: the time of the terminal's start, and how much
    /// later it came by a clock that nobody sets.
    pub at_ms: i64,
    /// Whether it had come before: the server that read it was killed before it could note when, and the
    /// next one found it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found_late: bool,
}

/// Answer to `session.send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendResult {
    /// Bytes of this call that the terminal has taken.
    pub sent: u64,
    /// Bytes of this call still queued because the program is not reading; they stay queued.
    pub queued: u64,
    /// The end of the output when the call came: what the input causes comes after it.
    pub offset: Offset,
}

/// Answer to `session.wait` and `session.kill`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitResult {
    /// Whether it has exited; false: the timeout came first.
    pub exited: bool,
    /// How it ended, once it has.
    pub exit_status: Option<ExitStatus>,
    /// The limit that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cause: Option<EndCause>,
    /// The end of the output now.
    pub end: Offset,
}

/// Answer to `session.delete`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedTranscript {
    /// How many bytes of output were deleted.
    pub bytes: u64,
}
