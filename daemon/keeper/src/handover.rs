//! Who becomes a terminal's command, between fork and exec.
//!
//! Mostly the child that was forked. Where bubblewrap builds the sandbox that child executes it, and a
//! process behind it becomes the command: once it has said so, bubblewrap is killed, and when it is
//! reaped the process is let go. So the keeper, whose descendants come to it when their parents end,
//! is its parent, and reaps it itself.
//!
//! ```text
//! Child
//! Builder ─ told ─▶ Leaving ─ reaped ─▶ Child
//!         ─ reaped ─▶ Builder, ended ─ told ─▶ Child
//! ```
//!
//! It must not know how anything is built.

use std::os::fd::OwnedFd;

use super::builder::GAVE_UP;
use super::child::ABOVE_CHILDS_FDS;
use super::ends::outward_pipe;
use super::exec_gate::Gate;
use super::procfs;
use super::sys::{self, Unreaped};
use crate::protocol::confinement::{Builder, Enforced, Wall};
use crate::protocol::message::{ProcessId, SpawnFailure, SpawnStep, WaitStatus};

/// What of a builder's words is kept: it says one line.
const MAX_SAID: usize = 4096;

/// Who becomes the command.
#[derive(Debug)]
pub(super) enum Lead {
    /// The root.
    Child,
    /// A process behind the root, which is a builder; it has not said so yet.
    Builder {
        /// Where it then waits.
        gate: Gate,
        /// What the builder says; non-blocking.
        said: OwnedFd,
        /// How the builder ended: what was behind it may live on. Its number is nobody's any more.
        ended: Option<WaitStatus>,
    },
    /// The root, which waits until its builder is reaped.
    Leaving {
        /// The builder: a child of ours that is killed.
        builder: i32,
        /// Where it waits.
        gate: Gate,
    },
}

impl Lead {
    /// At the fork; and what the child is passed for it, to wait at and to speak to.
    pub(super) fn of(builder: Builder) -> Result<(Self, Option<[OwnedFd; 2]>), SpawnFailure> {
        match builder {
            Builder::Termd => Ok((Self::Child, None)),
            Builder::Bubblewrap => {
                let (gate, waits_at) = Gate::shut()?;
                let (said, speaks_to) = outward_pipe()?;
                let speaks_to = rustix::io::fcntl_dupfd_cloexec(speaks_to, ABOVE_CHILDS_FDS);
                let speaks_to = speaks_to.map_err(|errno| SpawnFailure {
                    step: SpawnStep::Pipe,
                    errno: errno.raw_os_error(),
                })?;
                let lead = Self::Builder {
                    gate,
                    said,
                    ended: None,
                };
                Ok((lead, Some([waits_at, speaks_to])))
            }
        }
    }

    /// A process says that it becomes the command. `root` is the builder; the new root, if it is one.
    pub(super) fn told(&mut self, root: ProcessId, pid: i32) -> Result<ProcessId, SpawnFailure> {
        let nobodys = SpawnFailure {
            step: SpawnStep::Confine(Wall::Bubblewrap),
            errno: nix::libc::ESRCH,
        };
        let Self::Builder { gate, ended, .. } = self else {
            return Err(nobodys);
        };
        let keeper = rustix::process::getpid().as_raw_pid();
        let parent = if ended.is_some() { keeper } else { root.pid };
        let process = procfs::read_process(pid).ok_or(nobodys)?;
        // It may have come to us since: a builder that was reaped a moment later.
        let is_ours = process.parent == parent || process.parent == keeper;
        if !is_ours || process.id == root {
            return Err(nobodys);
        }
        let mut gate = std::mem::replace(gate, Gate::Open);
        *self = if ended.is_some() {
            gate.open();
            Self::Child
        } else {
            sys::kill_unreaped(Unreaped::Child(root.pid), nix::libc::SIGKILL);
            Self::Leaving {
                builder: root.pid,
                gate,
            }
        };
        Ok(process.id)
    }

    /// The root was reaped. Whether it was a builder, and so not the command.
    pub(super) fn root_reaped(&mut self, status: WaitStatus) -> bool {
        match self {
            Self::Builder { ended, .. } => {
                *ended = Some(status);
                true
            }
            Self::Child | Self::Leaving { .. } => false,
        }
    }

    /// A child was reaped that is no root. Whether it was this one's builder: then its command goes on.
    pub(super) fn reaped(&mut self, pid: i32) -> bool {
        match self {
            Self::Leaving { builder, gate } if *builder == pid => {
                gate.open();
                *self = Self::Child;
                true
            }
            Self::Child | Self::Builder { .. } | Self::Leaving { .. } => false,
        }
    }

    /// Whether the root is a child of ours that was not reaped, as far as its lead says.
    pub(super) fn has_unreaped_root(&self) -> bool {
        !matches!(self, Self::Builder { ended: Some(_), .. })
    }

    /// The error pipe has ended: the exec of the command, or a builder that built nothing. How the
    /// root ended, where it was the command after all, confined without a builder.
    pub(super) fn executed(
        &mut self,
        enforced: &Enforced,
    ) -> Result<Option<WaitStatus>, SpawnFailure> {
        let Self::Builder { ended, .. } = self else {
            return Ok(None);
        };
        let mut missing = enforced.missing.iter();
        if missing.any(|missing| missing.wall == Wall::Bubblewrap) {
            let ended = *ended;
            *self = Self::Child;
            return Ok(ended);
        }
        Err(SpawnFailure {
            step: SpawnStep::Confine(Wall::Bubblewrap),
            errno: GAVE_UP,
        })
    }

    /// What a builder has said, if it did.
    pub(super) fn said(&self) -> Option<Vec<u8>> {
        let Self::Builder { said, .. } = self else {
            return None;
        };
        let mut text = vec![0; MAX_SAID];
        let length = rustix::io::read(said, &mut text).ok()?;
        text.truncate(length);
        (length > 0).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::confinement::MissingWall;

    const ENDED: WaitStatus = WaitStatus::Exited(1);

    fn builder() -> Lead {
        Lead::of(Builder::Bubblewrap).unwrap().0
    }

    #[test]
    fn a_builders_end_is_not_the_commands() {
        let mut lead = builder();
        assert!(lead.has_unreaped_root());
        assert!(lead.root_reaped(ENDED));
        assert!(!lead.has_unreaped_root());
        let failure = lead.executed(&Enforced::default()).unwrap_err();
        assert_eq!(failure.step, SpawnStep::Confine(Wall::Bubblewrap));
        assert!(!Lead::Child.root_reaped(ENDED));
    }

    /// By best effort the child that was to become bubblewrap became the command.
    #[test]
    fn who_does_without_a_builder_is_the_command() {
        let without = Enforced {
            held: Vec::new(),
            missing: vec![MissingWall {
                wall: Wall::Bubblewrap,
                errno: 2,
            }],
        };
        let mut lead = builder();
        assert_eq!(lead.executed(&without), Ok(None));
        assert!(matches!(lead, Lead::Child));
        let mut lead = builder();
        lead.root_reaped(ENDED);
        assert_eq!(lead.executed(&without), Ok(Some(ENDED)));
    }

    #[test]
    fn who_is_nobodys_child_becomes_no_command() {
        let root = ProcessId {
            pid: i32::MAX,
            start_time: 1,
        };
        let ourselves = rustix::process::getpid().as_raw_pid();
        for pid in [ourselves, root.pid, -1, 0] {
            assert!(builder().told(root, pid).is_err(), "{pid}");
        }
        assert!(Lead::Child.told(root, ourselves).is_err());
    }

    #[test]
    fn the_command_goes_on_when_its_builder_is_reaped() {
        let (gate, _waits_at) = Gate::shut().unwrap();
        let mut lead = Lead::Leaving { builder: 41, gate };
        assert!(!lead.reaped(42));
        assert!(lead.reaped(41));
        assert!(matches!(lead, Lead::Child));
        assert!(!lead.reaped(41));
    }
}
