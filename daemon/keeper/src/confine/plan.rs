//! Everything that a child needs to confine itself, prepared before the fork.

use std::ffi::CStr;

use rustix::io::Errno;
use rustix::process::Rlimit;

use super::bubblewrap::Arguments;
use super::bubblewrap::Snapshot;
use super::daemon_dirs::DaemonDirs;
use super::limits::{self, Limits};
use super::mount::MountWatch;
use super::mount::resolve::enter;
use super::privileges;
use super::sandbox::{MountBuilder, PidNamespace, SandboxPlan, requested};
use crate::protocol::confinement::{
    Builder, Confinement, Enforced, Enforcement, Processes, Restriction,
};
use crate::protocol::message::{SpawnFailure, SpawnStep};

/// A checked spec.
#[derive(Debug)]
pub(crate) struct Plan {
    limits: Limits,
    sandbox: Option<SandboxPlan>,
    enforced: Enforced,
}

impl Plan {
    /// Checks a spec. `tty` is the device number of the terminal's own tty.
    pub(crate) fn new(
        confinement: &Confinement,
        dirs: &DaemonDirs,
        tty: Option<u32>,
    ) -> Result<Self, SpawnFailure> {
        let limits = Limits::new(&confinement.limits);
        let mut enforced = Enforced {
            active: limits.restrictions().collect(),
            missing: Vec::new(),
        };
        if privileges::is_root() {
            // The kernel holds root to no number of processes.
            enforced.mark_missing(Restriction::Processes, Errno::PERM.raw_os_error());
        }
        let sandbox = match &confinement.sandbox {
            None => None,
            Some(sandbox) => {
                enforced.active.extend(requested(sandbox));
                Some(SandboxPlan::new(sandbox, dirs, tty)?)
            }
        };
        Ok(Self {
            limits,
            sandbox,
            enforced,
        })
    }

    /// What a command is held to if every step succeeds.
    pub(crate) fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    /// Who builds namespaces and mounts.
    pub(crate) fn builder(&self) -> Builder {
        (self.sandbox.as_ref()).map_or(Builder::Termd, SandboxPlan::builder)
    }

    /// Whether the command runs without what cannot be applied.
    pub(crate) fn is_best_effort(&self) -> bool {
        let enforcement = self.sandbox.as_ref().map(SandboxPlan::enforcement);
        enforcement == Some(Enforcement::BestEffort)
    }

    /// What bubblewrap is to build, and a snapshot of what was there before. In the child.
    pub(crate) fn bubblewrap_arguments(
        &self,
        first_empty_file: i32,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<Option<(Snapshot, Arguments)>, SpawnFailure> {
        let Some(sandbox) = &self.sandbox else {
            return Ok(None);
        };
        let snapshot = sandbox.snapshot(report_missing)?;
        let mut arguments = Arguments::new(sandbox.places(), &snapshot, first_empty_file);
        if sandbox.processes() == Processes::Private {
            arguments.unshare_ipc();
        }
        Ok(Some((snapshot, arguments)))
    }

    /// What happens where bubblewrap cannot be used: the command is refused, or by best effort
    /// confined without mounts.
    pub(crate) fn without_bubblewrap(
        &self,
        errno: Errno,
    ) -> Result<MountBuilder<'static>, SpawnFailure> {
        if self.is_best_effort() {
            return Ok(MountBuilder::Unavailable(errno));
        }
        Err(SpawnStep::Confine(Restriction::Bubblewrap).failed(errno))
    }

    /// Whether the command may become another process than the one that enters the namespaces.
    pub(crate) fn may_enter_pid_namespace(&self) -> bool {
        self.enforced.active.contains(&Restriction::PidNamespace)
    }

    /// Enters the sandbox's namespaces, before [`apply`](Self::apply). In the child.
    pub(crate) fn enter_namespaces(
        &mut self,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<PidNamespace, SpawnFailure> {
        match &mut self.sandbox {
            None => Ok(PidNamespace::Shared),
            Some(sandbox) => sandbox.enter_namespaces(report_missing),
        }
    }

    /// Restores what protects and hides in a running sandbox. In the init of its PID namespace.
    pub(crate) fn mount_watch(&self) -> Option<MountWatch<'_>> {
        let sandbox = self.sandbox.as_ref()?;
        Some(MountWatch::new(sandbox.places()))
    }

    /// Applies all restrictions and changes to the directory. In the child; its 0 is the command's.
    /// `open_files` is the limit that every child gets back. `set_attributes` sets what the command takes
    /// over, before the limits that it is held to.
    pub(crate) fn apply(
        &mut self,
        mounts: MountBuilder<'_>,
        cwd: &CStr,
        open_files: Rlimit,
        set_attributes: impl FnOnce(),
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<(), SpawnFailure> {
        let sandbox = &mut self.sandbox;
        if let Some(sandbox) = sandbox {
            sandbox.apply_mounts(mounts, report_missing)?;
        }
        // After the mounts: a directory opened before could be beneath one.
        enter(cwd).map_err(|errno| SpawnStep::Chdir.failed(errno))?;
        if let Some(sandbox) = sandbox {
            sandbox.drop_rights(mounts, report_missing)?;
        }
        limits::restore_open_files(open_files);
        set_attributes();
        self.limits.set()?;
        if let Some(sandbox) = sandbox {
            sandbox.filter_system_calls(report_missing)?;
        }
        Ok(())
    }
}
