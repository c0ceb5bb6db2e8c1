//! The forked child, up to its confinement or to the exec of bubblewrap.
//!
//! Each failed step is reported on the error pipe, and so is each restriction that the command runs
//! without.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use termd_proto::terminal::MAX_INHERITED_FD;

use super::bubblewrap::{self, LauncherInput};
use super::child_fds::{BUILDER_STDERR, CONTENT, EXEC_GATE, FIRST_FREE, HANDOVER_GATE};
use super::command::Command;
use super::command_process::BuilderFds;
use super::error_pipe::{self, exit_with, report_missing};
use super::pid_namespace;
use super::stdio::ChildStdio;
use crate::confine::{MountBuilder, PidNamespace, Plan};
use crate::protocol::confinement::Builder;
use crate::protocol::message::{PausePoint, SpawnFailure, SpawnStep};
use crate::sys;

/// The descriptors that a child is born with beside its standard three.
pub(super) struct PassedFds {
    pub(super) error_pipe: OwnedFd,
    pub(super) exec_gate: Option<OwnedFd>,
    pub(super) content: Option<OwnedFd>,
    pub(super) builder: Option<BuilderFds>,
    /// What the command inherits, with their numbers.
    pub(super) inherited: Vec<(OwnedFd, RawFd)>,
}

/// Everything that the child needs, prepared before the fork.
pub(super) struct Child<'a> {
    pub(super) command: Command,
    pub(super) stdio: ChildStdio,
    pub(super) fds: PassedFds,
    pub(super) plan: Plan,
    pub(super) launcher_input: LauncherInput<'a>,
}

impl Child<'_> {
    /// Becomes the command or reports why not. Only in the forked child.
    ///
    /// The keeper's blocked signals stay blocked until just before the exec, so that only SIGKILL
    /// ends a child that has not reported yet.
    pub(super) fn run(&mut self) -> ! {
        exit_with(match self.prepare() {
            Err(failure) => failure,
            Ok(mounts) => {
                let open_files = self.launcher_input.open_files;
                (self.command).confine_and_exec(mounts, &mut self.plan, open_files)
            }
        });
    }

    /// Everything before the confinement. Does not return when bubblewrap is executed.
    fn prepare(&mut self) -> Result<MountBuilder<'static>, SpawnFailure> {
        self.place_fds()
            .map_err(|errno| SpawnStep::Session.failed(errno))?;
        match self.plan.builder() {
            Builder::Termd => {
                // Another process may become the command. The terminal is for its session.
                rustix::process::setsid().map_err(|errno| SpawnStep::Session.failed(errno))?;
                self.command.wait_at_gate(PausePoint::BeforeConfinement)?;
                match self.plan.enter_namespaces(&report_missing)? {
                    PidNamespace::Shared => self.command.take_terminal()?,
                    PidNamespace::New => {
                        pid_namespace::fork_command(&self.plan)?;
                        self.command.lead_session()?;
                    }
                }
                Ok(MountBuilder::ThisProcess)
            }
            Builder::Bubblewrap => {
                // The terminal is for the command's session, which is another one.
                rustix::process::setsid().map_err(|errno| SpawnStep::Session.failed(errno))?;
                self.command.wait_at_gate(PausePoint::BeforeConfinement)?;
                let errno = bubblewrap::execute(&self.plan, &self.launcher_input)?;
                let mounts = self.plan.without_bubblewrap(errno)?;
                self.command.take_terminal()?;
                Ok(mounts)
            }
        }
    }

    /// Places the command's standard three and the passed descriptors, and closes everything else.
    fn place_fds(&self) -> Result<(), Errno> {
        // Rust's runtime keeps 0 to 2 open, so none of these descriptors is one of them.
        for (number, fd) in (0..).zip(self.stdio.standard_three()) {
            sys::place_fd(fd.as_raw_fd(), number)?;
        }
        error_pipe::place(self.fds.error_pipe.as_raw_fd())?;
        let builder = self.fds.builder.as_ref();
        let raw = |fd: &OwnedFd| -> RawFd { fd.as_raw_fd() };
        for (fd, number) in [
            (self.fds.exec_gate.as_ref().map(raw), EXEC_GATE),
            (self.fds.content.as_ref().map(raw), CONTENT),
            (builder.map(|fds| raw(&fds.handover_gate)), HANDOVER_GATE),
            (builder.map(|fds| raw(&fds.stderr)), BUILDER_STDERR),
        ] {
            match fd {
                Some(fd) => sys::place_fd(fd, number)?,
                None => sys::close_one(number),
            }
        }
        sys::close_between(sys::FIRST_PASSED_FD, MAX_INHERITED_FD);
        for (fd, number) in &self.fds.inherited {
            sys::place_fd(fd.as_raw_fd(), *number)?;
        }
        sys::close_from(FIRST_FREE);
        error_pipe::close_on_exec()
    }
}
