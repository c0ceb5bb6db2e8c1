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

pub use self::error::{KeeperStartError, PathProblem};
use self::keeper::Keeper;
pub use self::launch::run_launcher_if_requested;
pub use self::options::{Detach, KeeperOptions};
pub use self::server::{InheritedFds, inherited_fds};

/// Runs the keeper until the daemon is stopped. Must be called before any thread is started.
///
/// The exit code is 0 after SIGTERM, 1 after a second one, and the server's own where the first
/// server gave up before it was ready (78 `EX_CONFIG`, 69 `EX_UNAVAILABLE`; sysexits.h).
pub fn run(options: KeeperOptions) -> Result<ExitCode, KeeperStartError> {
    match options.detach.clone() {
        Detach::Foreground => Ok(Keeper::new(options)?.run(detach::Reporter::none())),
        Detach::Background { log } => match fork_with_log(&options, log.as_deref())? {
            detach::Side::Caller(report) => Ok(report.wait()),
            detach::Side::Keeper(reporter) => Ok(run_detached(options, reporter)),
        },
    }
}

fn run_detached(options: KeeperOptions, mut reporter: detach::Reporter) -> ExitCode {
    match Keeper::new(options) {
        Ok(keeper) => keeper.run(reporter),
        Err(KeeperStartError::AlreadyRunning { .. }) => {
            reporter.ready();
            ExitCode::SUCCESS
        }
        Err(error) => {
            reporter.failed(1, &error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// The log is in the state directory, which on a fresh machine is not there yet.
fn fork_with_log(
    options: &KeeperOptions,
    log: Option<&Path>,
) -> Result<detach::Side, KeeperStartError> {
    listener::private_directory(&options.state_dir)?;
    detach::fork(log)
}
