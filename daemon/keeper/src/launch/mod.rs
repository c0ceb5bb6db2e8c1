//! Starting a terminal's command: descriptors, fork, confinement, exec.
//!
//! The [`Launcher`] forks a `child`, which confines itself and executes the `command`, or first
//! executes `bubblewrap`, behind which a second process does the same, or goes on as another process in
//! a `pid_namespace`, whose first process is an `init`. An `error_pipe` reports each
//! failed step to the keeper, which follows it in a [`PendingStart`].

mod bubblewrap;
mod child;
mod child_fds;
mod command;
mod command_process;
mod error_pipe;
mod exec_gate;
mod inherited;
mod init;
mod launcher;
mod pending_start;
mod pid_namespace;
mod stdio;

pub use self::bubblewrap::run_launcher_if_requested;
pub(crate) use self::launcher::{Launched, Launcher};
pub(crate) use self::pending_start::{PendingStart, Progress};
