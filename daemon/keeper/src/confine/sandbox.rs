//! A sandbox as planned, and its restrictions in their order.

use rustix::io::Errno;
use rustix::thread::UnshareFlags;

use super::attempts::Attempts;
use super::bubblewrap::Snapshot;
use super::bubblewrap::verify;
use super::daemon_dirs::DaemonDirs;
use super::mount::build;
use super::mount::places::Places;
use super::privileges::{self, Identity};
use super::seccomp::{Filters, Tracing};
use super::{kernel, landlock, pid_namespace};
use crate::protocol::confinement::{
    Access, Builder, Enforcement, Processes, RESTRICTIONS, Restriction, Sandbox, Temporary,
};
use crate::protocol::message::{SpawnFailure, SpawnStep};

/// The restrictions that are mounts.
const MOUNTED: [Restriction; 5] = [
    Restriction::Devices,
    Restriction::ReadOnly,
    Restriction::Protected,
    Restriction::Hidden,
    Restriction::Temporary,
];

/// Whether the children of a process that has entered namespaces are in another PID namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PidNamespace {
    /// The same.
    Shared,
    /// A new one, which the next child begins as its init.
    New,
}

/// Who has built the namespaces and mounts that a process finds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MountBuilder<'a> {
    /// None yet: this process builds mounts in the namespaces that it has entered.
    ThisProcess,
    /// bubblewrap, for the places of this snapshot.
    Bubblewrap(&'a Snapshot),
    /// None, and none will, for this reason.
    Unavailable(Errno),
}

/// A sandbox, ready to be applied.
#[derive(Debug)]
pub(super) struct SandboxPlan {
    enforcement: Enforcement,
    network: Access,
    builder: Builder,
    processes: Processes,
    places: Places,
    /// Whether this process is in namespaces that it has made; `None` before it has tried.
    has_namespaces: Option<bool>,
    pid_namespace: PidNamespace,
    identity: Identity,
    filters: Option<&'static Filters>,
}

impl SandboxPlan {
    /// `tty` is the device number of the terminal's own tty.
    pub(super) fn new(
        sandbox: &Sandbox,
        dirs: &DaemonDirs,
        tty: Option<u32>,
    ) -> Result<Self, SpawnFailure> {
        let places = Places::new(sandbox, dirs, tty)
            .map_err(|(restriction, errno)| SpawnStep::Confine(restriction).failed(errno))?;
        Ok(Self {
            enforcement: sandbox.enforcement,
            network: sandbox.network,
            builder: sandbox.builder,
            processes: sandbox.processes,
            places,
            has_namespaces: None,
            pid_namespace: PidNamespace::Shared,
            identity: Identity::current(),
            filters: Filters::get(sandbox.network),
        })
    }

    pub(super) fn builder(&self) -> Builder {
        self.builder
    }

    pub(super) fn enforcement(&self) -> Enforcement {
        self.enforcement
    }

    pub(super) fn processes(&self) -> Processes {
        self.processes
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    fn attempts<'a>(&self, report_missing: &'a dyn Fn(Restriction, Errno)) -> Attempts<'a> {
        Attempts {
            enforcement: self.enforcement,
            report_missing,
        }
    }

    /// What is at its places before bubblewrap builds anything.
    pub(super) fn snapshot(
        &self,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<Snapshot, SpawnFailure> {
        let attempts = self.attempts(report_missing);
        Snapshot::take(&self.places, |(restriction, errno)| match restriction {
            // A writable place has to be there, whatever the enforcement.
            Restriction::Writes => Err(SpawnStep::Confine(restriction).failed(errno)),
            _ => attempts.missing(restriction, errno),
        })
    }

    /// Opens the writable places, gives up privileges, and enters the namespaces.
    pub(super) fn enter_namespaces(
        &mut self,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<PidNamespace, SpawnFailure> {
        self.give_up_privileges(report_missing)?;
        self.has_namespaces = Some(false);
        let attempts = self.attempts(report_missing);
        let entered = self.identity.enter_namespaces();
        if attempts.check(Restriction::Namespaces, entered)?.is_none() {
            let errno = entered.err().unwrap_or(Errno::PERM);
            attempts.report_all(&MOUNTED, errno);
            attempts.report_all(
                &[Restriction::PidNamespace, Restriction::IpcNamespace],
                errno,
            );
            return Ok(PidNamespace::Shared);
        }
        self.has_namespaces = Some(true);
        self.identity.confines_tracing = true;
        if self.processes == Processes::Private {
            attempts.check(
                Restriction::IpcNamespace,
                kernel::unshare(UnshareFlags::NEWIPC),
            )?;
            let entered = pid_namespace::enter(self.enforcement);
            if attempts
                .check(Restriction::PidNamespace, entered)?
                .is_some()
            {
                self.pid_namespace = PidNamespace::New;
            }
        }
        Ok(self.pid_namespace)
    }

    fn give_up_privileges(
        &mut self,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<(), SpawnFailure> {
        // A writable place has to be there, whatever the kernel supports. It is opened outside of the
        // namespaces, to be compared with what its path leads to inside.
        self.places
            .open_writable()
            .map_err(|errno| SpawnStep::Confine(Restriction::Writes).failed(errno))?;
        let attempts = self.attempts(report_missing);
        attempts.check(Restriction::NoNewPrivileges, privileges::no_new())?;
        Ok(())
    }

    /// Mounts; behind bubblewrap also what [`enter_namespaces`](Self::enter_namespaces) does.
    pub(super) fn apply_mounts(
        &mut self,
        mounts: MountBuilder<'_>,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<(), SpawnFailure> {
        let attempts = self.attempts(report_missing);
        match mounts {
            MountBuilder::ThisProcess => match self.has_namespaces {
                None => Err(SpawnStep::Confine(Restriction::Namespaces).failed(Errno::INVAL)),
                Some(false) => Ok(()),
                Some(true) => {
                    if self.pid_namespace == PidNamespace::New {
                        attempts.check(Restriction::PidNamespace, pid_namespace::mount_proc())?;
                    }
                    build::mounts(&mut self.places, attempts)
                }
            },
            MountBuilder::Bubblewrap(snapshot) => {
                self.give_up_privileges(report_missing)?;
                let attempts = self.attempts(report_missing);
                let entered =
                    attempts.check(Restriction::Namespaces, verify::namespaces(snapshot))?;
                self.identity.confines_tracing = entered.is_some();
                if self.processes == Processes::Private {
                    let entered = verify::own_ipc_namespace(snapshot);
                    attempts.check(Restriction::IpcNamespace, entered)?;
                }
                verify::mounts(&mut self.places, snapshot, attempts)
            }
            MountBuilder::Unavailable(errno) => {
                self.give_up_privileges(report_missing)?;
                let attempts = self.attempts(report_missing);
                attempts.report_all(&[Restriction::Bubblewrap, Restriction::Namespaces], errno);
                attempts.report_all(&MOUNTED, errno);
                attempts.report_all(&[Restriction::IpcNamespace], errno);
                Ok(())
            }
        }
    }

    /// Capabilities and Landlock.
    pub(super) fn drop_rights(
        &mut self,
        mounts: MountBuilder<'_>,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<(), SpawnFailure> {
        let attempts = self.attempts(report_missing);
        let dropped = match mounts {
            MountBuilder::Bubblewrap(_) => privileges::check_no_capabilities(),
            MountBuilder::ThisProcess | MountBuilder::Unavailable(_) => {
                self.identity.drop_capabilities()
            }
        };
        attempts.check(Restriction::Capabilities, dropped)?;
        let abi = landlock::abi();
        let denies_network = self.network == Access::Denied;
        for (restriction, least, is_requested) in [
            (Restriction::Writes, landlock::ABI_WRITES, true),
            (Restriction::Tcp, landlock::ABI_TCP, denies_network),
            (Restriction::Scopes, landlock::ABI_SCOPES, true),
        ] {
            if is_requested && abi < least {
                attempts.missing(restriction, Errno::NOSYS)?;
            }
        }
        if abi == 0 {
            return Ok(());
        }
        let restricted = landlock::restrict(&self.places, self.network, abi);
        if attempts.check(Restriction::Writes, restricted)?.is_some() {
            self.identity.confines_tracing = true;
        } else {
            let errno = restricted.err().unwrap_or(Errno::NOSYS);
            attempts.report_all(&[Restriction::Tcp, Restriction::Scopes], errno);
        }
        Ok(())
    }

    /// seccomp.
    pub(super) fn filter_system_calls(
        &self,
        report_missing: &dyn Fn(Restriction, Errno),
    ) -> Result<(), SpawnFailure> {
        let tracing = if self.identity.confines_tracing {
            Tracing::Within
        } else {
            Tracing::Denied
        };
        let installed = (self.filters)
            .ok_or(Errno::NOSYS)
            .and_then(|filters| filters.install(tracing));
        let attempts = self.attempts(report_missing);
        attempts.check(Restriction::SystemCalls, installed)?;
        if let (Err(errno), Access::Denied) = (installed, self.network) {
            attempts.report_all(&[Restriction::Network], errno);
        }
        Ok(())
    }
}

/// The restrictions that a sandbox requests.
pub(super) fn requested(sandbox: &Sandbox) -> impl Iterator<Item = Restriction> {
    let denies_network = sandbox.network == Access::Denied;
    let protects = !sandbox.protected.is_empty();
    let has_own_temporary = sandbox.temporary == Temporary::Private;
    let uses_bubblewrap = sandbox.builder == Builder::Bubblewrap;
    let has_own_processes = sandbox.processes == Processes::Private;
    RESTRICTIONS
        .into_iter()
        .filter(move |restriction| match restriction {
            Restriction::CpuTime
            | Restriction::AddressSpace
            | Restriction::OpenFiles
            | Restriction::Processes
            | Restriction::FileSize
            | Restriction::CoreSize => false,
            Restriction::Tcp | Restriction::Network => denies_network,
            Restriction::Protected => protects,
            Restriction::Temporary => has_own_temporary,
            Restriction::Bubblewrap => uses_bubblewrap,
            Restriction::PidNamespace => has_own_processes && !uses_bubblewrap,
            Restriction::IpcNamespace => has_own_processes,
            Restriction::NoNewPrivileges
            | Restriction::Namespaces
            | Restriction::Devices
            | Restriction::ReadOnly
            | Restriction::Hidden
            | Restriction::Capabilities
            | Restriction::Writes
            | Restriction::Scopes
            | Restriction::SystemCalls => true,
        })
}
