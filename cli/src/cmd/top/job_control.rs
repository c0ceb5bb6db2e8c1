//! Stopping the overview, as ctrl-z of any program.

use std::fs;

use nix::unistd::{Pid, getpgrp, getpid, getsid};
use rustix::process::{Signal as Stop, kill_current_process_group};

use crate::error::CliError;

/// Whether a shell may continue this process: it leads its process group, or the leader's parent is in the same
/// session. A script (`sh -c 'termctl; …'`) runs its commands in its own group, and without job control no shell
/// continues that.
pub(super) fn has_job_control() -> bool {
    let leader = getpgrp();
    leader == getpid()
        || parent_of(leader).is_some_and(|parent| {
            getsid(Some(parent)).is_ok_and(|session| getsid(None) == Ok(session))
        })
}

/// The parent of a process, by `/proc/PID/stat` (proc(5)). `None`: it is in a PID namespace above, where it
/// cannot be looked for.
fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let parent = fields.split_whitespace().nth(1)?.parse().ok()?;
    (parent != 0).then_some(Pid::from_raw(parent))
}

/// Stops this process group, as the tty's own key would, until the shell continues it: a shell with jobs waits for
/// the leader.
pub(super) fn suspend() -> Result<(), CliError> {
    let stopped = kill_current_process_group(Stop::STOP);
    stopped.map_err(|error| CliError::Io("cannot suspend", error.into()))
}
