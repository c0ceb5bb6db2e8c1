//! A start between fork and exec, as the keeper follows it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::command_process::{self, CommandProcess};
use super::error_pipe::{self, Report};
use super::exec_gate::ExecGate;
use crate::protocol::confinement::Enforced;
use crate::protocol::message::{ProcessId, SpawnFailure, WaitStatus};

/// How far a start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Neither executed nor failed yet.
    Pending,
    /// The command runs, or ended with this status before anybody looked.
    Executed(Option<WaitStatus>),
    Failed(SpawnFailure),
}

/// A start whose exec has not been seen yet.
#[derive(Debug)]
pub(crate) struct PendingStart {
    /// The read end, non-blocking.
    error_pipe: OwnedFd,
    gate: ExecGate,
    command: CommandProcess,
    init: Option<ProcessId>,
}

impl PendingStart {
    pub(super) fn new(error_pipe: OwnedFd, gate: ExecGate, command: CommandProcess) -> Self {
        Self {
            error_pipe,
            gate,
            command,
            init: None,
        }
    }

    /// Reads what the child has reported. `root` changes when another process becomes the command.
    pub(crate) fn poll(&mut self, root: &mut ProcessId, enforced: &mut Enforced) -> Progress {
        loop {
            return match error_pipe::read(&self.error_pipe, enforced) {
                Report::Pending => Progress::Pending,
                Report::Failed(failure) => Progress::Failed(failure),
                Report::InitPid(pid) => {
                    self.init = command_process::child_of_keeper(pid);
                    continue;
                }
                Report::CommandPid(pid) => match self.command.announced(*root, pid) {
                    Ok(command) => {
                        *root = command;
                        continue;
                    }
                    Err(failure) => Progress::Failed(failure),
                },
                Report::Executed => match self.command.executed(enforced) {
                    Ok(status) => Progress::Executed(status),
                    Err(failure) => Progress::Failed(failure),
                },
            };
        }
    }

    /// Whether the command waits to be released.
    pub(crate) fn is_paused(&self) -> bool {
        self.gate.is_closed()
    }

    pub(crate) fn release(&mut self) {
        self.gate.release();
    }

    /// Makes a paused command exit. No effect on any other.
    pub(crate) fn cancel(&mut self) {
        self.gate.cancel();
    }

    /// The init of the command's PID namespace, once it is reported.
    pub(crate) fn init(&self) -> Option<ProcessId> {
        self.init
    }

    /// Whether a process behind bubblewrap, which is the root, may become the command.
    pub(crate) fn is_behind_bubblewrap(&self) -> bool {
        self.command.is_behind_bubblewrap()
    }

    /// Whether another process than the root may become the command.
    pub(crate) fn awaits_announcement(&self) -> bool {
        self.command.awaits_announcement()
    }

    /// Whether the root is a child of the keeper that was not reaped, unless the terminal has its
    /// status.
    pub(crate) fn has_unreaped_root(&self) -> bool {
        self.command.has_unreaped_root()
    }

    /// The root was reaped. Whether it was not the command.
    pub(crate) fn root_reaped(&mut self, status: WaitStatus) -> bool {
        self.command.root_reaped(status)
    }

    /// A child that is no root was reaped. Whether it was this start's bubblewrap.
    pub(crate) fn child_reaped(&mut self, pid: i32) -> bool {
        self.command.child_reaped(pid)
    }

    /// bubblewrap's error message, if it wrote one.
    pub(crate) fn builder_stderr(&self) -> Option<Vec<u8>> {
        self.command.builder_stderr()
    }
}

impl AsFd for PendingStart {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.error_pipe.as_fd()
    }
}
