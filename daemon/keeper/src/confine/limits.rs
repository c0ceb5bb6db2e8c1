//! Limits of a process (setrlimit(2)).

use rustix::process::{Resource, Rlimit};

use super::Failure;
use crate::protocol::confinement::{CPU_GRACE_SECONDS, ProcessLimits, Wall};
use crate::protocol::message::SpawnStep;

/// Those that are asked for.
#[derive(Debug)]
pub(super) struct Limits(Vec<(Wall, Resource, u64)>);

impl Limits {
    pub(super) fn new(limits: &ProcessLimits) -> Self {
        let all = [
            (Wall::CpuTime, Resource::Cpu, limits.cpu_seconds),
            (Wall::AddressSpace, Resource::As, limits.address_space_bytes),
            (Wall::OpenFiles, Resource::Nofile, limits.open_files),
            (Wall::Processes, Resource::Nproc, limits.processes),
            (Wall::FileSize, Resource::Fsize, limits.file_bytes),
            (Wall::CoreSize, Resource::Core, limits.core_bytes),
        ];
        let asked = all
            .into_iter()
            .filter_map(|(wall, resource, limit)| Some((wall, resource, limit?)));
        Self(asked.collect())
    }

    pub(super) fn walls(&self) -> impl Iterator<Item = Wall> {
        self.0.iter().map(|(wall, ..)| *wall)
    }

    /// Sets them, soft and hard alike but for processor time; in the child. Lowering is always allowed, and a limit above the
    /// hard one is less than what holds already.
    pub(super) fn set(&self) -> Result<(), Failure> {
        for &(wall, resource, limit) in &self.0 {
            let hard = rustix::process::getrlimit(resource).maximum;
            let at_most = |limit| Some(hard.map_or(limit, |hard| hard.min(limit)));
            let both = Rlimit {
                current: at_most(limit),
                maximum: at_most(match wall {
                    Wall::CpuTime => limit.saturating_add(CPU_GRACE_SECONDS),
                    _ => limit,
                }),
            };
            rustix::process::setrlimit(resource, both)
                .map_err(|errno| (SpawnStep::Confine(wall), errno.raw_os_error()))?;
        }
        Ok(())
    }
}

/// Gives a child the limit on open files that the keeper had before it raised it.
pub(super) fn give_back(open_files: Rlimit) {
    // Best effort: a keeper that could raise its own limit can lower this.
    let _ = rustix::process::setrlimit(Resource::Nofile, open_files);
}
