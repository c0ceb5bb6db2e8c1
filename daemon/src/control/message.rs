//! The messages between keeper and server, and their encoding: pure.

use std::os::fd::OwnedFd;
use std::time::Duration;

use termd_proto::TerminalId;

/// A process, named so that it cannot be mistaken for a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The process id.
    pub pid: i32,
    /// Its start time, in clock ticks since boot (proc_pid_stat(5), field 22).
    pub start_time: u64,
}

/// How a command ended, as waitid(2) told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStatus {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
}

/// What the keeper holds for one terminal, and shares with the server.
#[derive(Debug)]
pub struct TerminalFds {
    /// The PTY's master side, non-blocking.
    pub master: OwnedFd,
    /// The spool: a memfd whose file offset is the transcript offset.
    pub spool: OwnedFd,
    /// The pipe that bytes pass on the way from `master` to `spool`, read end, non-blocking.
    pub pipe_reader: OwnedFd,
    /// The same pipe's write end, non-blocking.
    pub pipe_writer: OwnedFd,
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
}

/// A started command.
#[derive(Debug)]
pub struct Spawned {
    /// Its process, also its session and first process group.
    pub process: ProcessId,
    /// What it is read and written by.
    pub fds: TerminalFds,
}

/// Where starting a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpawnStep {
    /// openpty(3).
    OpenPty,
    /// memfd_create(2) for the spool.
    Spool,
    /// pipe(2).
    Pipe,
    /// fork(2).
    Fork,
    /// setsid(2) and TIOCSCTTY.
    Session,
    /// chdir(2) to the working directory.
    Chdir,
    /// execve(2).
    Exec,
}

/// A command that could not be started: the step and its errno. Nothing is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnFailure {
    /// Which step.
    pub step: SpawnStep,
    /// The errno it failed with.
    pub errno: i32,
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
