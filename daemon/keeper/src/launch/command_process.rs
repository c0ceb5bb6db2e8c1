//! Which process becomes a terminal's command, between fork and exec.
//!
//! Usually it is the forked child. Where bubblewrap builds the sandbox, the child executes
//! bubblewrap and a process behind it becomes the command. When that process has announced itself,
//! the keeper kills bubblewrap and releases the process once bubblewrap is reaped. As subreaper the
//! keeper is then its parent and reaps it itself. In a PID namespace the child forks the command as
//! another child of the keeper, and exits.
//!
//! ```text
//! Forked
//! BeforePidNamespace ─ announced ─▶ Forked
//!                    ─ reaped ─▶ BeforePidNamespace, ended ─ announced ─▶ Forked
//! BehindBubblewrap ─ announced ─▶ BubblewrapKilled ─ reaped ─▶ Forked
//!                  ─ reaped ─▶ BehindBubblewrap, ended ─ announced ─▶ Forked
//! ```

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::child_fds::FIRST_FREE;
use super::exec_gate::ExecGate;
use super::stdio::outward_pipe;
use crate::confine::Plan;
use crate::process_tree::read_process;
use crate::protocol::confinement::{Builder, Enforced, Restriction};
use crate::protocol::message::{ProcessId, SpawnFailure, SpawnStep, WaitStatus};
use crate::sys::{self, Unreaped};

/// How much of bubblewrap's standard error is kept; it writes one line.
const MAX_BUILDER_STDERR: usize = 4096;

/// Which process becomes the command.
#[derive(Debug)]
pub(super) enum CommandProcess {
    /// The root.
    Forked,
    /// A child of the keeper that the root forks. It has not announced itself yet.
    BeforePidNamespace {
        /// The root's end, once it is reaped.
        ended: Option<WaitStatus>,
    },
    /// A process behind the root, which is bubblewrap. It has not announced itself yet.
    BehindBubblewrap {
        /// The gate at which it will wait.
        gate: ExecGate,
        /// The reading end of bubblewrap's standard error; non-blocking.
        stderr: OwnedFd,
        /// bubblewrap's end, once it is reaped; a process behind it may live on.
        ended: Option<WaitStatus>,
    },
    /// The root, which waits until its bubblewrap is reaped.
    BubblewrapKilled { builder: i32, gate: ExecGate },
}

/// What bubblewrap and the process behind it inherit.
pub(super) struct BuilderFds {
    pub(super) handover_gate: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl CommandProcess {
    pub(super) fn new(plan: &Plan) -> Result<(Self, Option<BuilderFds>), SpawnFailure> {
        match plan.builder() {
            Builder::Termd if plan.may_enter_pid_namespace() => {
                Ok((Self::BeforePidNamespace { ended: None }, None))
            }
            Builder::Termd => Ok((Self::Forked, None)),
            Builder::Bubblewrap => Self::behind_bubblewrap(),
        }
    }

    fn behind_bubblewrap() -> Result<(Self, Option<BuilderFds>), SpawnFailure> {
        let (gate, handover_gate) = ExecGate::closed()?;
        let (stderr, child_stderr) = outward_pipe()?;
        let child_stderr = rustix::io::fcntl_dupfd_cloexec(child_stderr, FIRST_FREE)
            .map_err(|errno| SpawnStep::Pipe.failed(errno))?;
        let command = Self::BehindBubblewrap {
            gate,
            stderr,
            ended: None,
        };
        let fds = BuilderFds {
            handover_gate,
            stderr: child_stderr,
        };
        Ok((command, Some(fds)))
    }

    /// A process announces that it becomes the command. Returns the new root, unless the process is
    /// no other child of the keeper nor one of bubblewrap, which is `root` then (ESRCH).
    pub(super) fn announced(
        &mut self,
        root: ProcessId,
        pid: i32,
    ) -> Result<ProcessId, SpawnFailure> {
        if let Self::BeforePidNamespace { .. } = self {
            let unrelated = SpawnStep::Confine(Restriction::PidNamespace).failed(Errno::SRCH);
            let command = child_of_keeper(pid).filter(|&command| command != root);
            *self = Self::Forked;
            return command.ok_or(unrelated);
        }
        let unrelated = SpawnStep::Confine(Restriction::Bubblewrap).failed(Errno::SRCH);
        let Self::BehindBubblewrap { gate, ended, .. } = self else {
            return Err(unrelated);
        };
        let keeper = rustix::process::getpid().as_raw_pid();
        let parent = if ended.is_some() { keeper } else { root.pid };
        let process = read_process(pid).ok_or(unrelated)?;
        // The keeper is its parent already where bubblewrap was reaped a moment later.
        let is_descendant = process.parent == parent || process.parent == keeper;
        if !is_descendant || process.id == root {
            return Err(unrelated);
        }
        let mut gate = std::mem::replace(gate, ExecGate::Open);
        *self = if ended.is_some() {
            gate.release();
            Self::Forked
        } else {
            sys::kill_unreaped(Unreaped::Child(root.pid), nix::libc::SIGKILL);
            Self::BubblewrapKilled {
                builder: root.pid,
                gate,
            }
        };
        Ok(process.id)
    }

    pub(super) fn is_behind_bubblewrap(&self) -> bool {
        matches!(self, Self::BehindBubblewrap { .. })
    }

    /// Whether another process than the root may become the command.
    pub(super) fn awaits_announcement(&self) -> bool {
        matches!(
            self,
            Self::BehindBubblewrap { .. } | Self::BeforePidNamespace { .. }
        )
    }

    /// The root was reaped. Whether it was not the command.
    pub(super) fn root_reaped(&mut self, status: WaitStatus) -> bool {
        match self {
            Self::BehindBubblewrap { ended, .. } | Self::BeforePidNamespace { ended } => {
                *ended = Some(status);
                true
            }
            Self::Forked | Self::BubblewrapKilled { .. } => false,
        }
    }

    /// A child that is no root was reaped. Where it was this command's bubblewrap, the command is
    /// released.
    pub(super) fn child_reaped(&mut self, pid: i32) -> bool {
        match self {
            Self::BubblewrapKilled { builder, gate } if *builder == pid => {
                gate.release();
                *self = Self::Forked;
                true
            }
            _ => false,
        }
    }

    /// Whether the root's pid still is its own.
    pub(super) fn has_unreaped_root(&self) -> bool {
        !matches!(
            self,
            Self::BehindBubblewrap { ended: Some(_), .. }
                | Self::BeforePidNamespace { ended: Some(_) }
        )
    }

    /// The error pipe has ended: the command was executed, or the root ended without another process
    /// that becomes the command. Returns the root's status where the root was the command after all, by
    /// best effort, and has ended already.
    pub(super) fn executed(
        &mut self,
        enforced: &Enforced,
    ) -> Result<Option<WaitStatus>, SpawnFailure> {
        let (restriction, ended) = match self {
            Self::BehindBubblewrap { ended, .. } => (Restriction::Bubblewrap, *ended),
            Self::BeforePidNamespace { ended } => (Restriction::PidNamespace, *ended),
            Self::Forked | Self::BubblewrapKilled { .. } => return Ok(None),
        };
        let mut missing = enforced.missing.iter();
        if missing.any(|missing| missing.restriction == restriction) {
            *self = Self::Forked;
            return Ok(ended);
        }
        Err(SpawnStep::Confine(restriction).failed(Errno::CANCELED))
    }

    /// bubblewrap's error message, if it wrote one.
    pub(super) fn builder_stderr(&self) -> Option<Vec<u8>> {
        let Self::BehindBubblewrap { stderr, .. } = self else {
            return None;
        };
        let mut text = vec![0; MAX_BUILDER_STDERR];
        let length = rustix::io::read(stderr, &mut text).ok()?;
        text.truncate(length);
        (length > 0).then_some(text)
    }
}

/// This process, where it is a child of the keeper.
pub(super) fn child_of_keeper(pid: i32) -> Option<ProcessId> {
    let keeper = rustix::process::getpid().as_raw_pid();
    let process = read_process(pid)?;
    (process.parent == keeper).then_some(process.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::confinement::MissingRestriction;

    const ENDED: WaitStatus = WaitStatus::Exited(1);

    fn builder() -> CommandProcess {
        CommandProcess::behind_bubblewrap().unwrap().0
    }

    #[test]
    fn a_builders_end_is_not_the_commands() {
        let mut command = builder();
        assert!(command.has_unreaped_root());
        assert!(command.root_reaped(ENDED));
        assert!(!command.has_unreaped_root());
        let failure = command.executed(&Enforced::default()).unwrap_err();
        assert_eq!(failure.step, SpawnStep::Confine(Restriction::Bubblewrap));
        assert!(!CommandProcess::Forked.root_reaped(ENDED));
    }

    #[test]
    fn who_enters_a_pid_namespace_is_not_the_command() {
        let mut command = CommandProcess::BeforePidNamespace { ended: None };
        assert!(command.awaits_announcement());
        assert!(command.root_reaped(WaitStatus::Exited(0)));
        assert!(!command.has_unreaped_root());
        let failure = command.executed(&Enforced::default()).unwrap_err();
        assert_eq!(failure.step, SpawnStep::Confine(Restriction::PidNamespace));
        // This process is a child of the test's parent, and not of the test.
        let ourselves = rustix::process::getpid().as_raw_pid();
        let root = ProcessId {
            pid: i32::MAX,
            start_time: 1,
        };
        assert!(command.announced(root, ourselves).is_err());
    }

    /// By best effort the child that was to become bubblewrap became the command.
    #[test]
    fn who_does_without_a_builder_is_the_command() {
        let without = Enforced {
            active: Vec::new(),
            missing: vec![MissingRestriction {
                restriction: Restriction::Bubblewrap,
                errno: 2,
            }],
        };
        let mut command = builder();
        assert_eq!(command.executed(&without), Ok(None));
        assert!(matches!(command, CommandProcess::Forked));
        let mut command = builder();
        command.root_reaped(ENDED);
        assert_eq!(command.executed(&without), Ok(Some(ENDED)));
    }

    #[test]
    fn who_is_nobodys_child_becomes_no_command() {
        let root = ProcessId {
            pid: i32::MAX,
            start_time: 1,
        };
        let ourselves = rustix::process::getpid().as_raw_pid();
        for pid in [ourselves, root.pid, -1, 0] {
            assert!(builder().announced(root, pid).is_err(), "{pid}");
        }
        assert!(CommandProcess::Forked.announced(root, ourselves).is_err());
    }

    #[test]
    fn the_command_goes_on_when_its_builder_is_reaped() {
        let (gate, _waits_at) = ExecGate::closed().unwrap();
        let mut command = CommandProcess::BubblewrapKilled { builder: 41, gate };
        assert!(!command.child_reaped(42));
        assert!(command.child_reaped(41));
        assert!(matches!(command, CommandProcess::Forked));
        assert!(!command.child_reaped(41));
    }
}
