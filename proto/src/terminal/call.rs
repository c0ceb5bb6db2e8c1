//! What the calls of `session.*` take and give, as one value each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EndCause, ExitStatus, Gap, OutputStream, Stdio, TerminalState};
use crate::acp::Meta;
use crate::id::{Label, Offset};

/// What to start, and how: the params of `session.create` as one value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CreateTerminal {
    /// The program, or a shell line where `args` is empty; absent: the user's shell.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set on top of everything else.
    pub env: BTreeMap<String, String>,
    /// The environment to start from; absent: the daemon's own.
    pub base_env: Option<BTreeMap<String, String>>,
    /// The directory to start in, absolute; absent: the connection's default, else home.
    pub cwd: Option<String>,
    /// A name for it.
    pub label: Option<Label>,
    /// Columns; absent: 80.
    pub cols: Option<u16>,
    /// Rows; absent: 24.
    pub rows: Option<u16>,
    /// How many bytes of output are kept at hand; absent: the configured default.
    pub output_byte_limit: Option<u64>,
    /// Whether the terminal is closed when the connection that created it ends.
    pub close_on_disconnect: bool,
    /// What the command has for standard input, output and error.
    pub stdio: Stdio,
    /// Close it when nobody typed, read or attached, and nothing was printed, for so many
    /// milliseconds; absent: never.
    pub idle_timeout_ms: Option<u64>,
    /// Lines of scrollback that its screen keeps, 0 to 100,000; absent: 10,000.
    pub scrollback_lines: Option<u32>,
    /// Somebody has agreed to it: the gate does not ask.
    pub confirmed: bool,
    /// Kept with the terminal, untouched.
    pub meta: Option<Meta>,
}

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
    /// UTF-8 in `text` with escape sequences and line ends as they came, each invalid part as
    /// U+FFFD; a character is never cut in two.
    Raw,
    /// The exact bytes, base64 (RFC 4648 §4, padded) in `data`.
    Base64,
}

/// Where `session.read` starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadFrom {
    /// At this offset.
    Offset(Offset),
    /// This many bytes before the end, or at the start of retained output.
    TailBytes(u64),
    /// This many lines before the end, a last line without its newline counted.
    TailLines(u64),
}

impl Default for ReadFrom {
    fn default() -> Self {
        Self::Offset(Offset::ZERO)
    }
}

/// The params of `session.read` beside the id, as one value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOptions {
    /// Where to start.
    pub from: ReadFrom,
    /// Read nothing from this offset on. Plain text is then all that was printed before it, a
    /// line that is not ended included.
    pub until: Option<Offset>,
    /// Only what was written to this one; absent: both, as they came. Only of a command on pipes.
    pub stream: Option<OutputStream>,
    /// Most bytes of output to go through, 4 (a whole character) to
    /// [`MAX_READ_BYTES`](super::MAX_READ_BYTES); absent: 65,536. What is returned is not longer,
    /// but for plain text by some of a screen's rows.
    pub max_bytes: Option<u64>,
    /// Most lines to return.
    pub max_lines: Option<u64>,
    /// How to write them.
    pub encoding: Encoding,
    /// How long to wait for a first byte where there is none, in milliseconds; absent: not at all.
    pub wait_ms: Option<u64>,
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
    /// The offset of the first byte returned. Later than asked for: what lies between is gone.
    pub start: Offset,
    /// What lies between, where the read began in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Where to go on. For plain text that is before a line that is not given yet.
    pub end: Offset,
    /// Whether nothing more was there to be read at that moment.
    pub at_end: bool,
    /// Where the terminal is in its life. `exited` and `at_end` together: that was all.
    pub state: TerminalState,
    /// How it ended, once it has.
    pub exit_status: Option<ExitStatus>,
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
