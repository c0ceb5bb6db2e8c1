//! The messages between keeper and server. Their encoding is [`super::wire`].

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::{Inherited, Stderr, Stdin, Stdio};

use super::confinement::{Confinement, Enforced};
pub use super::exec_gate::{ExecRelease, PausePoint};
use super::file_operation::FileOperation;
pub use super::spawn_step::{SpawnFailure, SpawnStep};

/// The version in both sides' hello. It changes only when an old side would misunderstand a new
/// one; new fields at a message's end and new kinds leave it as it is.
pub const PROTOCOL_VERSION: u32 = 1;

/// What this side supports beyond the first version. It follows the version in the hello; a side
/// that sends none is at level 0. The other side requests nothing above that level, because an
/// older keeper ignores what it does not know, or does only the part that it knows.
pub const LEVEL: u32 = LEVEL_INHERITED;
/// From this level on: commands on pipes ([`Stdio::Pipes`]).
pub const LEVEL_PIPES: u32 = 1;
/// From this level on: limits and sandboxes ([`Confinement`]).
pub const LEVEL_CONFINEMENT: u32 = 2;
/// From this level on: commands paused before confinement ([`PausePoint::BeforeConfinement`]).
pub const LEVEL_EXEC_GATE: u32 = 3;
/// From this level on: commands paused in their sandbox ([`PausePoint::BeforeExec`]).
pub const LEVEL_PAUSE_BEFORE_EXEC: u32 = 4;
/// From this level on: sandboxes that bubblewrap builds ([`Builder::Bubblewrap`]).
///
/// [`Builder::Bubblewrap`]: super::confinement::Builder::Bubblewrap
pub const LEVEL_BUBBLEWRAP: u32 = 5;
/// From this level on: operations on files ([`FileOperation`]).
pub const LEVEL_FILES: u32 = 6;
/// From this level on: sandboxes with PID and IPC namespaces of their own ([`Processes::Private`]).
///
/// [`Processes::Private`]: super::confinement::Processes::Private
pub const LEVEL_PRIVATE_PROCESSES: u32 = 7;
/// From this level on: the list of orphans ([`ToKeeper::ListOrphans`]).
pub const LEVEL_ORPHANS: u32 = 8;
/// From this level on: the ids of writable paths ([`Sandbox::writable_ids`]).
///
/// [`Sandbox::writable_ids`]: super::confinement::Sandbox::writable_ids
pub const LEVEL_WRITABLE_IDS: u32 = 9;
/// From this level on: the head of the audit chain ([`ToKeeper::SetAuditHead`]).
pub const LEVEL_AUDIT_HEAD: u32 = 10;
/// From this level on: commands that read a pipe ([`Stdin::Pipe`]).
pub const LEVEL_STDIN: u32 = 11;
/// From this level on: what a command takes over from the process that requests it ([`Inherited`]).
pub const LEVEL_INHERITED: u32 = 12;

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

/// The descriptors of a terminal, which keeper and server share, in the order in which they are sent.
#[derive(Debug)]
pub enum TerminalFds {
    /// Of a terminal with a PTY.
    Pty {
        /// The PTY's master side, non-blocking.
        master: OwnedFd,
        /// The spool: a memfd whose file offset is the transcript offset.
        spool: OwnedFd,
        /// The pipe that bytes pass on the way from `master` to `spool`, read end, non-blocking.
        pipe_reader: OwnedFd,
        /// The same pipe's write end, non-blocking.
        pipe_writer: OwnedFd,
    },
    /// Of a command on pipes.
    Pipes {
        /// Its standard output's read end, non-blocking.
        stdout: OwnedFd,
        /// The spool, as above.
        spool: OwnedFd,
        /// Its standard error's read end, non-blocking.
        stderr: OwnedFd,
        /// Which bytes of the spool came from which pipe: a memfd that only servers read and write.
        origins: OwnedFd,
        /// Its standard input, where it reads a pipe and that is still open.
        stdin: Option<StdinFds>,
    },
}

/// The server's end of a command's standard input.
#[derive(Debug)]
pub struct StdinFds {
    /// The pipe's write end, non-blocking.
    pub pipe: OwnedFd,
    /// What was sent to the command: a memfd whose file offset is the number of bytes that are in the
    /// pipe. It is sealed against growing at the end of the input.
    pub queue: OwnedFd,
}

impl TerminalFds {
    /// The inverse of [`to_send`](Self::to_send); `None` if the number of descriptors differs.
    pub fn from_sent(stdio: Stdio, sent: Vec<OwnedFd>) -> Option<Self> {
        let mut sent = sent.into_iter();
        let (first, spool) = (sent.next()?, sent.next()?);
        let (third, fourth) = (sent.next()?, sent.next()?);
        let stdin = match (stdio, sent.next(), sent.next(), sent.next()) {
            (_, None, ..) => None,
            (Stdio::Pipes, Some(pipe), Some(queue), None) => Some(StdinFds { pipe, queue }),
            _ => return None,
        };
        Some(match stdio {
            Stdio::Pty => Self::Pty {
                master: first,
                spool,
                pipe_reader: third,
                pipe_writer: fourth,
            },
            Stdio::Pipes => Self::Pipes {
                stdout: first,
                spool,
                stderr: third,
                origins: fourth,
                stdin,
            },
        })
    }

    /// The descriptors in the order in which they are sent.
    pub fn to_send(&self) -> Vec<BorrowedFd<'_>> {
        let mut fds = match self {
            Self::Pty {
                master,
                spool,
                pipe_reader,
                pipe_writer,
            } => vec![master, spool, pipe_reader, pipe_writer],
            Self::Pipes {
                stdout,
                spool,
                stderr,
                origins,
                ..
            } => vec![stdout, spool, stderr, origins],
        };
        let stdin = self.stdin().into_iter();
        fds.extend(stdin.flat_map(|stdin| [&stdin.pipe, &stdin.queue]));
        fds.into_iter().map(AsFd::as_fd).collect()
    }

    /// The server's end of its standard input, where that is an open pipe.
    pub fn stdin(&self) -> Option<&StdinFds> {
        match self {
            Self::Pty { .. } => None,
            Self::Pipes { stdin, .. } => stdin.as_ref(),
        }
    }

    /// The kind of its standard input, output and error.
    pub fn stdio(&self) -> Stdio {
        match self {
            Self::Pty { .. } => Stdio::Pty,
            Self::Pipes { .. } => Stdio::Pipes,
        }
    }

    /// Its spool.
    pub fn spool(&self) -> &OwnedFd {
        match self {
            Self::Pty { spool, .. } | Self::Pipes { spool, .. } => spool,
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
