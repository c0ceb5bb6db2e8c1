//! Processes as /proc and pidfds show them.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, getuid, pidfd_open, pidfd_send_signal};

use super::wait::{Deadline, wait_readable, wait_until};

/// A process held by a pidfd, so that its number cannot come to mean another.
#[derive(Debug)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    pidfd: OwnedFd,
}

impl Process {
    /// Holds a process; none if there is no such one.
    pub(crate) fn open(pid: i32) -> Option<Self> {
        let pidfd = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        Some(Self { pid, pidfd })
    }

    /// Holds a process that must be there.
    #[track_caller]
    pub(crate) fn must(pid: i64) -> Self {
        Self::open(i32::try_from(pid).unwrap()).unwrap_or_else(|| panic!("no process {pid}"))
    }

    /// Waits for its end; false: the deadline came first.
    pub(crate) fn ends_by(&self, deadline: Deadline) -> bool {
        wait_readable(&self.pidfd, deadline)
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&self) -> bool {
        !self.ends_by(Deadline::after(std::time::Duration::ZERO))
    }

    /// Sends it a signal; one that has ended is none to signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Stops it, until `SIGCONT`. The signal alone is not enough: a thread of it runs on until the
    /// one that takes the signal has had its turn.
    #[track_caller]
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        wait_until("every thread has stopped", || {
            let tasks = fs::read_dir(format!("/proc/{}/task", self.pid)).unwrap();
            let task_pid = |task: fs::DirEntry| task.file_name().to_str()?.parse().ok();
            let mut pids = tasks.flatten().filter_map(task_pid);
            pids.all(|pid| process_state(pid).as_deref() == Some("T"))
        });
    }
}

/// Every process whose environment holds this `NAME=value`, this one aside.
pub(crate) fn processes_with_environment(assignment: &str) -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let has_it = |pid: &i32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ
            .split(|byte| *byte == 0)
            .any(|entry| entry == assignment.as_bytes())
    };
    all_pids()
        .filter(|pid| *pid != own)
        .filter(has_it)
        .collect()
}

/// The children of a process, zombies included.
pub(crate) fn children_of(parent: i32) -> Vec<i32> {
    all_pids()
        .filter(|pid| stat_field(*pid, 4).is_some_and(|ppid| ppid == parent.to_string()))
        .collect()
}

/// The state letter of `proc_pid_stat(5)`, `Z` for a zombie.
pub(crate) fn process_state(pid: i32) -> Option<String> {
    stat_field(pid, 3)
}

/// What a process's descriptors point at.
pub(crate) fn open_descriptors(pid: i32) -> Vec<String> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .collect()
}

/// Resident memory in KiB.
pub(crate) fn resident_kib(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Whether these tests run as root.
pub(crate) fn is_root() -> bool {
    getuid().is_root()
}

fn all_pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A field of /proc/PID/stat by its number in `proc_pid_stat(5)`, from 3 on: `comm` may hold blanks.
fn stat_field(pid: i32, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_comm = &stat[stat.rfind(')')? + 1..];
    let field = after_comm.split_whitespace().nth(number.checked_sub(3)?)?;
    Some(field.to_owned())
}
