//! `session.*`: terminals, as the native API sees them.
//!
//! Every `id` is a [`TerminalRef`](crate::TerminalRef): an id, a unique prefix of one, or a label.
//! Times are milliseconds; points in time are milliseconds since the Unix epoch.

mod answers;
mod confinement;
mod disk;
mod ending;
mod info;
mod inherited;
mod params;

use serde::{Deserialize, Serialize};

pub use answers::{
    DeletedTranscript, Encoding, OutputSize, OutputTime, ReadResult, SendResult, WaitResult,
};
pub use confinement::{Confinement, MissingWall, ScopeLimits};
pub use disk::{DiskLimit, Gap, GapCause, ReachedLimit};
pub use ending::{CloseCause, EndCause, ExitStatus};
pub use info::{Agent, Alias, ListScope, Owner, TerminalInfo, TerminalPage, TerminalState, Viewer};
pub use inherited::{
    Children, Inherited, MAX_INHERITED_FD, MAX_INHERITED_FDS, ResourceLimit, Stderr,
};
pub use params::{
    AttachTerminal, CloseTerminal, CreateTerminal, DeleteTranscript, DetachTerminal, HoldTerminal,
    KillTerminal, ListTerminals, ReadFrom, ReadTerminal, RenameTerminal, ResizeTerminal, SendInput,
    ShowTerminal, SubscribeEvents, TagTerminal, UnsubscribeEvents, WaitForExit,
};

/// Columns of a terminal that was created without a size.
pub const DEFAULT_COLS: u16 = 80;
/// Rows of a terminal that was created without a size.
pub const DEFAULT_ROWS: u16 = 24;
/// Fewest columns: a wide character must fit.
pub const MIN_COLS: u16 = 2;
/// Most columns or rows: beyond this a screen costs memory and shows nothing to anybody.
pub const MAX_DIMENSION: u16 = 4096;
/// The longest a wait may be asked to take, in milliseconds (one day).
pub const MAX_WAIT_MS: u64 = 86_400_000;
/// The longest idle timeout, in milliseconds (365 days): longer is never.
pub const MAX_IDLE_TIMEOUT_MS: u64 = 365 * 86_400_000;
/// Most bytes that one `session.read` returns.
pub const MAX_READ_BYTES: u64 = 1 << 20;
/// Most bytes that one `session.send` takes.
pub const MAX_SEND_BYTES: usize = 1 << 20;

/// Which front a terminal was asked for through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Front {
    /// ACP's `terminal/*`.
    Acp,
    /// An MCP client, through `termctl mcp`.
    Mcp,
    /// An agent's shell, which `termctl` stands in for.
    Shell,
    /// `termctl`, or a script on the socket.
    Cli,
    /// termd itself: retention, and terminals that it lost.
    Daemon,
}

/// What somebody who attaches does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachMode {
    /// Watches.
    Watch,
    /// Watches and types.
    #[default]
    Type,
}

impl AttachMode {
    /// The word for it in JSON and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Type => "type",
        }
    }
}

impl Front {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::Mcp => "mcp",
            Self::Shell => "shell",
            Self::Cli => "cli",
            Self::Daemon => "daemon",
        }
    }

    /// Whether its clients serve agents: what comes through it is an agent's.
    pub fn is_agents(self) -> bool {
        match self {
            Self::Acp | Self::Mcp | Self::Shell => true,
            Self::Cli | Self::Daemon => false,
        }
    }
}

/// What a terminal's command has for standard input, output and error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdio {
    /// A PTY for all three.
    #[default]
    Pty,
    /// No terminal: a pipe each to write to, so that standard output and error are kept apart.
    /// [`Stdin`] says what there is to read.
    Pipes,
}

/// What a command on pipes reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// `/dev/null`. Nothing can be sent to it.
    #[default]
    Null,
    /// A pipe, into which `session.send` writes.
    Pipe,
    /// The descriptor 0 of [`Inherited::fds`]. The daemon does not see what is read from it.
    Inherited,
}

/// One of the two that a command on pipes writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
