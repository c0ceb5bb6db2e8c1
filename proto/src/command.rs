//! `command.*`: what was run in terminals, and where its output is.
//!
//! A terminal's own program is its command 0. Lines run in its shell are 1, 2, …, where the shell
//! tells of them (OSC 133 and 633): those that termd starts do. A command's output is the
//! terminal's from `start` to `end`; `command.read` reads it.

use serde::{Deserialize, Serialize};

use crate::id::{Offset, TerminalId, TerminalRef};
use crate::tag::Tags;
use crate::terminal::Encoding;

/// Longest text that `command.list` searches for, in bytes.
pub const MAX_QUERY_BYTES: usize = 1024;

/// How a command came to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandSource {
    /// It is what the terminal was created with.
    Argv,
    /// It was a line in the terminal's shell.
    Shell,
}

impl CommandSource {
    /// The word for it in JSON and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Argv => "argv",
            Self::Shell => "shell",
        }
    }
}

/// All that is known of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandInfo {
    /// Where it was run.
    pub terminal: TerminalId,
    /// Its number in that terminal; 0 is the terminal's own.
    pub number: u64,
    /// How it came to be run.
    pub source: CommandSource,
    /// The command line; empty where it was hidden, or is not known.
    pub text: String,
    /// Of a terminal's own command: the line that an agent asked its shell to run, as
    /// [`TerminalInfo::agent_line`](crate::terminal::TerminalInfo::agent_line).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_line: Option<String>,
    /// The directory that it was started in, where that is known.
    pub cwd: Option<String>,
    /// When it was started.
    pub started_at_ms: i64,
    /// When it ended; absent while it runs.
    pub ended_at_ms: Option<i64>,
    /// Its exit code, where it is known. A shell gives 128+n for signal n.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as `SIGTERM`; known of command 0 alone.
    pub signal: Option<String>,
    /// The offset of its first byte of output.
    pub start: Offset,
    /// The offset after its last; absent: the end of the terminal's output.
    pub end: Option<Offset>,
    /// Of command 0, once it has ended: SHA-256 of all that the terminal has printed, in hexadecimal;
    /// absent where not all of it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_sha256: Option<String>,
    /// Whether it is what an imported recording says. Then it was not run here, if anywhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
}

/// Which commands `command.list` lists; an absent field does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandFilter {
    /// Run in this terminal.
    pub terminal: Option<TerminalRef>,
    /// Run in terminals that have one of these tags, closed ones too; none: in all.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Whose text holds each of these words, apart by white space, as a part of it; the case of
    /// letters does not matter. At most [`MAX_QUERY_BYTES`] long.
    pub query: Option<String>,
    /// That exited with this code.
    pub exit_code: Option<i32>,
    /// `true`: that a signal or an exit code other than 0 ended; `false`: that exited with 0.
    pub failed: Option<bool>,
    /// Started not before this time, in milliseconds since the epoch.
    pub since_ms: Option<i64>,
    /// Started before this time, in milliseconds since the epoch.
    pub until_ms: Option<i64>,
}

/// One page of `command.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPage {
    /// Newest first.
    pub commands: Vec<CommandInfo>,
    /// Give it back to get the next page; absent on the last one.
    pub next_cursor: Option<String>,
}

/// Params of `command.list`: a page of commands, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListCommands {
    /// Which commands; absent: all.
    pub filter: Option<CommandFilter>,
    /// From an earlier page.
    pub cursor: Option<String>,
    /// Commands a page, 1 to 1,000; absent: 100.
    pub limit: Option<u32>,
}

/// Params of `command.show`: all that is known of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowCommand {
    /// The terminal it was run in.
    pub id: TerminalRef,
    /// Its number there. A negative number counts from the newest: -1 is the last one.
    pub number: i64,
}

/// Params of `command.read`: reads what a command printed, as `session.read` does, and nothing before
/// or after it. `at_end` of the answer says that all of it, or all so far, was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCommand {
    /// The terminal it was run in.
    pub id: TerminalRef,
    /// Its number there, as for [`ShowCommand`].
    pub number: i64,
    /// An offset in its output to begin at; absent: its start.
    pub since: Option<Offset>,
    /// Most bytes of output to go through, 4 to 1 MiB; absent: 65,536.
    pub max_bytes: Option<u64>,
    /// How to write them; absent: as plain text.
    pub encoding: Option<Encoding>,
    /// Whether the answer says when the output came; absent: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<bool>,
}
