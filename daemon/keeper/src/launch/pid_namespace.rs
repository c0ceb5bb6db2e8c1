//! Going on as a process in a PID namespace.
//!
//! The keeper's child has entered the namespace, which holds for its next children. It forks an init and
//! the command, both as children of the keeper (`CLONE_PARENT`), and exits. So no process stands between
//! keeper and command, and the keeper reaps an exact status.

use std::os::fd::IntoRawFd;

use nix::libc;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{DumpableBehavior, set_dumpable_behavior as set_dumpable};

use super::error_pipe::{report_command_pid, report_init_pid};
use super::init;
use crate::confine::Plan;
use crate::protocol::confinement::Restriction;
use crate::protocol::message::{SpawnFailure, SpawnStep};
use crate::sys::{self, Forked};

/// Returns in the process that becomes the command, once it is announced. The init watches the mounts
/// of this plan from then on that the command is executed.
pub(super) fn fork_command(plan: &Plan) -> Result<(), SpawnFailure> {
    fork(plan).map_err(|errno| SpawnStep::Confine(Restriction::PidNamespace).failed(errno))
}

fn fork(plan: &Plan) -> Result<(), Errno> {
    // Its end is the command's exec, or its exit.
    let (started, starting) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // The init is not confined, so no process inside may trace it, from its first moment on.
    set_dumpable(DumpableBehavior::NotDumpable)?;
    match sys::fork_with(libc::CLONE_PARENT)? {
        Forked::Child => init::run(&started, plan.mount_watch()),
        Forked::Parent(pid) => report_init_pid(pid),
    }
    match sys::fork_with(libc::CLONE_PARENT)? {
        Forked::Child => {
            set_dumpable(DumpableBehavior::Dumpable)?;
            report_command_pid(outer_pid()?);
            // Open until the exec.
            let _ = starting.into_raw_fd();
            Ok(())
        }
        Forked::Parent(_) => sys::exit_child(0),
    }
}

/// This process's pid in the keeper's namespace, whose `/proc` is not covered yet.
fn outer_pid() -> Result<i32, Errno> {
    let link = rustix::fs::readlink(c"/proc/self", Vec::new())?;
    let pid = link.to_str().ok().and_then(|pid| pid.parse().ok());
    pid.ok_or(Errno::SRCH)
}
