//! What a command takes over from the process that requested it, set in the forked child.
//!
//! A child of that process would have all of it. What takes a privilege that the keeper has not is left
//! as the keeper has it.

use std::os::fd::OwnedFd;

use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;
use termd_proto::terminal::{Inherited, MAX_INHERITED_FD, ResourceLimit, Stdin};

use super::child_fds::FIRST_FREE;
use super::stdio::open_null;
use crate::protocol::message::{SpawnFailure, SpawnRequest, SpawnStep};
use crate::sys;

/// What is set before the exec.
#[derive(Debug)]
pub(super) struct InheritedState(Inherited);

impl InheritedState {
    pub(super) fn new(inherited: &Inherited) -> Self {
        Self(inherited.clone())
    }

    /// Sets umask, nice value and limits. The limits of a profile come after them, and are lower.
    pub(super) fn set_attributes(&self) {
        if let Some(umask) = self.0.umask {
            rustix::process::umask(Mode::from_raw_mode(umask & 0o777));
        }
        if let Some(nice) = self.0.nice {
            let _ = rustix::process::setpriority_process(None, nice);
        }
        self.0.limits.iter().for_each(set_limit);
    }

    /// Sets the mask of blocked signals; an empty one where none was given. Ignores what is ignored.
    pub(super) fn set_signals(&self) {
        for &signal in &self.0.ignored_signals {
            sys::ignore_signal(signal);
        }
        let mut blocked = SigSet::empty();
        for &number in &self.0.blocked_signals {
            if let Ok(signal) = number.try_into() {
                blocked.add(signal);
            }
        }
        // It cannot fail: the arguments are valid.
        let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&blocked), None);
    }
}

fn set_limit(limit: &ResourceLimit) {
    // A limit that is `None` is infinite, and a number that is no limit's has none.
    let own = sys::hard_limit(limit.resource);
    let at_most = |value: Option<u64>, bound: Option<u64>| match (value, bound) {
        (Some(value), Some(bound)) => Some(value.min(bound)),
        (value, bound) => value.or(bound),
    };
    let hard = at_most(limit.hard, own);
    sys::set_limit(limit.resource, at_most(limit.soft, hard), hard);
}

/// The descriptors that a command takes over, with the numbers that they get.
#[derive(Debug, Default)]
pub(super) struct InheritedFds {
    /// What it reads, where that is one of them.
    pub(super) stdin: Option<OwnedFd>,
    /// The others, each from [`FIRST_FREE`] on until it is placed.
    pub(super) others: Vec<(OwnedFd, i32)>,
}

impl InheritedFds {
    /// Of the descriptors beside a request. EINVAL: they are not those that it names. Into a sandbox only
    /// what the command reads is taken, and `/dev/null` for what leads out of it.
    pub(super) fn new(request: &SpawnRequest, sent: Vec<OwnedFd>) -> Result<Self, SpawnFailure> {
        let invalid = SpawnStep::Pipe.failed(Errno::INVAL);
        let numbers = &request.inherited.fds;
        if numbers.len() != sent.len() {
            return Err(invalid);
        }
        let is_sandboxed = request.confinement.sandbox.is_some();
        let mut fds = Self::default();
        for (fd, &number) in sent.into_iter().zip(numbers) {
            match number {
                0 if is_sandboxed && !is_stream(&fd) => fds.stdin = Some(open_null()?),
                0 => fds.stdin = Some(fd),
                3..=MAX_INHERITED_FD if is_sandboxed => {}
                3..=MAX_INHERITED_FD => {
                    let fd = rustix::io::fcntl_dupfd_cloexec(fd, FIRST_FREE)
                        .map_err(|errno| SpawnStep::Pipe.failed(errno))?;
                    fds.others.push((fd, number));
                }
                _ => return Err(invalid),
            }
        }
        if fds.stdin.is_some() != (request.stdin == Stdin::Inherited) {
            return Err(invalid);
        }
        Ok(fds)
    }
}

/// Whether a descriptor leads to its own bytes alone. An open directory leads to all that is beneath it, in the
/// mounts of the process that opened it, also by `/proc/self/fd/0`. A pidfd leads to another process; such
/// descriptors have no file type.
fn is_stream(fd: &OwnedFd) -> bool {
    let is_open = fcntl_getfl(fd).is_ok_and(|flags| !flags.contains(OFlags::PATH));
    let kind = fstat(fd).map(|metadata| FileType::from_raw_mode(metadata.st_mode));
    let is_stream = matches!(
        kind,
        Ok(FileType::RegularFile | FileType::Fifo | FileType::Socket | FileType::CharacterDevice)
    );
    is_open && is_stream
}
