//! Limits of a process (setrlimit(2)).

use rustix::process::{Resource, Rlimit};

use crate::protocol::confinement::{CPU_GRACE_SECONDS, ProcessLimits, Restriction};
use crate::protocol::message::{SpawnFailure, SpawnStep};

/// The requested limits.
#[derive(Debug)]
pub(super) struct Limits(Vec<(Restriction, Resource, u64)>);

impl Limits {
    pub(super) fn new(limits: &ProcessLimits) -> Self {
        let all = [
            (Restriction::CpuTime, Resource::Cpu, limits.cpu_seconds),
            (
                Restriction::AddressSpace,
                Resource::As,
                limits.address_space_bytes,
            ),
            (Restriction::OpenFiles, Resource::Nofile, limits.open_files),
            (Restriction::Processes, Resource::Nproc, limits.processes),
            (Restriction::FileSize, Resource::Fsize, limits.file_bytes),
            (Restriction::CoreSize, Resource::Core, limits.core_bytes),
        ];
        let requested = all
            .into_iter()
            .filter_map(|(restriction, resource, limit)| Some((restriction, resource, limit?)));
        Self(requested.collect())
    }

    pub(super) fn restrictions(&self) -> impl Iterator<Item = Restriction> {
        self.0.iter().map(|(restriction, ..)| *restriction)
    }

    /// Sets soft and hard limits, in the child. A limit above the present hard one is lowered to it.
    /// Only for processor time the hard limit is a little above the soft one.
    pub(super) fn set(&self) -> Result<(), SpawnFailure> {
        for &(restriction, resource, limit) in &self.0 {
            let hard = rustix::process::getrlimit(resource).maximum;
            let at_most = |limit| Some(hard.map_or(limit, |hard| hard.min(limit)));
            let both = Rlimit {
                current: at_most(limit),
                maximum: at_most(match restriction {
                    Restriction::CpuTime => limit.saturating_add(CPU_GRACE_SECONDS),
                    _ => limit,
                }),
            };
            rustix::process::setrlimit(resource, both)
                .map_err(|errno| SpawnStep::Confine(restriction).failed(errno))?;
        }
        Ok(())
    }
}

/// Restores the limit on open files from before the keeper raised its own.
pub(super) fn restore_open_files(open_files: Rlimit) {
    // It cannot fail: lowering a limit is always allowed.
    let _ = rustix::process::setrlimit(Resource::Nofile, open_files);
}
