//! Forks a terminal's command.
//!
//! Every descriptor is close-on-exec before anything can fork. The keeper polls the error pipe and
//! never waits for it: a chdir to a dead file server must not stop the keeper.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::Rlimit;
use termd_proto::TerminalId;

use super::bubblewrap::LauncherInput;
use super::child::{Child, PassedFds};
use super::child_fds::FIRST_FREE;
use super::command::Command;
use super::command_process::CommandProcess;
use super::exec_gate::ExecGate;
use super::inherited::InheritedFds;
use super::pending_start::PendingStart;
use super::stdio::{StdioPair, outward_pipe};
use crate::cgroup::{self, Delegation};
use crate::confine::{DaemonDirs, Plan};
use crate::process_tree::start_time;
use crate::protocol::confinement::Enforced;
use crate::protocol::message::{ProcessId, SpawnFailure, SpawnRequest, SpawnStep, TerminalFds};
use crate::sys::{self, Forked, Unreaped};

/// A command that was forked.
#[derive(Debug)]
pub(crate) struct Launched {
    /// The forked process; the command's, unless bubblewrap builds the sandbox.
    pub(crate) root: ProcessId,
    pub(crate) fds: TerminalFds,
    /// The device number of the PTY, where there is one.
    pub(crate) tty: Option<u32>,
    /// The cgroup that was made for it, where systemd has delegated one to the daemon.
    pub(crate) cgroup: Option<PathBuf>,
    /// What the command is held to if every step succeeds.
    pub(crate) enforced: Enforced,
    pub(crate) start: PendingStart,
}

/// Forks commands.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// The limit on open files that children get back.
    open_files: Rlimit,
    dirs: DaemonDirs,
    delegation: Option<Delegation>,
}

impl Launcher {
    pub(crate) fn new(
        open_files: Rlimit,
        dirs: DaemonDirs,
        delegation: Option<Delegation>,
    ) -> Self {
        Self {
            open_files,
            dirs,
            delegation,
        }
    }

    /// Forks the command of a request. `sent` are the descriptors beside it: what a file operation writes,
    /// or what the command inherits.
    pub(crate) fn launch(
        &self,
        request: &SpawnRequest,
        sent: Vec<OwnedFd>,
    ) -> Result<Launched, SpawnFailure> {
        let (content, inherited) = match &request.file {
            Some(_) => (sent.into_iter().next(), InheritedFds::default()),
            None => (None, InheritedFds::new(request, sent)?),
        };
        let content = content.map(|fd| rustix::io::fcntl_dupfd_cloexec(fd, FIRST_FREE));
        let content = content
            .transpose()
            .map_err(|errno| SpawnStep::Pipe.failed(errno))?;
        let command = Command::new(request)?;
        let StdioPair { fds, child, tty } = StdioPair::open(request, inherited.stdin)?;
        let (error_pipe, child_error_pipe) = outward_pipe()?;
        let (gate, child_gate) = if request.pause.is_some() {
            let (gate, child_gate) = ExecGate::closed()?;
            (gate, Some(child_gate))
        } else {
            (ExecGate::Open, None)
        };
        let plan = Plan::new(&request.confinement, &self.dirs, tty)?;
        let enforced = plan.enforced().clone();
        let (command_process, builder_fds) = CommandProcess::new(&plan)?;
        let mut forked = Child {
            command,
            stdio: child,
            fds: PassedFds {
                error_pipe: child_error_pipe,
                exec_gate: child_gate,
                content,
                inherited: inherited.others,
                builder: builder_fds,
            },
            plan,
            launcher_input: LauncherInput {
                request,
                dirs: &self.dirs,
                open_files: self.open_files,
            },
        };
        let (side, cgroup) =
            (self.fork(&request.id)).map_err(|errno| SpawnStep::Fork.failed(errno))?;
        let pid = match side {
            Forked::Child => forked.run(),
            Forked::Parent(pid) => pid,
        };
        // An unreaped child has an entry in /proc, unless /proc itself is missing.
        let Some(start_time) = start_time(pid) else {
            sys::kill_unreaped(Unreaped::Child(pid), nix::libc::SIGKILL);
            return Err(SpawnStep::Fork.failed(Errno::NOENT));
        };
        Ok(Launched {
            root: ProcessId { pid, start_time },
            fds,
            tty,
            cgroup,
            enforced,
            start: PendingStart::new(error_pipe, gate, command_process),
        })
    }

    /// Forks, into a cgroup of the terminal's own where one can be had. Without one its processes are
    /// found by other evidence, and the server finds that limits of a cgroup do not hold.
    fn fork(&self, id: &TerminalId) -> Result<(Forked, Option<PathBuf>), Errno> {
        if let Some(delegation) = &self.delegation
            && let Ok((cgroup, fd)) = delegation.create(id)
        {
            match sys::fork_into_cgroup(fd.as_fd()) {
                Ok(side) => return Ok((side, Some(cgroup))),
                Err(_) => _ = cgroup::remove(&cgroup),
            }
        }
        Ok((sys::fork()?, None))
    }
}
