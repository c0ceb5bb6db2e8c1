//! Starting a terminal's command: PTY or pipes, spool, fork, exec; and telling how it went.
//!
//! Every descriptor is close-on-exec before anything can fork. A step that fails in the child comes
//! back through an error pipe with its errno; the pipe's end of file is the exec that succeeded.
//! The pipe is polled, never waited for: a chdir to a dead file server must not stop the keeper.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use nix::libc;
use rustix::process::Rlimit;

use super::confine::{self, OwnPlaces, Plan};
use super::ends::{ChildEnds, Ends, outward_pipe};
use super::hold::{self, Gate};
use super::procfs;
use super::sys::{self, ExecStrings, Forked};
use crate::control::confinement::{Enforced, MissingWall, Wall};
use crate::control::holding::LONGEST_HOLD;
use crate::control::message::{
    Hold, ProcessId, SpawnFailure, SpawnRequest, SpawnStep, TERMINAL_VARIABLE, TerminalFds,
};

/// Where the child's end of the error pipe is while it prepares; everything above is closed.
const CHILD_ERROR_FD: RawFd = 3;

/// Where a held child waits to be let go.
const CHILD_GATE_FD: RawFd = 4;

/// Every number that a child's descriptors are placed at is below this.
pub(super) const ABOVE_CHILDS_FDS: RawFd = 8;

/// From here on numbers are walls that are not there; below are steps that failed.
const MISSING: u8 = 128;

/// A number and an errno.
const REPORT_BYTES: usize = 5;

/// What runs a script without `#!`, as execvp(3) does.
const SHELL: &str = "/bin/sh";

/// A child between fork and exec.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) root: ProcessId,
    pub(super) fds: TerminalFds,
    pub(super) tty: Option<u32>,
    pub(super) error_pipe: OwnedFd,
    pub(super) enforced: Enforced,
    pub(super) gate: Gate,
}

/// What an error pipe says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing yet.
    Pending,
    /// execve(2) succeeded.
    Started,
    /// A step failed; the child has exited or is about to.
    Failed(SpawnFailure),
}

/// Whether a variable is the service manager's word to the daemon, and none of a child's business.
pub(super) fn is_daemons_own(name: &[u8]) -> bool {
    name.starts_with(b"LISTEN_")
        || name.starts_with(b"WATCHDOG_")
        || matches!(
            name,
            b"NOTIFY_SOCKET" | b"INVOCATION_ID" | b"JOURNAL_STREAM"
        )
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
    let passed = Passed {
        error_pipe: child_error_pipe.as_raw_fd(),
        gate: child_gate.as_ref().map(AsRawFd::as_raw_fd),
        hold: request.hold,
    };

    let pid = match sys::fork().map_err(failed(SpawnStep::Fork))? {
        Forked::Child => command.run(&childs, passed, &mut plan, open_files),
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

/// Writes one report, from the child.
fn report(number: u8, errno: i32) {
    let mut report = [0; REPORT_BYTES];
    report[0] = number;
    report[1..].copy_from_slice(&errno.to_le_bytes());
    // Where the keeper is gone there is nobody to tell.
    let _ = rustix::io::write(sys::childs_own(CHILD_ERROR_FD), &report);
}

/// What a child is passed beside its three, by the numbers that it is born with.
#[derive(Debug, Clone, Copy)]
struct Passed {
    error_pipe: RawFd,
    /// What it waits at to be let go.
    gate: Option<RawFd>,
    /// Where it does.
    hold: Hold,
}

/// Everything that the child needs, made before the fork.
struct Command {
    program: CString,
    argv: ExecStrings,
    /// argv as execvp(3) gives it to the shell where the program is a script without `#!`.
    shell: CString,
    shell_argv: ExecStrings,
    env: ExecStrings,
    cwd: CString,
}

impl Command {
    fn new(request: &SpawnRequest) -> Result<Self, SpawnFailure> {
        let text = |step, bytes: &[u8]| {
            CString::new(bytes).map_err(|_| SpawnFailure {
                step,
                errno: libc::EINVAL,
            })
        };
        let exec = |bytes: &[u8]| text(SpawnStep::Exec, bytes);
        let program = exec(&request.program)?;
        let argv = request
            .argv
            .iter()
            .map(|argument| exec(argument))
            .collect::<Result<Vec<_>, _>>()?;
        let shell = exec(SHELL.as_bytes())?;
        let shell_argv = [shell.clone(), program.clone()]
            .into_iter()
            .chain(argv.iter().skip(1).cloned())
            .collect();
        let mark = format!("{TERMINAL_VARIABLE}={}", request.id);
        // First, so that the search for it is short.
        let env = std::iter::once(exec(mark.as_bytes()))
            .chain(childs_own(&request.env).map(exec))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            program,
            argv: ExecStrings::new(argv),
            shell,
            shell_argv: ExecStrings::new(shell_argv),
            env: ExecStrings::new(env),
            cwd: text(SpawnStep::Chdir, &request.cwd)?,
        })
    }

    /// The child's side; it never returns.
    fn run(&self, ends: &ChildEnds, passed: Passed, plan: &mut Plan, open_files: Rlimit) -> ! {
        let (step, errno) = self.try_run(ends, passed, plan, open_files);
        report(step.number(), errno);
        sys::exit_child(127);
    }

    fn try_run(
        &self,
        ends: &ChildEnds,
        passed: Passed,
        plan: &mut Plan,
        open_files: Rlimit,
    ) -> (SpawnStep, i32) {
        // What the keeper blocks stays blocked until just before exec, so that only SIGKILL ends a
        // child that has not said how its start went.
        if let Err(failure) = Self::take_ends(ends, passed) {
            return failure;
        }
        if passed.hold == Hold::BeforeWalls
            && let Err(errno) = hold::wait_at(CHILD_GATE_FD, LONGEST_HOLD)
        {
            return (SpawnStep::Hold, errno);
        }
        let missed = |missing: MissingWall| report(MISSING + missing.wall.number(), missing.errno);
        if let Err(failure) = plan.apply(&self.cwd, open_files, &missed) {
            return failure;
        }
        // Blocked as they are, they do nothing yet; and what is done while it is held costs no time.
        sys::default_dispositions();
        if passed.hold == Hold::BeforeExec
            && let Err(errno) = hold::wait_at(CHILD_GATE_FD, LONGEST_HOLD)
        {
            return (SpawnStep::Hold, errno);
        }
        sys::unblock_signals();
        let errno = sys::execute(&self.program, &self.argv, &self.env);
        if errno != libc::ENOEXEC {
            return (SpawnStep::Exec, errno);
        }
        let errno = sys::execute(&self.shell, &self.shell_argv, &self.env);
        (SpawnStep::Exec, errno)
    }

    /// Leaves 0, 1 and 2 on what the command is to have, the error pipe as 3, the gate of one that
    /// is held as 4, and nothing else open.
    fn take_ends(ends: &ChildEnds, passed: Passed) -> Result<(), (SpawnStep, i32)> {
        let failed = |errno| (SpawnStep::Session, errno);
        // Rust's runtime keeps 0 to 2 open, so none of these can be one of them; one may be 3.
        let three = match ends {
            ChildEnds::Pty { slave } => [slave; 3],
            ChildEnds::Pipes {
                stdin,
                stdout,
                stderr,
            } => [stdin, stdout, stderr],
        };
        for (number, end) in (0..).zip(three) {
            sys::place_fd(end.as_raw_fd(), number).map_err(failed)?;
        }
        sys::place_fd(passed.error_pipe, CHILD_ERROR_FD).map_err(failed)?;
        match passed.gate {
            Some(gate) => {
                sys::place_fd(gate, CHILD_GATE_FD).map_err(failed)?;
                sys::close_from(CHILD_GATE_FD + 1);
            }
            None => sys::close_from(CHILD_ERROR_FD + 1),
        }
        let pipe = sys::adopt_fd(CHILD_ERROR_FD)
            .map_err(|error| failed(error.raw_os_error().unwrap_or(libc::EBADF)))?;
        // Kept open for reports; exec closes it.
        std::mem::forget(pipe);
        match ends {
            ChildEnds::Pty { .. } => sys::lead_session_on(0),
            ChildEnds::Pipes { .. } => sys::lead_session(),
        }
        .map_err(failed)
    }
}

/// The environment without the daemon's own variables and another terminal's mark.
fn childs_own(env: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
    env.iter().map(Vec::as_slice).filter(|variable| {
        let name = variable
            .split(|&byte| byte == b'=')
            .next()
            .unwrap_or(variable);
        name != TERMINAL_VARIABLE.as_bytes() && !is_daemons_own(name)
    })
}

#[cfg(test)]
mod tests {
    use rustix::pipe::PipeFlags;
    use termd_proto::terminal::Stdio;

    use super::*;

    #[test]
    fn the_daemons_variables_and_an_older_mark_are_scrubbed() {
        let env: Vec<Vec<u8>> = [
            "PATH=/bin",
            "NOTIFY_SOCKET=/run/x",
            "LISTEN_FDS=1",
            "LISTEN_PID=2",
            "LISTEN_FDNAMES=a",
            "WATCHDOG_USEC=3",
            "WATCHDOG_PID=3",
            "INVOCATION_ID=4",
            "JOURNAL_STREAM=5:6",
            "TERMD_TERMINAL=term_aaaaaaaaaaaa",
            "TERMD_SOCKET=/x",
            "NOTIFY_SOCKETS=mine",
            "EMPTY=",
            "NOEQUALS",
        ]
        .iter()
        .map(|variable| variable.as_bytes().to_vec())
        .collect();
        let kept: Vec<&[u8]> = childs_own(&env).collect();
        let expected: [&[u8]; 5] = [
            b"PATH=/bin",
            b"TERMD_SOCKET=/x",
            b"NOTIFY_SOCKETS=mine",
            b"EMPTY=",
            b"NOEQUALS",
        ];
        assert_eq!(kept, expected);
    }

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

    #[test]
    fn a_nul_byte_is_refused_before_the_fork() {
        let request = SpawnRequest {
            argv: vec![b"true\0".to_vec()],
            ..SpawnRequest::of_true(Stdio::Pty)
        };
        let failure = Command::new(&request).err();
        let expected = SpawnFailure {
            step: SpawnStep::Exec,
            errno: libc::EINVAL,
        };
        assert_eq!(failure, Some(expected));
    }
}
