//! Limits of a command's processes.

use serde::Deserialize;
use termd_proto::terminal::ScopeLimits;

use super::error::{MAX_TASKS, MIN_MEMORY, ProfileError};
use super::quantity::{ByteSize, Percent, TimeSpan};

/// `limits` of a profile: of each process (setrlimit(2)), and of all processes together (a scope of the
/// user's systemd).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsSpec {
    /// Processor time of each process.
    pub cpu_time: Option<TimeSpan>,
    /// Address space of each process.
    pub address_space: Option<ByteSize>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Processes and threads of the user.
    pub processes: Option<u64>,
    /// The size of each file that is written.
    pub file_bytes: Option<ByteSize>,
    /// Memory of all processes.
    pub memory: Option<ByteSize>,
    /// Processors of all processes, in percent of one.
    pub cpu: Option<Percent>,
    /// Processes and threads in all.
    pub tasks: Option<u64>,
    /// The weight of all processes where a disk is busy, 1 to 10,000. Others have 100.
    pub io_weight: Option<u64>,
}

impl LimitsSpec {
    /// The smaller of each limit.
    pub(super) fn merge(self, other: Self) -> Self {
        Self {
            cpu_time: least(self.cpu_time, other.cpu_time),
            address_space: least(self.address_space, other.address_space),
            open_files: least(self.open_files, other.open_files),
            processes: least(self.processes, other.processes),
            file_bytes: least(self.file_bytes, other.file_bytes),
            memory: least(self.memory, other.memory),
            cpu: least(self.cpu, other.cpu),
            tasks: least(self.tasks, other.tasks),
            io_weight: least(self.io_weight, other.io_weight),
        }
    }

    /// The limits that a scope holds. `None` if there are none.
    pub fn scope(&self) -> Option<ScopeLimits> {
        let limits = ScopeLimits {
            memory_bytes: self.memory.map(ByteSize::get),
            cpu_percent: self.cpu.map(Percent::get),
            tasks: self.tasks,
            io_weight: self.io_weight,
        };
        (limits != ScopeLimits::default()).then_some(limits)
    }

    /// Checks the bounds of each limit.
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        let mut faults = [
            (
                self.open_files.is_some_and(|files| files < 3),
                ProfileError::OpenFiles,
            ),
            (self.processes == Some(0), ProfileError::Processes),
            (
                self.memory.is_some_and(|memory| memory < MIN_MEMORY),
                ProfileError::Memory,
            ),
            (
                self.tasks
                    .is_some_and(|tasks| !(1..=MAX_TASKS).contains(&tasks)),
                ProfileError::Tasks,
            ),
            (
                self.io_weight
                    .is_some_and(|weight| !(1..=10_000).contains(&weight)),
                ProfileError::IoWeight,
            ),
        ]
        .into_iter();
        match faults.find(|(is_fault, _)| *is_fault) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

/// The smaller of two limits, either of which may be absent.
pub(super) fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.into_iter().chain(other).min()
}
