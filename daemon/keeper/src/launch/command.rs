//! A command as execve(2) takes it, and the last steps to its exec.

use std::ffi::{CStr, CString};

use rustix::io::Errno;
use rustix::process::Rlimit;
use termd_proto::terminal::Stdio;

use super::child_fds::{CONTENT, ERROR_PIPE, EXEC_GATE};
use super::error_pipe::report_missing;
use super::exec_gate;
use super::inherited::InheritedState;
use crate::confine::{MountBuilder, Plan};
use crate::file_operation::FileTask;
use crate::protocol::exec_gate::MAX_EXEC_PAUSE;
use crate::protocol::message::{
    PausePoint, SpawnFailure, SpawnRequest, SpawnStep, TERMINAL_VARIABLE,
};
use crate::sys::{self, ExecStrings};

/// Runs a script without `#!`, as execvp(3) does.
const SHELL: &CStr = c"/bin/sh";

/// A command, with everything that its exec needs prepared before the fork.
pub(super) struct Command {
    program: CString,
    argv: ExecStrings,
    shell_argv: ExecStrings,
    env: ExecStrings,
    cwd: CString,
    pause: Option<PausePoint>,
    stdio: Stdio,
    inherited: InheritedState,
    /// What is done in place of the exec.
    file: Option<FileTask>,
}

impl Command {
    /// Fails with EINVAL where a string has a NUL in it.
    pub(super) fn new(request: &SpawnRequest) -> Result<Self, SpawnFailure> {
        let text = |step: SpawnStep, bytes: &[u8]| {
            CString::new(bytes).map_err(|_| step.failed(Errno::INVAL))
        };
        let exec = |bytes: &[u8]| text(SpawnStep::Exec, bytes);
        let program = exec(&request.program)?;
        let argv = (request.argv.iter())
            .map(|argument| exec(argument))
            .collect::<Result<Vec<_>, _>>()?;
        let shell_argv = [SHELL.to_owned(), program.clone()]
            .into_iter()
            .chain(argv.iter().skip(1).cloned())
            .collect();
        // The mark comes first, so that a search for it is short.
        let env = std::iter::once(exec(mark(request).as_bytes()))
            .chain(inherited_variables(&request.env).map(exec))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            program,
            argv: ExecStrings::new(argv),
            shell_argv: ExecStrings::new(shell_argv),
            env: ExecStrings::new(env),
            cwd: text(SpawnStep::Chdir, &request.cwd)?,
            pause: request.pause,
            stdio: request.stdio,
            inherited: InheritedState::new(&request.inherited),
            file: FileTask::new(request),
        })
    }

    /// Confines this process and executes the command. Returns only when a step failed.
    pub(super) fn confine_and_exec(
        &self,
        mounts: MountBuilder<'_>,
        plan: &mut Plan,
        open_files: Rlimit,
    ) -> SpawnFailure {
        let set_attributes = || self.inherited.set_attributes();
        let applied = plan.apply(
            mounts,
            &self.cwd,
            open_files,
            set_attributes,
            &report_missing,
        );
        if let Err(failure) = applied {
            return failure;
        }
        // All signals are still blocked. Work done before the pause costs no time after it.
        sys::default_dispositions();
        if let Err(failure) = self.wait_at_gate(PausePoint::BeforeExec) {
            return failure;
        }
        self.inherited.set_signals();
        if let Some(file) = &self.file {
            // The keeper takes the pipe's end for a successful exec.
            sys::close_one(ERROR_PIPE);
            file.run(CONTENT);
        }
        let mut errno = sys::execute(&self.program, &self.argv, &self.env);
        if errno == Errno::NOEXEC {
            errno = sys::execute(SHELL, &self.shell_argv, &self.env);
        }
        SpawnStep::Exec.failed(errno)
    }

    /// Waits to be released, where the command is paused at this point.
    pub(super) fn wait_at_gate(&self, at: PausePoint) -> Result<(), SpawnFailure> {
        if self.pause != Some(at) {
            return Ok(());
        }
        exec_gate::wait_at(EXEC_GATE, MAX_EXEC_PAUSE)
            .map_err(|errno| SpawnStep::ExecGate.failed(errno))
    }

    /// Makes this process lead a session, with the PTY as its terminal where there is one.
    pub(super) fn lead_session(&self) -> Result<(), SpawnFailure> {
        rustix::process::setsid().map_err(|errno| SpawnStep::Session.failed(errno))?;
        self.take_terminal()
    }

    /// Makes the PTY, where there is one, the terminal of the session that this process leads.
    pub(super) fn take_terminal(&self) -> Result<(), SpawnFailure> {
        match self.stdio {
            Stdio::Pty => rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())
                .map_err(|errno| SpawnStep::Session.failed(errno)),
            Stdio::Pipes => Ok(()),
        }
    }
}

/// The variable that marks a terminal's processes, with its value.
pub(super) fn mark(request: &SpawnRequest) -> String {
    format!("{TERMINAL_VARIABLE}={}", request.id)
}

/// Whether the service manager addresses this variable to the daemon alone.
fn is_for_the_daemon(name: &[u8]) -> bool {
    name.starts_with(b"LISTEN_")
        || name.starts_with(b"WATCHDOG_")
        || matches!(
            name,
            b"NOTIFY_SOCKET" | b"INVOCATION_ID" | b"JOURNAL_STREAM"
        )
}

/// The environment without the daemon's variables and without another terminal's mark.
fn inherited_variables(env: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
    env.iter().map(Vec::as_slice).filter(|variable| {
        let name = variable
            .split(|&byte| byte == b'=')
            .next()
            .unwrap_or(variable);
        name != TERMINAL_VARIABLE.as_bytes() && !is_for_the_daemon(name)
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
        let kept: Vec<&[u8]> = inherited_variables(&env).collect();
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
        let expected = SpawnStep::Exec.failed(Errno::INVAL);
        assert_eq!(failure, Some(expected));
    }
}
