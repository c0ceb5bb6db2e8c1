#![doc = include_str!("../README.md")]
//!
//! # Map
//!
//! [`run`] takes the locks and the socket (`lock`, `listener`), then turns (`keeper`). The server is
//! supervised in `server`, terminals are in `inventory` and `terminals`, commands are started in `launch` and held
//! to their limits in `confine`, files are read and written in `file_operation`, and trees of processes are ended in `process_tree`, in cgroups of their own (`cgroup`) where systemd allows it. [`protocol`] is
//! the wire between keeper and server.

mod cgroup;
mod confine;
mod detach;
mod error;
mod file_operation;
mod inventory;
mod keeper;
mod launch;
mod left_pipes;
mod listener;
mod lock;
mod notify;
mod options;
mod poll;
mod process_tree;
pub mod protocol;
mod reap;
mod server;
mod sys;
mod terminals;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub use self::error::{KeeperStartError, PathProblem};
use self::keeper::Keeper;
pub use self::launch::run_launcher_if_requested;
pub use self::listener::activation_socket;
pub use self::options::{Detach, KeeperOptions};
pub use self::server::{InheritedFds, inherited_fds};

/// How long a start in the background waits for another daemon that has the locks and does not
/// listen, because it is starting or ending. Below the 30 s that termctl gives a start.
const OTHER_DAEMON_DEADLINE: Duration = Duration::from_secs(20);
/// The pause before the next attempt.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Runs the keeper until the daemon is stopped. Must be called before any thread is started.
///
/// The exit code is 0 after SIGTERM, 1 after a second one, and the server's own where the first
/// server gave up before it was ready (78 `EX_CONFIG`, 69 `EX_UNAVAILABLE`; sysexits.h).
pub fn run(options: KeeperOptions) -> Result<ExitCode, KeeperStartError> {
    match options.detach.clone() {
        Detach::Foreground => Ok(Keeper::new(options)?.run(detach::Reporter::none())),
        Detach::Background { log } => match fork_with_log(&options, log.as_deref())? {
            detach::Side::Caller(report) => Ok(report.wait()),
            detach::Side::Keeper(reporter) => Ok(run_detached(&options, reporter)),
        },
    }
}

#[allow(clippy::disallowed_methods)] // Another daemon tells nobody that it listens, or has ended.
fn run_detached(options: &KeeperOptions, mut reporter: detach::Reporter) -> ExitCode {
    let give_up_at = Instant::now() + OTHER_DAEMON_DEADLINE;
    let error = loop {
        match Keeper::new(options.clone()) {
            Ok(keeper) => return keeper.run(reporter),
            Err(KeeperStartError::AlreadyRunning { socket, .. }) if listener::accepts(&socket) => {
                reporter.ready();
                return ExitCode::SUCCESS;
            }
            // It is starting or ending.
            Err(KeeperStartError::AlreadyRunning { .. }) if Instant::now() < give_up_at => {
                std::thread::sleep(RETRY_PAUSE);
            }
            Err(error) => break error,
        }
    };
    reporter.failed(1, &error.to_string());
    ExitCode::FAILURE
}

/// The log is in the state directory, which on a fresh machine is not there yet.
fn fork_with_log(
    options: &KeeperOptions,
    log: Option<&Path>,
) -> Result<detach::Side, KeeperStartError> {
    listener::private_directory(&options.state_dir)?;
    detach::fork(log)
}
