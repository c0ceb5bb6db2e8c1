//! The messages between keeper and server. Their encoding is [`super::wire`].

use std::fmt;
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::{Inherited, Stderr, Stdin, Stdio};

use super::confinement::{Confinement, Enforced};
pub use super::exec_gate::{ExecRelease, PausePoint};
use super::file_operation::FileOperation;
pub use super::level::{
    LEVEL, LEVEL_AUDIT_HEAD, LEVEL_BUBBLEWRAP, LEVEL_CONFINEMENT, LEVEL_EXEC_GATE, LEVEL_FILES,
    LEVEL_INHERITED, LEVEL_ORPHANS, LEVEL_PAUSE_BEFORE_EXEC, LEVEL_PIPES, LEVEL_PRIVATE_PROCESSES,
    LEVEL_STDIN, LEVEL_WRITABLE_IDS,
};
pub use super::spawn_step::{SpawnFailure, SpawnStep};
pub use super::terminal_fds::{StdinFds, TerminalFds};

/// The version in both sides' hello. It changes only when an old side would misunderstand a new
/// one; new fields at a message's end and new kinds leave it as it is.
pub const PROTOCOL_VERSION: u32 = 1;

/// The longest text that says the head of the audit chain, in bytes.
pub const MAX_AUDIT_HEAD_BYTES: usize = 128;

/// The most processes in an answer. More are counted.
pub const MAX_LISTED_PROCESSES: usize = 64;

/// The most terminals of a keeper: 4,096 that run and as many that have ended and are not closed.
/// A running one has four file descriptors, or six, so all stay well below the usual hard limit of half a
/// million; an ended one costs the memory of its notes.
pub const MAX_TERMINALS: usize = 8192;

/// The longest notes on one terminal, in bytes. The keeper has them in memory until the terminal
/// is closed.
pub const MAX_NOTES_BYTES: usize = 64 * 1024;

/// The environment variable that marks every child with its terminal's id.
pub const TERMINAL_VARIABLE: &str = "TERMD_TERMINAL";

/// A process, not to be mistaken for a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The process id.
    pub pid: i32,
    /// Its start time, in clock ticks since boot (`proc_pid_stat(5)`, field 22).
    pub start_time: u64,
}

/// A process below the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProcess {
    /// The process.
    pub process: ProcessId,
    /// Its name (`proc_pid_comm(5)`), at most 15 bytes, as the process chose it.
    pub name: Vec<u8>,
}

/// Processes below the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessList {
    /// How many there are.
    pub count: u32,
    /// The first of them by pid, at most [`MAX_LISTED_PROCESSES`].
    pub listed: Vec<ListedProcess>,
}

/// How a command ended, from waitid(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStatus {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
    /// SIGKILL at the hard limit of its processor time: it had survived SIGXCPU.
    CpuTimeUp,
}

impl fmt::Display for WaitStatus {
    /// What a process did, for a log: "exited with 1".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Signaled(signal) => write!(f, "was ended by signal {signal}"),
            Self::CpuTimeUp => f.write_str("was ended at its limit of processor time"),
        }
    }
}

/// A command to start. The server has looked the program up; the keeper searches no `PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnRequest {
    /// The new terminal's id; the keeper puts it into `TERMD_TERMINAL`.
    pub id: TerminalId,
    /// Path of the program, absolute or relative to `cwd`.
    pub program: Vec<u8>,
    /// The arguments, `argv[0]` first.
    pub argv: Vec<Vec<u8>>,
    /// The whole environment, `NAME=value` each, `TERMD_TERMINAL` aside.
    pub env: Vec<Vec<u8>>,
    /// The directory to change to.
    pub cwd: Vec<u8>,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// The server's notes on it, given back with the inventory.
    pub notes: Vec<u8>,
    /// What it has for standard input, output and error; pipes only of a keeper at
    /// [`LEVEL_PIPES`].
    pub stdio: Stdio,
    /// What it reads on pipes; a pipe only of a keeper at [`LEVEL_STDIN`].
    pub stdin: Stdin,
    /// Where it writes its errors on pipes; more than the default only of a keeper at
    /// [`LEVEL_INHERITED`].
    pub stderr: Stderr,
    /// What it takes over from the process that requests it. The descriptors are sent beside the
    /// message. More than the default only of a keeper at [`LEVEL_INHERITED`].
    pub inherited: Inherited,
    /// What it is held to; more than the default only of a keeper at [`LEVEL_CONFINEMENT`].
    pub confinement: Confinement,
    /// Where it waits to be released, if it does. Needs a keeper at [`LEVEL_EXEC_GATE`] or
    /// [`LEVEL_PAUSE_BEFORE_EXEC`].
    pub pause: Option<PausePoint>,
    /// What the child does in place of executing the program, which is then not looked at. Needs
    /// pipes, and a keeper at [`LEVEL_FILES`].
    pub file: Option<FileOperation>,
}

impl SpawnRequest {
    /// A program without arguments in `/`, on 80 columns and 24 rows, with an empty environment
    /// and no confinement.
    pub fn bare(id: TerminalId, program: &str, stdio: Stdio) -> Self {
        Self {
            id,
            program: program.into(),
            argv: vec![program.into()],
            env: Vec::new(),
            cwd: b"/".to_vec(),
            cols: 80,
            rows: 24,
            notes: Vec::new(),
            stdio,
            stdin: Stdin::Null,
            stderr: Stderr::Pipe,
            inherited: Inherited::default(),
            confinement: Confinement::default(),
            pause: None,
            file: None,
        }
    }
}

/// A started command.
#[derive(Debug)]
pub struct Spawned {
    /// Its process, also its session and first process group.
    pub process: ProcessId,
    /// What it is read and written by.
    pub fds: TerminalFds,
    /// What it is held to.
    pub enforced: Enforced,
}

/// One terminal of the inventory, as a new server finds it.
#[derive(Debug)]
pub struct InventoryTerminal {
    /// Its id.
    pub id: TerminalId,
    /// Its root process, perhaps reaped already.
    pub process: ProcessId,
    /// How it ended, if it was reaped.
    pub status: Option<WaitStatus>,
    /// The notes that a server left.
    pub notes: Vec<u8>,
    /// What it is read and written by; gone once the server has released it.
    pub fds: Option<TerminalFds>,
}

/// What happens at the keeper without a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperEvent {
    /// A terminal's root process was reaped.
    Exited {
        /// The terminal.
        id: TerminalId,
        /// How it ended.
        status: WaitStatus,
    },
    /// bubblewrap could not build a sandbox; the start is refused right after. For the log.
    BuilderFailed {
        /// The terminal.
        id: TerminalId,
        /// What bubblewrap wrote to its standard error.
        stderr: Vec<u8>,
    },
    /// A reload begins: the program on disk is tried.
    Reloading,
    /// The program on disk did not pass its trial at the last reload; this server goes on.
    ReloadFailed {
        /// Why, in one line.
        reason: String,
    },
    /// The server is to flush and exit 0; the keeper starts the next at once (SIGHUP).
    HandOver,
    /// The daemon is stopping: no new terminals; the keeper is ending those there are (SIGTERM).
    Stopping,
    /// Every terminal has ended: drain, flush and exit 0.
    Finish,
}

/// How to end a terminal's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTree {
    /// The first signal: SIGTERM for kill, SIGHUP for close.
    pub signal: i32,
    /// How long after it SIGKILL follows for whatever is left.
    pub grace: Duration,
}

/// The server's messages. All but `Hello` and `Pong` are answered once, under the same request
/// number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToKeeper {
    /// The first message: the server's [`PROTOCOL_VERSION`]. Answered by the keeper's hello, the
    /// inventory and its end.
    Hello {
        /// The server's protocol version.
        version: u32,
        /// The server's [`LEVEL`].
        level: u32,
    },
    /// Start a command.
    Spawn(Box<SpawnRequest>),
    /// End everything of a terminal.
    EndTree {
        /// The terminal.
        id: TerminalId,
        /// The signals.
        end: EndTree,
    },
    /// Signal everything of a terminal once.
    SignalTree {
        /// The terminal.
        id: TerminalId,
        /// The signal's number.
        signal: i32,
    },
    /// Replace the notes on a terminal.
    SetNotes {
        /// The terminal.
        id: TerminalId,
        /// The new notes, at most [`MAX_NOTES_BYTES`].
        notes: Vec<u8>,
    },
    /// Drop the descriptors of a terminal that has ended and is stored. Processes that it left
    /// behind can still be ended.
    ReleaseFds {
        /// The terminal.
        id: TerminalId,
    },
    /// Close the pipe that a command reads: all of its input is in it. Needs a keeper at
    /// [`LEVEL_STDIN`].
    CloseStdin {
        /// The terminal.
        id: TerminalId,
    },
    /// Forget a terminal: it is closed.
    Forget {
        /// The terminal.
        id: TerminalId,
    },
    /// Continue a paused command, or cancel it. Answered as a `Spawn` without a pause.
    ReleaseExec {
        /// The terminal.
        id: TerminalId,
        /// Whether the command runs.
        release: ExecRelease,
    },
    /// List the processes that belong to no terminal that the keeper can tell. Answered by
    /// [`ToServer::Processes`]. Needs a keeper at [`LEVEL_ORPHANS`].
    ListOrphans,
    /// List the processes of a terminal. Answered by [`ToServer::Processes`]. Needs a keeper at
    /// [`LEVEL_INHERITED`].
    ListTree {
        /// The terminal.
        id: TerminalId,
    },
    /// Keep the head of the audit chain for the next server. Needs a keeper at [`LEVEL_AUDIT_HEAD`].
    SetAuditHead {
        /// Number and hash, as the server writes them; at most [`MAX_AUDIT_HEAD_BYTES`].
        head: Vec<u8>,
    },
    /// This server serves.
    Ready,
    /// This server is alive: the answer to a ping.
    Pong,
}

/// The keeper's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToServer {
    /// The first message: the keeper's [`PROTOCOL_VERSION`].
    Hello {
        /// The keeper's protocol version.
        version: u32,
        /// The keeper's [`LEVEL`].
        level: u32,
    },
    /// One terminal; its descriptors travel with it, in the order of [`TerminalFds`].
    Inventory {
        /// Its id.
        id: TerminalId,
        /// Its root.
        process: ProcessId,
        /// How it ended, if it was reaped.
        status: Option<WaitStatus>,
        /// A server's notes.
        notes: Vec<u8>,
        /// Which descriptors travel with it.
        stdio: Stdio,
    },
    /// The head of the audit chain that the server before has set. Sent before the end of the inventory,
    /// if there is one.
    AuditHead {
        /// Number and hash, as that server wrote them.
        head: Vec<u8>,
    },
    /// The server before ended unasked, and no reload was requested since. Sent before the end of
    /// the inventory. An older keeper never sends it.
    Recovery,
    /// The inventory is complete.
    InventoryEnd,
    /// The request is done.
    Done,
    /// A command runs; its descriptors travel with it, in the order of [`TerminalFds`].
    Spawned {
        /// Its root.
        process: ProcessId,
        /// What it is held to.
        enforced: Enforced,
    },
    /// A command was forked and waits for [`ToKeeper::ReleaseExec`]: the answer to a `Spawn` with a
    /// pause.
    Paused {
        /// Its root, before its exec.
        process: ProcessId,
    },
    /// The orphans.
    Processes(ProcessList),
    /// The request was not done.
    Refused(Refusal),
    /// An event.
    Event(KeeperEvent),
    /// Is the server alive? It answers `Pong`.
    Ping,
}

/// Why the keeper did not do a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The command could not be started.
    Spawn(SpawnFailure),
    /// No such terminal.
    UnknownTerminal,
    /// The daemon is stopping.
    Stopping,
    /// Processes that no signal could end: this many (another user's, or stuck in the kernel).
    Survivors(u32),
    /// The request makes no sense to this keeper: notes too long, not a signal.
    Invalid,
}
