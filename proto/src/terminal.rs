//! `session.*`: terminals, as the native API sees them.
//!
//! Every `id` is a [`TerminalRef`]: an id, a unique prefix of one, or a label. Times are
//! milliseconds; points in time are milliseconds since the Unix epoch.

use std::collections::BTreeMap;

use jsonrpsee::core::{RpcResult, SubscriptionResult};
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::acp::Meta;
use crate::event::TerminalEvent;
use crate::id::{Label, Offset, TerminalId, TerminalRef};

/// Columns of a terminal that nobody gave a size.
pub const DEFAULT_COLS: u16 = 80;
/// Rows of a terminal that nobody gave a size.
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
            Self::Cli => "cli",
            Self::Daemon => "daemon",
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
    /// No terminal: `/dev/null` to read, and a pipe each to write to, so that standard output and
    /// error are told apart. Nothing can be typed into it.
    Pipes,
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

/// Why a terminal was closed, where nobody asked for it by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseCause {
    /// Nobody typed, read or attached, and nothing was printed, for its idle timeout.
    Idle,
    /// The connection that it was tied to ended.
    Disconnect,
}

impl CloseCause {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Disconnect => "disconnect",
        }
    }
}

/// Which limit ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// It ran for as long as it may.
    Timeout,
    /// It printed as much as it may.
    OutputBytes,
    /// It took more memory than it may, or than there was, and the kernel killed it.
    OutOfMemory,
    /// A process of it used as much processor time as one may (`RLIMIT_CPU`).
    CpuTime,
    /// A process of it wrote a file as large as one may (`RLIMIT_FSIZE`).
    FileBytes,
    /// Nobody typed, read or attached, and nothing was printed, for its idle timeout.
    IdleTimeout,
}

impl EndCause {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Timeout,
        Self::OutputBytes,
        Self::OutOfMemory,
        Self::CpuTime,
        Self::FileBytes,
        Self::IdleTimeout,
    ];

    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::OutputBytes => "output_bytes",
            Self::OutOfMemory => "out_of_memory",
            Self::CpuTime => "cpu_time",
            Self::FileBytes => "file_bytes",
            Self::IdleTimeout => "idle_timeout",
        }
    }
}

/// A limit of `[store]` in config.toml: of what is kept on the disk. None of them ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskLimit {
    /// What is kept of one terminal's output.
    TerminalQuota,
    /// What is kept of all terminals' output together.
    TotalQuota,
    /// The free space of the file system below which no output is kept.
    FreeFloor,
}

impl DiskLimit {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TerminalQuota => "terminal_quota",
            Self::TotalQuota => "total_quota",
            Self::FreeFloor => "free_floor",
        }
    }
}

/// Any limit that a terminal may reach, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReachedLimit {
    /// One of its profile, for which its command is ended.
    Ends(EndCause),
    /// One of the disk, for which some of its output is not kept.
    Disk(DiskLimit),
}

/// Why a part of a terminal's output is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapCause {
    /// The terminal's own quota: its head and its tail are kept.
    TerminalQuota,
    /// The quota of all: the terminal's own was made smaller for it.
    TotalQuota,
    /// The disk had less free space than its floor.
    FreeFloor,
    /// It was past retention.
    Retention,
    /// Nobody knows: the database did not have it when a server began.
    Lost,
}

impl GapCause {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TerminalQuota => "terminal_quota",
            Self::TotalQuota => "total_quota",
            Self::FreeFloor => "free_floor",
            Self::Retention => "retention",
            Self::Lost => "lost",
        }
    }
}

impl From<DiskLimit> for GapCause {
    fn from(limit: DiskLimit) -> Self {
        match limit {
            DiskLimit::TerminalQuota => Self::TerminalQuota,
            DiskLimit::TotalQuota => Self::TotalQuota,
            DiskLimit::FreeFloor => Self::FreeFloor,
        }
    }
}

/// Output that is not kept, between output that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The first byte that is not kept.
    pub start: Offset,
    /// The offset after the last.
    pub end: Offset,
    /// Why.
    pub cause: GapCause,
}

/// What a command is held to, and by which profiles of config.toml.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confinement {
    /// The profiles: of several, the strictest of each thing.
    pub profiles: Vec<String>,
    /// It is ended after so many milliseconds; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// It is ended once it has printed more than this; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// So many bytes of its output are kept, the first and the last; absent: as many as of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_quota: Option<u64>,
    /// Each of its processes may use so many milliseconds of processor time; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_time_ms: Option<u64>,
    /// Each of its processes may grow a file to so many bytes; absent: to any size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// The kinds of its sandboxes: `read-only`, `workspace`, `no-network`.
    pub sandbox: Vec<String>,
    /// What all of it together is held to by a scope of its own; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeLimits>,
    /// What holds it: `cpu_seconds`, `landlock_writes`, `seccomp`, … in a fixed order.
    pub held: Vec<String>,
    /// What was asked for and does not hold.
    pub missing: Vec<MissingWall>,
}

/// What a command and all that it starts are held to together, by a transient scope of the user's
/// systemd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeLimits {
    /// Memory in bytes, without swap (`MemoryMax=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processor time in percent of one processor (`CPUQuota=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u64>,
    /// Processes and threads (`TasksMax=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// Its share of a busy disk, 1 to 10,000; others have 100 (`IOWeight=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_weight: Option<u64>,
}

/// What a command is not held to although it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingWall {
    /// Its name.
    pub wall: String,
    /// What the kernel, or systemd, said.
    pub reason: String,
}

/// Who asked for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Through which front.
    pub front: Front,
    /// The peer's user id (`SO_PEERCRED`).
    pub uid: u32,
    /// The peer's process id (`SO_PEERCRED`).
    pub pid: i32,
    /// The peer's executable, where it could be read.
    pub exe: Option<String>,
    /// The ACP `sessionId`.
    pub session: Option<String>,
    /// The client's name, as it introduced itself.
    pub client: Option<String>,
}

/// Where a terminal is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalState {
    /// Its command runs, or its output is not all read yet.
    Running,
    /// Its command was reaped and its output drained.
    Exited,
    /// It was closed or released: only its record is left.
    Closed,
}

impl TerminalState {
    /// The word for it in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Closed => "closed",
        }
    }
}

/// How a command ended: exactly one of the two is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitStatus {
    /// The exit code, 0 to 255.
    pub exit_code: Option<u32>,
    /// The signal's name, such as `SIGTERM`.
    pub signal: Option<String>,
}

/// All that is known of one terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TerminalInfo {
    /// Its id.
    pub id: TerminalId,
    /// Its label, if it was given one.
    pub label: Option<Label>,
    /// The program and its arguments, as run.
    pub argv: Vec<String>,
    /// The directory it was started in.
    pub cwd: String,
    /// The command's process id; of no use once it has exited.
    pub pid: i32,
    /// Where it is in its life.
    pub state: TerminalState,
    /// How it ended, once it has.
    pub exit_status: Option<ExitStatus>,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Who asked for it.
    pub owner: Owner,
    /// When it was started.
    pub created_at_ms: i64,
    /// When its exit was known and its output drained.
    pub exited_at_ms: Option<i64>,
    /// Output before this offset is gone (retention).
    pub start: Offset,
    /// The offset after the last byte of output so far.
    pub end: Offset,
    /// Output after `start` that is not kept, in order. Of terminals that have ended only
    /// `session.show` tells it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How many bytes of output `terminal/output` keeps.
    pub output_byte_limit: u64,
    /// What its command has for standard input, output and error.
    #[serde(default)]
    pub stdio: Stdio,
    /// When something was last printed, typed, read or attached to.
    #[serde(default)]
    pub last_activity_ms: i64,
    /// It is closed after so many milliseconds without any of that; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Why it was closed, where nobody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_cause: Option<CloseCause>,
    /// The limit that ended its command, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cause: Option<EndCause>,
    /// What its command is held to; absent: to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// The `_meta` that it was created with.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

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

/// One page of `session.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TerminalPage {
    /// Oldest first.
    pub terminals: Vec<TerminalInfo>,
    /// Give it back to get the next page; absent on the last one.
    pub next_cursor: Option<String>,
}

/// Which terminals `session.list` lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListScope {
    /// Those that are not closed.
    #[default]
    Open,
    /// Those whose command runs.
    Running,
    /// All that the database knows, closed ones too.
    All,
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
    /// Most bytes of output to go through, 4 (a whole character) to [`MAX_READ_BYTES`]; absent:
    /// 65,536. What is returned is not longer, but for plain text by some of a screen's rows.
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

/// `session.*`: terminals for `termctl` and for every front of our own.
#[rpc(server, client, namespace = "session", namespace_separator = ".")]
pub trait Sessions {
    /// Starts a command in a new terminal; [`CreateTerminal`] says what each param means.
    #[method(name = "create", param_kind = map, with_extensions)]
    async fn create(
        &self,
        command: Option<String>,
        args: Option<Vec<String>>,
        env: Option<BTreeMap<String, String>>,
        base_env: Option<BTreeMap<String, String>>,
        cwd: Option<String>,
        label: Option<Label>,
        cols: Option<u16>,
        rows: Option<u16>,
        output_byte_limit: Option<u64>,
        close_on_disconnect: Option<bool>,
        stdio: Option<Stdio>,
        idle_timeout_ms: Option<u64>,
        scrollback_lines: Option<u32>,
        confirmed: Option<bool>,
        #[argument(rename = "_meta")] meta: Option<Meta>,
    ) -> RpcResult<TerminalInfo>;

    /// Ties a terminal to this connection: it is closed when the connection ends.
    /// `close_on_disconnect` on create does the same; a client says it again when it reconnects.
    #[method(name = "hold", param_kind = map, with_extensions)]
    async fn hold(&self, id: TerminalRef) -> RpcResult<()>;

    /// Lists terminals, oldest first, `limit` a page (default 100, at the most 1,000).
    #[method(name = "list", param_kind = map)]
    async fn list(
        &self,
        scope: Option<ListScope>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<TerminalPage>;

    /// All that is known of one terminal, closed ones included.
    #[method(name = "show", param_kind = map)]
    async fn show(&self, id: TerminalRef) -> RpcResult<TerminalInfo>;

    /// Reads output from an offset; [`ReadOptions`] says what each param means. It never skips in
    /// silence: `start` says where the answer begins.
    #[method(name = "read", param_kind = map)]
    async fn read(
        &self,
        id: TerminalRef,
        since: Option<Offset>,
        tail_bytes: Option<u64>,
        tail_lines: Option<u64>,
        max_bytes: Option<u64>,
        max_lines: Option<u64>,
        encoding: Option<Encoding>,
        wait_ms: Option<u64>,
        until: Option<Offset>,
        stream: Option<OutputStream>,
    ) -> RpcResult<ReadResult>;

    /// Types into a terminal: `text`, or `data` (base64), not both. Answers when the terminal has
    /// taken all of it, or after `timeout_ms` (default 5,000) with what is still queued. What
    /// completes a line is judged by the gate first: `confirmed` says that somebody has agreed to it.
    #[method(name = "send", param_kind = map, with_extensions)]
    async fn send(
        &self,
        id: TerminalRef,
        text: Option<String>,
        data: Option<String>,
        confirmed: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> RpcResult<SendResult>;

    /// Sets the size and tells the program by SIGWINCH. On an exited terminal: no error.
    #[method(name = "resize", param_kind = map)]
    async fn resize(&self, id: TerminalRef, cols: u16, rows: u16) -> RpcResult<()>;

    /// Without `signal`: ends the command and all that it started (SIGTERM, grace, SIGKILL), and
    /// answers when it has ended. With one, such as `SIGINT`: sends it to all of them, once.
    #[method(name = "kill", param_kind = map, with_extensions)]
    async fn kill(&self, id: TerminalRef, signal: Option<String>) -> RpcResult<WaitResult>;

    /// Says that whoever is connected watches a terminal, or types into it, from now until
    /// `session.detach` or the connection's end: for the audit. Again: nothing new.
    #[method(name = "attach", param_kind = map, with_extensions)]
    async fn attach(&self, id: TerminalRef, mode: Option<AttachMode>) -> RpcResult<()>;

    /// Says that it is no more so.
    #[method(name = "detach", param_kind = map, with_extensions)]
    async fn detach(&self, id: TerminalRef) -> RpcResult<()>;

    /// Waits for the exit, `timeout_ms` at the longest (default 30,000).
    #[method(name = "wait", param_kind = map)]
    async fn wait(&self, id: TerminalRef, timeout_ms: Option<u64>) -> RpcResult<WaitResult>;

    /// Ends the terminal (SIGHUP, grace, SIGKILL) and takes it off the list; record and
    /// transcript stay. Closing a closed one is no error. `eof_ms`: first type the tty's end-of-file
    /// character where its program reads lines, and wait so many milliseconds for it to go by itself.
    #[method(name = "close", param_kind = map, with_extensions)]
    async fn close(&self, id: TerminalRef, eof_ms: Option<u64>) -> RpcResult<WaitResult>;

    /// Events of one terminal, or of all, from now on. A subscriber that reads too slowly gets
    /// [`TerminalEvent::Lagged`] in place of what it missed.
    #[subscription(name = "subscribe" => "event", unsubscribe = "unsubscribe", item = TerminalEvent, param_kind = map)]
    async fn subscribe_events(&self, id: Option<TerminalRef>) -> SubscriptionResult;
}

/// `session.create` with its params in one value.
pub async fn create_terminal<C: SessionsClient + Sync>(
    client: &C,
    request: CreateTerminal,
) -> Result<TerminalInfo, jsonrpsee::core::ClientError> {
    client
        .create(
            request.command,
            Some(request.args),
            Some(request.env),
            request.base_env,
            request.cwd,
            request.label,
            request.cols,
            request.rows,
            request.output_byte_limit,
            Some(request.close_on_disconnect),
            Some(request.stdio),
            request.idle_timeout_ms,
            request.scrollback_lines,
            Some(request.confirmed),
            request.meta,
        )
        .await
}

/// `session.read` with its params in one value.
pub async fn read_terminal<C: SessionsClient + Sync>(
    client: &C,
    id: TerminalRef,
    options: ReadOptions,
) -> Result<ReadResult, jsonrpsee::core::ClientError> {
    let (since, tail_bytes, tail_lines) = match options.from {
        ReadFrom::Offset(offset) => (Some(offset), None, None),
        ReadFrom::TailBytes(bytes) => (None, Some(bytes), None),
        ReadFrom::TailLines(lines) => (None, None, Some(lines)),
    };
    let encoding = Some(options.encoding);
    client
        .read(
            id,
            since,
            tail_bytes,
            tail_lines,
            options.max_bytes,
            options.max_lines,
            encoding,
            options.wait_ms,
            options.until,
            options.stream,
        )
        .await
}
