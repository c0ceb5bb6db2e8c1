//! Starting a terminal's command: PTY or pipes, spool, fork, exec; and telling how it went.
//!
//! Every descriptor is close-on-exec before anything can fork. A step that fails in the child comes
//! back through an error pipe with its errno; the pipe's end of file is the exec that succeeded.
//! The pipe is polled, never waited for: a chdir to a dead file server must not stop the keeper.
//! What the child does in between is `child`.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::libc;
use rustix::process::Rlimit;

use super::builder::Orders;
use super::child::{Command, HANDED_OVER, MISSING, Passed, REPORT_BYTES};
use super::confine::{self, OwnPlaces, Plan};
use super::ends::{Ends, outward_pipe};
use super::exec_gate::Gate;
use super::handover::Lead;
use super::procfs;
use super::sys::{self, Forked};
use crate::protocol::confinement::{Enforced, Wall};
use crate::protocol::message::{ProcessId, SpawnFailure, SpawnRequest, SpawnStep, TerminalFds};

/// A child between fork and exec.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) root: ProcessId,
    pub(super) fds: TerminalFds,
    pub(super) tty: Option<u32>,
    pub(super) error_pipe: OwnedFd,
    pub(super) enforced: Enforced,
    pub(super) gate: Gate,
    pub(super) lead: Lead,
}

/// What an error pipe says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing yet.
    Pending,
    /// execve(2) succeeded.
    Started,
    /// A process behind the one that was forked says that it becomes the command, and waits.
    HandedOver(i32),
    /// A step failed; the child has exited or is about to.
    Failed(SpawnFailure),
}

/// Forks the command of this request. `open_files` is the limit that the child gets back.
pub(super) fn launch(
    request: &SpawnRequest,
    open_files: Rlimit,
    own: &OwnPlaces,
) -> Result<Launched, SpawnFailure> {
    let command = Command::new(request)?;
    let failed = |step| move |errno: i32| SpawnFailure { step, errno };
    let Ends { fds, childs, tty } = Ends::of(request)?;
    let (error_pipe, child_error_pipe) = outward_pipe()?;
    let (gate, child_gate) = Gate::of(request.hold)?;
    let mut plan = Plan::new(&request.confinement, own, tty)?;
    let enforced = plan.enforced().clone();
    let (lead, handover) = Lead::of(plan.builder())?;
    let passed = Passed {
        error_pipe: child_error_pipe.as_raw_fd(),
        gate: child_gate.as_ref().map(AsRawFd::as_raw_fd),
        handover: (handover.as_ref()).map(|fds| fds.each_ref().map(AsRawFd::as_raw_fd)),
    };
    let orders = Orders {
        request,
        own,
        open_files,
    };

    let pid = match sys::fork().map_err(failed(SpawnStep::Fork))? {
        Forked::Child => command.run(&childs, passed, &mut plan, open_files, &orders),
        Forked::Parent(pid) => pid,
    };
    // An unreaped child has an entry in /proc, unless /proc itself is missing.
    let Some(start_time) = procfs::start_time(pid) else {
        sys::kill_unreaped(sys::Unreaped::Child(pid), libc::SIGKILL);
        return Err(failed(SpawnStep::Fork)(libc::ENOENT));
    };
    Ok(Launched {
        root: ProcessId { pid, start_time },
        fds,
        tty,
        error_pipe,
        enforced,
        gate,
        lead,
    })
}

/// Reads an error pipe. Walls that the command has to do without are noted on the way.
pub(super) fn outcome(error_pipe: &OwnedFd, enforced: &mut Enforced) -> Outcome {
    loop {
        let mut report = [0; REPORT_BYTES];
        match rustix::io::read(error_pipe, &mut report) {
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) if errno == rustix::io::Errno::AGAIN => return Outcome::Pending,
            Ok(REPORT_BYTES) => {
                let [number, errno @ ..] = report;
                let errno = i32::from_le_bytes(errno);
                if number == HANDED_OVER {
                    return Outcome::HandedOver(errno);
                }
                let missing = number.checked_sub(MISSING);
                match missing.map(Wall::from_number) {
                    Some(Some(wall)) => confine::miss(enforced, wall, errno),
                    Some(None) => {}
                    None => {
                        return Outcome::Failed(SpawnFailure {
                            step: SpawnStep::from_number(number).unwrap_or(SpawnStep::Exec),
                            errno,
                        });
                    }
                }
            }
            // Reports are written whole, so this is the end of file.
            _ => return Outcome::Started,
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::pipe::PipeFlags;

    use super::*;
    use crate::protocol::confinement::MissingWall;

    #[test]
    fn an_error_pipe_tells_what_happened() {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::NONBLOCK).unwrap();
        let mut enforced = Enforced {
            held: vec![Wall::Namespaces, Wall::Scopes],
            missing: Vec::new(),
        };
        assert_eq!(outcome(&reader, &mut enforced), Outcome::Pending);
        // Scopes, with ENOSYS, twice: the second says nothing new.
        rustix::io::write(&writer, &[128 + 15, 38, 0, 0, 0]).unwrap();
        rustix::io::write(&writer, &[128 + 15, 1, 0, 0, 0]).unwrap();
        assert_eq!(outcome(&reader, &mut enforced), Outcome::Pending);
        let expected = Enforced {
            held: vec![Wall::Namespaces],
            missing: vec![MissingWall {
                wall: Wall::Scopes,
                errno: 38,
            }],
        };
        assert_eq!(enforced, expected);
        rustix::io::write(&writer, &[5, 2, 0, 0, 0]).unwrap();
        let failure = SpawnFailure {
            step: SpawnStep::Chdir,
            errno: 2,
        };
        assert_eq!(outcome(&reader, &mut enforced), Outcome::Failed(failure));
        drop(writer);
        assert_eq!(outcome(&reader, &mut enforced), Outcome::Started);
    }
}
