//! What an error says to a program: a JSON-RPC code, and a stable word in `data.kind`.
//!
//! The message is for a person; `data` may carry more keys beside `kind` (`field`, `step`,
//! `errno`), each documented with the kind.

use serde::{Deserialize, Serialize};

/// JSON-RPC error codes in use on the socket.
pub mod code {
    /// The line is not JSON (JSON-RPC 2.0, 5.1).
    pub const PARSE_ERROR: i32 = -32700;
    /// JSON, but no request (JSON-RPC 2.0, 5.1).
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method (JSON-RPC 2.0, 5.1).
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// A param is missing, of the wrong type, or out of bounds (JSON-RPC 2.0, 5.1).
    pub const INVALID_PARAMS: i32 = -32602;
    /// Our fault; the cause is in the log (JSON-RPC 2.0, 5.1).
    pub const INTERNAL: i32 = -32603;
    /// No such terminal for this asker (ACP v1).
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// The call was cancelled by `$/cancel_request` (ACP v1).
    pub const CANCELLED: i32 = -32800;
    /// The command could not be started.
    pub const SPAWN_FAILED: i32 = -32003;
    /// The terminal is not in a state that allows this.
    pub const WRONG_STATE: i32 = -32004;
    /// The audit record could not be written, so nothing was run.
    pub const AUDIT_UNAVAILABLE: i32 = -32005;
    /// A reference fits more than one terminal, or a label is taken.
    pub const AMBIGUOUS: i32 = -32006;
    /// A named limit was reached; trying later may work.
    pub const OVERLOADED: i32 = -32009;
    /// The daemon is stopping or being replaced; the same call may be sent to the next one.
    pub const UNAVAILABLE: i32 = -32010;
    /// The gate asks first: the same call with `confirmed` runs it.
    pub const CONFIRMATION_REQUIRED: i32 = -32011;
    /// A rule forbids it, or the person who was asked has rejected it.
    pub const DENIED: i32 = -32012;
    /// The tty says that the input would not arrive as meant; nothing was typed.
    pub const INPUT_REFUSED: i32 = -32013;
    /// A file could not be read or written.
    pub const FILE_FAILED: i32 = -32014;
    /// An agent's shell is to run its command where it is, and not in the daemon.
    pub const IN_PLACE: i32 = -32016;
    /// systemd started the daemon for this client, and it cannot serve.
    pub const START_FAILED: i32 = -32015;
}

/// The stable word in an error's `data.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The line is not JSON.
    ParseError,
    /// JSON, but no request.
    InvalidRequest,
    /// A line over the limit; `data.limit` is the limit in bytes.
    LineTooLong,
    /// JSON-RPC batches are not served.
    BatchUnsupported,
    /// No such method.
    MethodNotFound,
    /// A bad param; `data.field` names it.
    InvalidParams,
    /// No such terminal, or not this asker's.
    TerminalNotFound,
    /// The terminal has no command of this number; `data.terminal`, `data.number`.
    CommandNotFound,
    /// A prefix of several ids; `data.matches` lists some.
    TerminalAmbiguous,
    /// Another open terminal has this label.
    LabelTaken,
    /// The command could not be started; `data.command`, `data.step`, `data.errno`.
    SpawnFailed,
    /// The command cannot be held to what its profile asks; nothing was started.
    Unconfinable,
    /// The terminal has exited: nothing can be sent to it.
    TerminalExited,
    /// The terminal is open, and has to be closed first.
    TerminalOpen,
    /// Processes of the terminal outlived SIGKILL; `data.left` counts them.
    ProcessesLeft,
    /// More input is queued than the terminal takes; `data.limit` in bytes.
    InputQueueFull,
    /// The terminal has no input: its command runs on pipes.
    NoInput,
    /// The pipe that the command reads was closed, by its sender or by the command.
    InputEnded,
    /// The gate asks first; `data.verdict`, `data.reason`, `data.command`, `data.span`, and
    /// `data.approval`, the question that somebody may answer. `data.needs_person`: only a person can
    /// agree, and `confirmed` does not count.
    ConfirmationRequired,
    /// A rule of config.toml forbids it; `data.rule`, `data.reason`.
    Denied,
    /// The person who was asked said no; `data.command`, `data.reason`, and `data.approval` where the
    /// daemon knows the question.
    Rejected,
    /// No such question, or one that is long over.
    ApprovalNotFound,
    /// Somebody else has answered it; `data.state`.
    ApprovalAnswered,
    /// Who asks for it cannot answer it: an agent's process, a front whose person was not asked, or the
    /// process that has asked.
    ApproverRefused,
    /// An agent may not use a terminal that it has not opened (`policy.foreign_terminals`).
    ForeignTerminal,
    /// It cannot be approved for always: approved.toml cannot be written. The question waits on.
    AlwaysRefused,
    /// A line is longer than a canonical tty takes; `data.limit` in bytes.
    CanonicalLimit,
    /// A file could not be read or written; `data.path`, `data.detail`, and `data.problem`: `system` with
    /// `data.errno`, `directory` with `data.errno`, `no_name`, `no_regular_file`, `link`, `excluded`,
    /// `own_of_sandbox`, or `unfinished`.
    FileFailed,
    /// A secret was to be typed, and the terminal does not wait for one.
    NoSecretAwaited,
    /// A line was to be typed at a shell's prompt, and the shell is not there; `data.line_waits`: it is,
    /// and has a line that was typed before; `data.answers_stand`: it is, and has the terminal's answers to
    /// queries there, which a command did not read.
    NotAtPrompt,
    /// An agent's shell is to run its command where it is: it is confined otherwise than the daemon, or
    /// is in a terminal of the daemon's. `data.reason` says what was found.
    InPlace,
    /// The audit record could not be written.
    AuditUnavailable,
    /// The disk has less free space than `store.free_floor`: nothing new is run. `data.limit` is
    /// `free_floor`, `data.floor` and `data.free` are in bytes.
    DiskFloor,
    /// The disk takes no more output: nothing new is run. `data.free` is in bytes.
    DiskFull,
    /// The database could not be read.
    StoreUnavailable,
    /// Too many terminals, connections, calls or bytes; `data.limit` names the limit, `data.max` is
    /// its value.
    Overloaded,
    /// Cancelled by the caller.
    Cancelled,
    /// The daemon is stopping or being replaced.
    Unavailable,
    /// The daemon cannot start. Nothing was done.
    StartFailed,
    /// Our fault.
    Internal,
}
