//! The params of `session.*`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    AttachMode, Children, Encoding, Inherited, ListScope, OutputStream, Stderr, Stdin, Stdio,
};
use crate::absent::null_as_default;
use crate::acp::Meta;
use crate::id::{Label, Offset, TerminalRef};
use crate::tag::Tags;

/// Params of `session.create`: starts a command in a new terminal.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateTerminal {
    /// The program, or a shell line where `args` is empty; absent: the user's shell.
    pub command: Option<String>,
    /// Its arguments.
    #[serde(deserialize_with = "null_as_default")]
    pub args: Vec<String>,
    /// Its `argv[0]`; absent: `command`.
    pub arg0: Option<String>,
    /// Variables set on top of everything else.
    #[serde(deserialize_with = "null_as_default")]
    pub env: BTreeMap<String, String>,
    /// The environment to start from; absent: the daemon's own.
    pub base_env: Option<BTreeMap<String, String>>,
    /// The directory to start in, absolute; absent: the connection's default, else home.
    pub cwd: Option<String>,
    /// A name for it.
    pub label: Option<Label>,
    /// Whether the open terminal that has the label is closed first.
    #[serde(deserialize_with = "null_as_default")]
    pub replace: bool,
    /// Words that group it with others, besides those of the connection.
    #[serde(deserialize_with = "null_as_default")]
    pub tags: Tags,
    /// Columns; absent: 80.
    pub cols: Option<u16>,
    /// Rows; absent: 24.
    pub rows: Option<u16>,
    /// Bytes of output that are kept at hand; absent: the configured default.
    pub output_byte_limit: Option<u64>,
    /// Whether the terminal is closed when the connection that created it ends.
    #[serde(deserialize_with = "null_as_default")]
    pub close_on_disconnect: bool,
    /// Whether it is the one command of a call, which does not count for the client's `max_running`.
    #[serde(deserialize_with = "null_as_default")]
    pub one_shot: bool,
    /// What the command has for standard input, output and error.
    #[serde(deserialize_with = "null_as_default")]
    pub stdio: Stdio,
    /// What a command on pipes reads.
    #[serde(deserialize_with = "null_as_default")]
    pub stdin: Stdin,
    /// Where a command on pipes writes its errors.
    #[serde(deserialize_with = "null_as_default")]
    pub stderr: Stderr,
    /// What it takes over from the process that requests it.
    pub inherited: Option<Inherited>,
    /// How long what it has started may live; absent: as long as the terminal is open. Only for the
    /// front [`Front::Shell`](super::Front::Shell), for which absent means what config.toml says.
    pub children: Option<Children>,
    /// Milliseconds without input, output, reads or viewers after which it is closed; absent: never.
    pub idle_timeout_ms: Option<u64>,
    /// Lines of scrollback that its screen keeps, 0 to 100,000; absent: 10,000.
    pub scrollback_lines: Option<u32>,
    /// Whether somebody has agreed to it already: the gate does not ask.
    #[serde(deserialize_with = "null_as_default")]
    pub confirmed: bool,
    /// Kept with the terminal, untouched.
    #[serde(rename = "_meta")]
    pub meta: Option<Meta>,
}

/// Params of `session.hold`: binds a terminal to this connection, with which it is closed. A client
/// says it again when it reconnects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldTerminal {
    /// The terminal.
    pub id: TerminalRef,
}

/// Params of `session.rename`: gives an open terminal another label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenameTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// The label, which no other open terminal has; absent: none.
    pub label: Option<Label>,
}

/// Params of `session.tag`: gives an open terminal tags, and takes some away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// The tags that it gets.
    #[serde(default, deserialize_with = "null_as_default")]
    pub add: Tags,
    /// The tags that it loses, also those that it gets by the same call.
    #[serde(default, deserialize_with = "null_as_default")]
    pub remove: Tags,
}

/// Params of `session.delete`: deletes what a closed terminal has printed, and the lines run in its
/// shell, for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteTranscript {
    /// The terminal.
    pub id: TerminalRef,
}

/// Params of `session.list`: a page of terminals, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListTerminals {
    /// Which terminals; absent: those that are not closed.
    pub scope: Option<ListScope>,
    /// Only those that have one of these tags; none: whatever they have.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Tags::is_empty"
    )]
    pub tags: Tags,
    /// From an earlier page.
    pub cursor: Option<String>,
    /// Terminals a page, 1 to 1,000; absent: 100.
    pub limit: Option<u32>,
}

/// Params of `session.show`: all that is known of one terminal, closed ones included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowTerminal {
    /// The terminal.
    pub id: TerminalRef,
}

/// Params of `session.read`: reads output. Nothing is skipped in silence: `start` of the answer says
/// where it begins. At most one of `since`, `tail_bytes` and `tail_lines` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// The offset to begin at; absent: the start of the output.
    pub since: Option<Offset>,
    /// Begin this many bytes before the end, or at the start of the output that is kept.
    pub tail_bytes: Option<u64>,
    /// Begin this many lines before the end, a last line without its newline counted.
    pub tail_lines: Option<u64>,
    /// Most bytes of output to go through, 4 (a whole character) to
    /// [`MAX_READ_BYTES`](super::MAX_READ_BYTES); absent: 65,536. The answer is not longer, but for
    /// plain text by some of a screen's rows.
    pub max_bytes: Option<u64>,
    /// Most lines to return.
    pub max_lines: Option<u64>,
    /// How to write them; absent: as plain text.
    pub encoding: Option<Encoding>,
    /// How long to wait for a first byte where there is none, in milliseconds; absent: not at all.
    pub wait_ms: Option<u64>,
    /// Read nothing from this offset on. Plain text is then all that was printed before it, a line
    /// that is not ended included.
    pub until: Option<Offset>,
    /// Only what was written to this stream, of a command on pipes; absent: both, as they came.
    pub stream: Option<OutputStream>,
    /// Whether the answer says when the output came; absent: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<bool>,
}

/// Where [`ReadTerminal`] begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// At this offset.
    Offset(Offset),
    /// This number of bytes before the end, or at the start of the output that is kept.
    TailBytes(u64),
    /// This number of lines before the end, a last line without its newline counted.
    TailLines(u64),
}

impl ReadTerminal {
    /// Plain text from there on, as far as the defaults go.
    pub fn new(id: TerminalRef, from: ReadFrom) -> Self {
        let (since, tail_bytes, tail_lines) = match from {
            ReadFrom::Offset(offset) => (Some(offset), None, None),
            ReadFrom::TailBytes(bytes) => (None, Some(bytes), None),
            ReadFrom::TailLines(lines) => (None, None, Some(lines)),
        };
        Self {
            id,
            since,
            tail_bytes,
            tail_lines,
            max_bytes: None,
            max_lines: None,
            encoding: None,
            wait_ms: None,
            until: None,
            stream: None,
            times: None,
        }
    }

    /// Where to begin; none where more than one place is given.
    pub fn from(&self) -> Option<ReadFrom> {
        match (self.since, self.tail_bytes, self.tail_lines) {
            (since, None, None) => Some(ReadFrom::Offset(since.unwrap_or_default())),
            (None, Some(bytes), None) => Some(ReadFrom::TailBytes(bytes)),
            (None, None, Some(lines)) => Some(ReadFrom::TailLines(lines)),
            _ => None,
        }
    }
}

/// Params of `session.send`: types exact bytes, and answers when the terminal has taken all of them,
/// or after `timeout_ms` with what is still queued. What completes a line is judged by the gate
/// first. Exactly one of `text` and `data` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendInput {
    /// The terminal.
    pub id: TerminalRef,
    /// The bytes as text.
    pub text: Option<String>,
    /// The bytes as base64.
    pub data: Option<String>,
    /// Whether input ends behind these bytes, which may then be left out. Only for a command that reads
    /// a pipe; absent: no.
    pub eof: Option<bool>,
    /// How many bytes were sent before these, where one sender counts: what the pipe was given already
    /// is not given again. Only for a command that reads a pipe; absent: the bytes are new.
    pub input_offset: Option<u64>,
    /// Whether somebody has agreed to it already; absent: no.
    pub confirmed: Option<bool>,
    /// In milliseconds; absent: 5,000.
    pub timeout_ms: Option<u64>,
}

/// Params of `session.resize`: sets the size and tells the program by SIGWINCH. On an exited terminal:
/// no error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResizeTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// Params of `session.kill`. Without `signal`: ends the command and all that it started (SIGTERM,
/// grace, SIGKILL), and answers when it has ended. With one: sends it to all of them, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// A signal, such as `SIGINT`.
    pub signal: Option<String>,
}

/// Params of `session.attach`: the connection watches a terminal, or types into it, from now until
/// `session.detach` or its end: for the audit, and for the terminal's size. Again: another size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// Absent: types.
    pub mode: Option<AttachMode>,
    /// The columns of its tty. Of all that gave a size and type, the terminal follows the one that
    /// typed or gave a size last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// The rows of its tty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
}

/// Params of `session.detach`: the connection watches the terminal no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachTerminal {
    /// The terminal.
    pub id: TerminalRef,
}

/// Params of `session.wait`: waits for the exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitForExit {
    /// The terminal.
    pub id: TerminalRef,
    /// The longest wait, in milliseconds; absent: 30,000.
    pub timeout_ms: Option<u64>,
}

/// Params of `session.close`: ends the terminal (SIGHUP, grace, SIGKILL) and takes it off the list;
/// record and transcript stay. Closing a closed one is no error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseTerminal {
    /// The terminal.
    pub id: TerminalRef,
    /// First type the tty's end-of-file character where its program reads lines, and wait this
    /// number of milliseconds, at most 10,000, for it to exit by itself.
    pub eof_ms: Option<u64>,
}

/// Params of `session.subscribe`: events of one terminal, or of all, from now on, as
/// [`EVENT_METHOD`](crate::event::EVENT_METHOD). The answer is the subscription's number. A
/// subscriber that reads too slowly gets [`TerminalEvent::Lagged`](crate::event::TerminalEvent) in
/// place of what it missed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeEvents {
    /// The terminal; absent: all.
    pub id: Option<TerminalRef>,
}

/// Params of `session.unsubscribe`. The answer says whether there was such a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsubscribeEvents {
    /// What `session.subscribe` answered.
    pub subscription: u64,
}
