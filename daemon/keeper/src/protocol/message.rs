//! The messages between keeper and server. Their encoding is [`super::wire`].

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::confinement::{Confinement, Enforced};
pub use super::exec_gate::{Hold, LetGo};
pub use super::step::{SpawnFailure, SpawnStep};

/// What both sides say in their hello. A message may gain fields at its end and kinds may be added
/// without changing it; it changes when an old side would misunderstand a new one.
pub const PROTOCOL_VERSION: u32 = 1;

/// What this side can do beyond the first version, said behind the version in its hello: a side
/// that says nothing there is at level 0. The other side asks for nothing above it, for an older
/// keeper answers what it does not know by silence, or by doing what it does know.
pub const LEVEL: u32 = LEVEL_BUBBLEWRAP;
/// From this level on: commands on pipes ([`Stdio::Pipes`]).
pub const LEVEL_PIPES: u32 = 1;
/// From this level on: limits and sandboxes ([`Confinement`]).
pub const LEVEL_CONFINEMENT: u32 = 2;
/// From this level on: commands that wait before their walls ([`Hold`]).
pub const LEVEL_HOLD: u32 = 3;
/// From this level on: commands that wait with their walls built ([`Hold::BeforeExec`]).
pub const LEVEL_HOLD_BEFORE_EXEC: u32 = 4;
/// From this level on: sandboxes that bubblewrap builds ([`Builder::Bubblewrap`]).
///
/// [`Builder::Bubblewrap`]: super::confinement::Builder::Bubblewrap
pub const LEVEL_BUBBLEWRAP: u32 = 5;

/// The most terminals a keeper holds: 4,096 that run, each with four file descriptors, which stays
/// well below the usual hard limit of half a million; and as many that have ended and are not
/// closed, which cost it their notes.
pub const MAX_TERMINALS: usize = 8192;

/// The longest notes on one terminal, in bytes. They are in the keeper's memory for as long as the
/// terminal lives.
pub const MAX_NOTES_BYTES: usize = 64 * 1024;

/// Marks the terminal that a process belongs to, in the environment of every child.
pub const TERMINAL_VARIABLE: &str = "TERMD_TERMINAL";

/// A process, named so that it cannot be mistaken for a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The process id.
    pub pid: i32,
    /// Its start time, in clock ticks since boot (`proc_pid_stat(5)`, field 22).
    pub start_time: u64,
}

/// How a command ended, as waitid(2) told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStatus {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
    /// SIGKILL ended it, at the hard limit of its processor time: it did not end by SIGXCPU.
    CpuTimeUp,
}

/// What the keeper holds for one terminal, and shares with the server: four descriptors, in the
/// order in which they are sent.
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
        /// Which byte of the spool came from which: a memfd that only servers read and write.
        origins: OwnedFd,
    },
}

impl TerminalFds {
    /// Puts four descriptors together that arrived in the order in which they are sent.
    pub fn from_sent(stdio: Stdio, sent: [OwnedFd; 4]) -> Self {
        let [first, spool, third, fourth] = sent;
        match stdio {
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
            },
        }
    }

    /// The descriptors in the order in which they are sent.
    pub fn to_send(&self) -> [BorrowedFd<'_>; 4] {
        let (first, spool, third, fourth) = match self {
            Self::Pty {
                master,
                spool,
                pipe_reader,
                pipe_writer,
            } => (master, spool, pipe_reader, pipe_writer),
            Self::Pipes {
                stdout,
                spool,
                stderr,
                origins,
            } => (stdout, spool, stderr, origins),
        };
        [first.as_fd(), spool.as_fd(), third.as_fd(), fourth.as_fd()]
    }

    /// Which of the two it is.
    pub fn stdio(&self) -> Stdio {
        match self {
            Self::Pty { .. } => Stdio::Pty,
            Self::Pipes { .. } => Stdio::Pipes,
        }
    }

    /// The spool.
    pub fn spool(&self) -> &OwnedFd {
        match self {
            Self::Pty { spool, .. } | Self::Pipes { spool, .. } => spool,
        }
    }
}

/// A command to start. The program was looked up already: the keeper executes it as it stands.
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
    /// What it is held to; more than the default only of a keeper at [`LEVEL_CONFINEMENT`].
    pub confinement: Confinement,
    /// Whether it waits; only of a keeper at [`LEVEL_HOLD`], or [`LEVEL_HOLD_BEFORE_EXEC`].
    pub hold: Hold,
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
            confinement: Confinement::default(),
            hold: Hold::No,
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

/// What the keeper tells the server unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperEvent {
    /// A terminal's root process was reaped.
    Exited {
        /// Which.
        id: TerminalId,
        /// How it ended.
        status: WaitStatus,
    },
    /// What the builder of a sandbox said for itself, just before its start is refused: for the log.
    BuilderFailed {
        /// Of which terminal.
        id: TerminalId,
        /// As it was said.
        said: Vec<u8>,
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

/// What the server says to the keeper. All but `Hello` and `Pong` are answered once, under the
/// same request number.
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
        /// Which.
        id: TerminalId,
        /// How.
        end: EndTree,
    },
    /// Signal everything of a terminal once.
    SignalTree {
        /// Which.
        id: TerminalId,
        /// The signal's number.
        signal: i32,
    },
    /// Replace the notes on a terminal.
    SetNotes {
        /// Which.
        id: TerminalId,
        /// The new notes, at most [`MAX_NOTES_BYTES`].
        notes: Vec<u8>,
    },
    /// Drop the descriptors of a terminal that has ended and is stored; what it left running can
    /// still be ended.
    Release {
        /// Which.
        id: TerminalId,
    },
    /// Forget a terminal: it is closed.
    Forget {
        /// Which.
        id: TerminalId,
    },
    /// Go on with a command that is held, or not. Answered as a `Spawn` that is not held.
    LetGo {
        /// Which.
        id: TerminalId,
        /// How.
        how: LetGo,
    },
    /// This server serves.
    Ready,
    /// This server is alive: the answer to a ping.
    Pong,
}

/// What the keeper says to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToServer {
    /// The first message: the keeper's [`PROTOCOL_VERSION`].
    Hello {
        /// The keeper's protocol version.
        version: u32,
        /// The keeper's [`LEVEL`].
        level: u32,
    },
    /// One terminal; its four descriptors travel with it, in the order of [`TerminalFds`].
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
    /// The inventory was that.
    InventoryEnd,
    /// What was asked is done.
    Done,
    /// A command runs; its four descriptors travel with it, in the order of [`TerminalFds`].
    Spawned {
        /// Its root.
        process: ProcessId,
        /// What it is held to.
        enforced: Enforced,
    },
    /// A command was forked and waits for [`ToKeeper::LetGo`]: the answer to a `Spawn` with a hold.
    Held {
        /// Its root, before its exec.
        process: ProcessId,
    },
    /// What was asked was not done.
    Refused(Refusal),
    /// Something happened.
    Event(KeeperEvent),
    /// Is the server alive? It answers `Pong`.
    Ping,
}

/// Why the keeper did not do what was asked.
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
