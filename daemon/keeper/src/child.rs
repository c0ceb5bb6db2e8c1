//! The child's side of a start: from fork to the exec of its command, or of who builds its sandbox.
//!
//! Each step that fails is reported on the error pipe with its errno, and so is each wall that the
//! command has to do without; exec closes the pipe. It must not know what the keeper makes of that.

use std::ffi::CString;
use std::os::fd::{AsRawFd, RawFd};

use nix::libc;
use rustix::process::Rlimit;
use termd_proto::terminal::Stdio;

use super::builder;
use super::confine::{Built, Failure, Plan};
use super::ends::ChildEnds;
use super::exec_gate;
use super::sys::{self, ExecStrings};
use crate::protocol::confinement::{Builder, MissingWall};
use crate::protocol::exec_gate::LONGEST_HOLD;
use crate::protocol::message::{Hold, SpawnFailure, SpawnRequest, SpawnStep, TERMINAL_VARIABLE};

/// Where the child's end of the error pipe is while it prepares; everything above is closed.
const ERROR_FD: RawFd = 3;
/// Where a held child waits to be let go.
const GATE_FD: RawFd = 4;
/// Where one whose sandbox somebody else builds waits until that one is gone.
pub(super) const HANDOVER_FD: RawFd = 5;
/// What that one says.
pub(super) const SAID_FD: RawFd = 6;
/// The first number that nothing has when the ends are taken.
pub(super) const FIRST_FREE_FD: RawFd = 7;

/// Every number that a child's descriptors are placed at is below this.
pub(super) const ABOVE_CHILDS_FDS: RawFd = 8;

/// From here on numbers are walls that are not there; below are steps that failed.
pub(super) const MISSING: u8 = 128;
/// A number that is neither a step's nor a wall's: the errno is the pid of the process that becomes
/// the command.
pub(super) const HANDED_OVER: u8 = 63;
/// A number and an errno.
pub(super) const REPORT_BYTES: usize = 5;

/// What runs a script without `#!`, as execvp(3) does.
const SHELL: &str = "/bin/sh";

/// Writes one report, from the child.
pub(super) fn report(number: u8, errno: i32) {
    let mut report = [0; REPORT_BYTES];
    report[0] = number;
    report[1..].copy_from_slice(&errno.to_le_bytes());
    // Where the keeper is gone there is nobody to tell.
    let _ = rustix::io::write(sys::childs_own(ERROR_FD), &report);
}

/// Reports a wall that the command has to do without.
pub(super) fn missed(missing: MissingWall) {
    report(MISSING + missing.wall.number(), missing.errno);
}

/// Reports the step that failed, and ends.
pub(super) fn fail((step, errno): Failure) -> ! {
    report(step.number(), errno);
    sys::exit_child(127);
}

/// Takes the error pipe, from whoever was before in this process: exec closes it.
pub(super) fn take_error_pipe() -> Result<(), i32> {
    let pipe =
        sys::adopt_fd(ERROR_FD).map_err(|error| error.raw_os_error().unwrap_or(libc::EBADF))?;
    // Kept open for reports.
    std::mem::forget(pipe);
    Ok(())
}

/// Lets the error pipe live through an exec.
pub(super) fn pass_error_pipe() -> Result<(), i32> {
    sys::place_fd(ERROR_FD, ERROR_FD)
}

/// What a child is passed beside its three, by the numbers that it is born with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    pub(super) error_pipe: RawFd,
    /// What it waits at to be let go.
    pub(super) gate: Option<RawFd>,
    /// What it waits at until who built its sandbox is gone, and what that one's stderr is.
    pub(super) handover: Option<[RawFd; 2]>,
}

/// Everything that the child needs, made before the fork.
pub(super) struct Command {
    program: CString,
    argv: ExecStrings,
    /// argv as execvp(3) gives it to the shell where the program is a script without `#!`.
    shell: CString,
    shell_argv: ExecStrings,
    env: ExecStrings,
    cwd: CString,
    hold: Hold,
    stdio: Stdio,
}

impl Command {
    pub(super) fn new(request: &SpawnRequest) -> Result<Self, SpawnFailure> {
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
        // First, so that the search for it is short.
        let env = std::iter::once(exec(mark(request).as_bytes()))
            .chain(childs_own(&request.env).map(exec))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            program,
            argv: ExecStrings::new(argv),
            shell,
            shell_argv: ExecStrings::new(shell_argv),
            env: ExecStrings::new(env),
            cwd: text(SpawnStep::Chdir, &request.cwd)?,
            hold: request.hold,
            stdio: request.stdio,
        })
    }

    /// The child's side; it never returns. `orders` are for who goes on behind a builder.
    pub(super) fn run(
        &self,
        ends: &ChildEnds,
        passed: Passed,
        plan: &mut Plan,
        open_files: Rlimit,
        orders: &builder::Orders<'_>,
    ) -> ! {
        // What the keeper blocks stays blocked until just before exec, so that only SIGKILL ends a
        // child that has not said how its start went.
        fail(match self.prepare(ends, passed, plan, orders) {
            Err(failure) => failure,
            Ok(built) => self.go_on(built, plan, open_files),
        });
    }

    /// Up to the walls. It does not return where somebody else builds them.
    fn prepare(
        &self,
        ends: &ChildEnds,
        passed: Passed,
        plan: &Plan,
        orders: &builder::Orders<'_>,
    ) -> Result<Built<'static>, Failure> {
        let session = |errno| (SpawnStep::Session, errno);
        Self::take_ends(ends, passed)?;
        match plan.builder() {
            Builder::Termd => {
                self.lead_session()?;
                self.wait_for(Hold::BeforeWalls)?;
                Ok(Built::Here)
            }
            Builder::Bubblewrap => {
                // The terminal is for the command's own session, which is not this one.
                sys::lead_session().map_err(session)?;
                self.wait_for(Hold::BeforeWalls)?;
                let errno = builder::become_bubblewrap(plan, orders)?;
                let built = plan.without_builder(errno)?;
                match self.stdio {
                    Stdio::Pty => sys::take_terminal(0).map_err(session)?,
                    Stdio::Pipes => {}
                }
                Ok(built)
            }
        }
    }

    /// From the walls to the exec; why not.
    pub(super) fn go_on(&self, built: Built<'_>, plan: &mut Plan, open_files: Rlimit) -> Failure {
        if let Err(failure) = plan.apply(built, &self.cwd, open_files, &missed) {
            return failure;
        }
        // Blocked as they are, they do nothing yet; and what is done while it is held costs no time.
        sys::default_dispositions();
        if let Err(failure) = self.wait_for(Hold::BeforeExec) {
            return failure;
        }
        sys::unblock_signals();
        let errno = sys::execute(&self.program, &self.argv, &self.env);
        if errno != libc::ENOEXEC {
            return (SpawnStep::Exec, errno);
        }
        let errno = sys::execute(&self.shell, &self.shell_argv, &self.env);
        (SpawnStep::Exec, errno)
    }

    /// Waits to be let go, where it is held there.
    fn wait_for(&self, hold: Hold) -> Result<(), Failure> {
        if self.hold != hold {
            return Ok(());
        }
        exec_gate::wait_at(GATE_FD, LONGEST_HOLD).map_err(|errno| (SpawnStep::Hold, errno))
    }

    /// Leads a session, on the terminal where 0 is one.
    pub(super) fn lead_session(&self) -> Result<(), Failure> {
        match self.stdio {
            Stdio::Pty => sys::lead_session_on(0),
            Stdio::Pipes => sys::lead_session(),
        }
        .map_err(|errno| (SpawnStep::Session, errno))
    }

    /// Leaves 0, 1 and 2 on what the command is to have, what is passed on its numbers, and nothing
    /// else open.
    fn take_ends(ends: &ChildEnds, passed: Passed) -> Result<(), Failure> {
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
        sys::place_fd(passed.error_pipe, ERROR_FD).map_err(failed)?;
        let [handover, said] = passed.handover.map_or([None; 2], |both| both.map(Some));
        for (fd, number) in [
            (passed.gate, GATE_FD),
            (handover, HANDOVER_FD),
            (said, SAID_FD),
        ] {
            match fd {
                Some(fd) => sys::place_fd(fd, number).map_err(failed)?,
                None => sys::close_one(number),
            }
        }
        sys::close_from(FIRST_FREE_FD);
        take_error_pipe().map_err(failed)
    }
}

/// What marks a terminal's processes, as a variable.
pub(super) fn mark(request: &SpawnRequest) -> String {
    format!("{TERMINAL_VARIABLE}={}", request.id)
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
    fn a_nul_byte_is_refused_before_the_fork() {
        let request = SpawnRequest {
            argv: vec![b"true\0".to_vec()],
            ..SpawnRequest::bare(
                termd_proto::TerminalId::from_random(1),
                "/bin/true",
                Stdio::Pty,
            )
        };
        let failure = Command::new(&request).err();
        let expected = SpawnFailure {
            step: SpawnStep::Exec,
            errno: libc::EINVAL,
        };
        assert_eq!(failure, Some(expected));
    }
}
