//! The error pipe, by which a starting child reports to the keeper.
//!
//! A report is a number and an errno: a step that failed, a restriction that the command runs
//! without, or the pid of the process that becomes the command. A successful exec closes the pipe.

use std::os::fd::{OwnedFd, RawFd};

use rustix::io::Errno;

use super::child_fds::ERROR_PIPE;
use crate::protocol::confinement::{Enforced, Restriction};
use crate::protocol::message::{SpawnFailure, SpawnStep};
use crate::sys;

/// From this number on a report is a missing restriction; below it a failed step.
const MISSING: u8 = 128;
/// This number is neither a step nor a restriction. The report's errno is the pid of the process
/// behind bubblewrap that becomes the command.
const COMMAND_PID: u8 = 63;
/// This number announces, with the pid, the init of the command's PID namespace.
const INIT_PID: u8 = 62;
const REPORT_BYTES: usize = 5;

/// What an error pipe says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// Nothing yet.
    Pending,
    /// execve(2) succeeded.
    Executed,
    /// This process, and not the forked one, becomes the command.
    CommandPid(i32),
    /// This process is the init of the command's PID namespace.
    InitPid(i32),
    /// A step failed; the child has exited or is about to.
    Failed(SpawnFailure),
}

/// Reads the next report. A missing restriction is moved within `enforced`.
pub(super) fn read(error_pipe: &OwnedFd, enforced: &mut Enforced) -> Report {
    loop {
        let mut report = [0; REPORT_BYTES];
        match rustix::io::read(error_pipe, &mut report) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Report::Pending,
            Ok(REPORT_BYTES) => {
                let [number, value @ ..] = report;
                let value = i32::from_le_bytes(value);
                if number == COMMAND_PID {
                    return Report::CommandPid(value);
                }
                if number == INIT_PID {
                    return Report::InitPid(value);
                }
                match number.checked_sub(MISSING).map(Restriction::from_number) {
                    Some(Some(restriction)) => enforced.mark_missing(restriction, value),
                    Some(None) => {}
                    None => {
                        return Report::Failed(SpawnFailure {
                            step: SpawnStep::from_number(number).unwrap_or(SpawnStep::Exec),
                            errno: value,
                        });
                    }
                }
            }
            // A report is written whole, so this is the end of file.
            _ => return Report::Executed,
        }
    }
}

fn write(number: u8, value: i32) {
    let mut report = [0; REPORT_BYTES];
    report[0] = number;
    report[1..].copy_from_slice(&value.to_le_bytes());
    // It fails only when the keeper is gone.
    let _ = rustix::io::write(sys::borrow_fd(ERROR_PIPE), &report);
}

/// Reports, in the child, a restriction that the command runs without.
pub(super) fn report_missing(restriction: Restriction, errno: Errno) {
    write(MISSING + restriction.number(), errno.raw_os_error());
}

/// Reports that the process with this pid, as the keeper sees it, becomes the command.
pub(super) fn report_command_pid(pid: i32) {
    write(COMMAND_PID, pid);
}

/// Reports the pid of the init of the command's PID namespace, as the keeper sees it.
pub(super) fn report_init_pid(pid: i32) {
    write(INIT_PID, pid);
}

/// Reports the step that failed, and exits.
pub(super) fn exit_with(failure: SpawnFailure) -> ! {
    write(failure.step.number(), failure.errno);
    sys::exit_child(127);
}

/// Makes the child's end close-on-exec, and leaves it open until then.
pub(super) fn close_on_exec() -> Result<(), Errno> {
    sys::adopt_fd(ERROR_PIPE).map(std::mem::forget)
}

/// Keeps the child's end open across the next exec.
pub(super) fn keep_on_exec() -> Result<(), Errno> {
    sys::place_fd(ERROR_PIPE, ERROR_PIPE)
}

/// Places the child's end, which was created as this number.
pub(super) fn place(fd: RawFd) -> Result<(), Errno> {
    sys::place_fd(fd, ERROR_PIPE)
}

#[cfg(test)]
mod tests {
    use rustix::pipe::PipeFlags;

    use super::*;
    use crate::protocol::confinement::MissingRestriction;

    #[test]
    fn an_error_pipe_tells_what_happened() {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::NONBLOCK).unwrap();
        let mut enforced = Enforced {
            active: vec![Restriction::Namespaces, Restriction::Scopes],
            missing: Vec::new(),
        };
        assert_eq!(read(&reader, &mut enforced), Report::Pending);
        // Scopes, with ENOSYS, twice: the second says nothing new.
        rustix::io::write(&writer, &[128 + 15, 38, 0, 0, 0]).unwrap();
        rustix::io::write(&writer, &[128 + 15, 1, 0, 0, 0]).unwrap();
        assert_eq!(read(&reader, &mut enforced), Report::Pending);
        let expected = Enforced {
            active: vec![Restriction::Namespaces],
            missing: vec![MissingRestriction {
                restriction: Restriction::Scopes,
                errno: 38,
            }],
        };
        assert_eq!(enforced, expected);
        rustix::io::write(&writer, &[5, 2, 0, 0, 0]).unwrap();
        let failure = SpawnStep::Chdir.failed(Errno::NOENT);
        assert_eq!(read(&reader, &mut enforced), Report::Failed(failure));
        drop(writer);
        assert_eq!(read(&reader, &mut enforced), Report::Executed);
    }
}
