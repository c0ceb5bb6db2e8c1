//! The PID namespace of a sandbox (`pid_namespaces(7)`) and the `/proc` that shows it.
//!
//! A process that enters one stays outside; its next child is the namespace's init, and the later ones
//! are inside. A `/proc` of the namespace takes a process inside, and one outside of which nothing is
//! covered: a container that hides parts of its `/proc` has none to give (EPERM).

use std::os::fd::{AsFd, OwnedFd};

use nix::libc;
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use rustix::process::{Pid, WaitId, WaitIdOptions};
use rustix::thread::UnshareFlags;

use super::kernel;
use super::mount::ops::{attach, new_file_system};
use super::mount::resolve::resolve;
use crate::protocol::confinement::Enforcement;
use crate::sys::{self, Forked};

/// Puts the next children of this process into a new PID namespace. It has to be in a user namespace
/// of its own.
pub(super) fn enter(enforcement: Enforcement) -> Result<(), Errno> {
    if enforcement == Enforcement::BestEffort {
        // A process that has entered cannot turn back.
        try_out()?;
    }
    kernel::unshare(UnshareFlags::NEWPID)
}

/// Mounts the `/proc` of this process's PID namespace over the host's.
pub(super) fn mount_proc() -> Result<(), Errno> {
    attach(new_proc()?.as_fd(), resolve(c"/proc")?.as_fd())
}

fn new_proc() -> Result<OwnedFd, Errno> {
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    new_file_system(c"proc", &[], attributes)
}

/// Whether a namespace with a `/proc` can be had, by a child that makes both and ends.
fn try_out() -> Result<(), Errno> {
    let pid = match sys::fork_with(libc::CLONE_NEWPID)? {
        Forked::Child => {
            let errno = new_proc().err().map_or(0, Errno::raw_os_error);
            sys::exit_child(errno);
        }
        Forked::Parent(pid) => pid,
    };
    let child = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
    let ended = rustix::io::retry_on_intr(|| {
        rustix::process::waitid(WaitId::Pid(child), WaitIdOptions::EXITED)
    })?;
    match ended.and_then(|status| status.exit_status()) {
        Some(0) => Ok(()),
        Some(errno) => Err(Errno::from_raw_os_error(errno)),
        None => Err(Errno::CANCELED),
    }
}
