//! `command.*`: what was run in terminals, and where its output is.
//!
//! A terminal's own program is its command 0. Lines run in its shell are 1, 2, …, where the shell
//! tells of them (OSC 133 and 633): those that termd starts do. A command's output is the
//! terminal's from `start` to `end`; `command.read` reads it.

use jsonrpsee::core::RpcResult;
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::id::{Offset, TerminalId, TerminalRef};
use crate::terminal::{Encoding, ReadResult};

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
}

/// Which commands `command.list` lists; an absent field does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandFilter {
    /// Run in this terminal.
    pub terminal: Option<TerminalRef>,
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

/// `command.*`: what was run in terminals.
#[rpc(server, client, namespace = "command", namespace_separator = ".")]
pub trait Commands {
    /// Lists commands, newest first, `limit` a page (default 100, at the most 1,000).
    #[method(name = "list", param_kind = map)]
    async fn list(
        &self,
        filter: Option<CommandFilter>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<CommandPage>;

    /// All that is known of one command of a terminal. A negative number counts from the newest:
    /// -1 is the last one.
    #[method(name = "show", param_kind = map)]
    async fn show(&self, id: TerminalRef, number: i64) -> RpcResult<CommandInfo>;

    /// Reads what a command printed, as `session.read` does, and nothing before or after it: from
    /// `since` (an offset in its output), else from its start, at most `max_bytes` (4 to 1 MiB,
    /// default 65,536). `at_end` says that all of it, or all so far, was read.
    #[method(name = "read", param_kind = map)]
    async fn read(
        &self,
        id: TerminalRef,
        number: i64,
        since: Option<Offset>,
        max_bytes: Option<u64>,
        encoding: Option<Encoding>,
    ) -> RpcResult<ReadResult>;
}
