//! The keeper: the process that holds what must not die.
//!
//! It is termd's main process: the listening socket, and for each terminal the PTY master, the
//! spool, and the child, whose parent it is. It starts the server, replaces it when it dies, and
//! hands it everything again. It promises that no terminal, no byte of output and no exit code is
//! lost while it lives itself, and that stopping it ends every terminal.
//!
//! **Invariant:** one thread, no tokio, no JSON, no database, and nothing here reads what a
//! terminal prints. A single-threaded process may fork safely; one that does this little has
//! little to die of.
//!
//! From top to bottom: [`run`] takes the locks and the socket (`socket`, `lock`), then turns
//! (`event_loop`). What the server asks is in `requests`, what happens to the server in
//! `supervision`, children in `reaping`, and ending them in `endings`.

mod builder;
mod child;
mod confine;
mod detach;
mod ending;
mod endings;
mod ends;
mod event_loop;
mod exec_gate;
mod handover;
mod health;
mod inventory;
mod link;
mod lock;
mod notify;
mod process_tree;
mod procfs;
pub mod protocol;
mod reaping;
mod requests;
mod server_process;
mod socket;
mod spawn;
mod stopping;
mod supervision;
mod sys;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use thiserror::Error;

pub use builder::launch_where_asked;
use event_loop::Keeper;
pub use server_process::{InheritedFds, inherited_fds};

/// What the keeper is started with.
#[derive(Debug)]
pub struct KeeperOptions {
    /// Where the socket is to be; absolute. Its directory belongs to termd alone.
    pub socket_path: PathBuf,
    /// The directory of the database, which one daemon at a time may use; absolute.
    pub state_dir: PathBuf,
    /// The server's program: a path and not `/proc/self/exe`, so that a reload runs the file that
    /// is there then.
    pub server_program: PathBuf,
    /// What follows `--server` on the server's command line.
    pub server_args: Vec<OsString>,
    /// How long terminals have between SIGHUP and SIGKILL when the daemon stops.
    pub kill_grace: Duration,
    /// In the foreground (systemd, a debugger) or not.
    pub detach: Detach,
}

/// Where the keeper runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detach {
    /// In this process.
    Foreground,
    /// In a child with a session of its own. This process waits until it is ready, or prints why
    /// it is not; that one is running already is as good as ready.
    Background {
        /// What stderr is appended to, made 0600 where it is new; `/dev/null` without.
        log: Option<PathBuf>,
    },
}

/// Why the keeper could not start. Each is one line that says what to do.
#[derive(Debug, Error)]
pub enum KeeperStartError {
    /// Another keeper holds the socket or the database.
    #[error("termd is running already (pid {pid}, socket {socket})", pid = .pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string()), socket = .socket.display())]
    AlreadyRunning {
        /// Its pid, where its lock file says it.
        pid: Option<u32>,
        /// Its socket.
        socket: PathBuf,
    },
    /// The socket's path does not fit `sockaddr_un` (unix(7): 107 bytes).
    #[error("the socket path {} is {length} bytes long, the system allows {limit}: set XDG_RUNTIME_DIR or TERMD_SOCKET to something shorter", .path.display(), limit = socket::MAX_SOCKET_PATH)]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// A path that has to be absolute and is not.
    #[error("{} is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    /// A directory or file that others could tamper with, or that is something else.
    #[error("refusing to use {}: {problem}", .path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// systemd passed something that is not one listening socket.
    #[error("socket activation: {0}")]
    Activation(&'static str),
    /// A system call failed.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// How it failed.
        source: io::Error,
    },
    /// A system call that concerns no path failed.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried, as a verb.
        doing: &'static str,
        /// How it failed.
        source: io::Error,
    },
}

impl KeeperStartError {
    fn system(doing: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            doing,
            source: source.into(),
        }
    }
}

/// The log is in the state directory, which on a fresh machine is not there yet.
fn fork_with_log(
    options: &KeeperOptions,
    log: Option<&Path>,
) -> Result<detach::Side, KeeperStartError> {
    socket::private_directory(&options.state_dir)?;
    detach::fork(log)
}

/// Runs the keeper until the daemon is stopped. Must be called before any thread is started.
///
/// The exit code is 0 after SIGTERM, 1 after a second one, and the server's own where the first
/// server gave up before it was ready (78 `EX_CONFIG`, 69 `EX_UNAVAILABLE`; sysexits.h).
pub fn run(options: KeeperOptions) -> Result<ExitCode, KeeperStartError> {
    match options.detach.clone() {
        Detach::Foreground => Ok(Keeper::new(options)?.run(detach::Reporter::nobody())),
        Detach::Background { log } => match fork_with_log(&options, log.as_deref())? {
            detach::Side::Caller(report) => Ok(report.wait()),
            detach::Side::Keeper(reporter) => match Keeper::new(options) {
                Ok(keeper) => Ok(keeper.run(reporter)),
                Err(KeeperStartError::AlreadyRunning { .. }) => {
                    reporter.ready();
                    Ok(ExitCode::SUCCESS)
                }
                Err(error) => {
                    reporter.failed(1, &error.to_string());
                    Ok(ExitCode::FAILURE)
                }
            },
        },
    }
}
