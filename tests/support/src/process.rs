//! Processes as /proc and pidfds show them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, getuid, pidfd_open, pidfd_send_signal};

use crate::wait::{DEADLINE, Deadline, wait_readable, wait_until};

/// How long an empty environment is read again. In the middle of execve(2) the kernel shows none; that
/// takes below a millisecond, and more where the process does not get a processor.
const EXECVE: Duration = Duration::from_millis(50);

/// The bytes of an environment that are read.
const MAX_ENVIRONMENT: usize = 256 << 10;

/// A process held by a pidfd, so that its pid cannot come to mean another process.
#[derive(Debug)]
pub struct Process {
    /// The process id.
    pub pid: i32,
    pidfd: OwnedFd,
}

impl Process {
    /// The process with this pid; `None` if there is none.
    pub fn open(pid: i32) -> Option<Self> {
        let pidfd = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        Some(Self { pid, pidfd })
    }

    /// The process with this pid, which must exist.
    #[track_caller]
    pub fn expect(pid: i64) -> Self {
        Self::open(i32::try_from(pid).unwrap()).unwrap_or_else(|| panic!("no process {pid}"))
    }

    /// Waits for the end of the process. `false` means that the deadline came first.
    pub fn ends_by(&self, deadline: Deadline) -> bool {
        wait_readable(&self.pidfd, deadline)
    }

    /// Waits for the end of the process, and fails after [`DEADLINE`].
    #[track_caller]
    pub fn wait_for_end(&self) {
        let ended = self.ends_by(Deadline::after(DEADLINE));
        let shown = || fs::read_to_string(format!("/proc/{}/cmdline", self.pid));
        assert!(ended, "process {} lives on: {:?}", self.pid, shown());
    }

    /// Whether the process still runs.
    pub fn is_alive(&self) -> bool {
        !self.ends_by(Deadline::after(Duration::ZERO))
    }

    /// Sends a signal. A process that has ended gets none.
    pub fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Stops the process until SIGCONT, and waits until each of its threads has stopped. Without
    /// the wait a thread runs on until the one that takes the signal is scheduled.
    #[track_caller]
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        wait_until("every thread has stopped", || {
            let tasks = fs::read_dir(format!("/proc/{}/task", self.pid)).unwrap();
            let task_pid = |task: fs::DirEntry| task.file_name().to_str()?.parse().ok();
            let mut pids = tasks.flatten().filter_map(task_pid);
            pids.all(|pid| process_state(pid).as_deref() == Some("T"))
        });
    }
}

/// Every process but this one whose environment holds this `NAME=value`.
pub fn processes_with_environment(assignment: &str) -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let has_it = |pid: &i32| {
        environment(*pid)
            .split(|byte| *byte == 0)
            .any(|entry| entry == assignment.as_bytes())
    };
    all_pids()
        .filter(|pid| *pid != own)
        .filter(has_it)
        .collect()
}

/// The environment that a process was executed with.
fn environment(pid: i32) -> Vec<u8> {
    // One read(2): between two of them execve(2) may replace what is read.
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; MAX_ENVIRONMENT];
        let count = File::open(format!("/proc/{pid}/environ"))?.read(&mut bytes)?;
        bytes.truncate(count);
        Ok(bytes)
    };
    // A zombie and a kernel thread have no executable.
    let has_executable = || fs::read_link(format!("/proc/{pid}/exe")).is_ok();
    let execve = Deadline::after(EXECVE);
    loop {
        let environ = read().unwrap_or_default();
        if !environ.is_empty() || !has_executable() || execve.passed() {
            return environ;
        }
        std::thread::yield_now();
    }
}

/// The children of a process, zombies included.
pub fn children_of(parent: i32) -> Vec<i32> {
    all_pids()
        .filter(|pid| stat_field(*pid, 4).is_some_and(|ppid| ppid == parent.to_string()))
        .collect()
}

/// The children of a process whose name, `comm` of `proc_pid_comm(5)`, is this one.
pub fn children_named(parent: i32, name: &str) -> Vec<i32> {
    let has_name = |pid: &i32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    (children_of(parent).into_iter()).filter(has_name).collect()
}

/// The state letter of `proc_pid_stat(5)`, such as `Z` for a zombie.
pub fn process_state(pid: i32) -> Option<String> {
    stat_field(pid, 3)
}

/// The targets of a process's descriptors.
pub fn open_descriptors(pid: i32) -> Vec<String> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .collect()
}

/// Resident memory in KiB, shared pages of the binary included.
pub fn resident_kib(pid: i32) -> Option<u64> {
    kib_field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// Private memory in bytes, 0 of a process that has ended: the anonymous pages of
/// `proc_pid_smaps_rollup(5)`. The pages of a file, such as a program's text, are the kernel's
/// cache and not in it.
pub fn private_bytes(pid: i32) -> u64 {
    kib_field(&format!("/proc/{pid}/smaps_rollup"), "Pss_Anon:").unwrap_or(0) * 1024
}

fn kib_field(path: &str, name: &str) -> Option<u64> {
    let fields = fs::read_to_string(path).ok()?;
    let line = fields.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    getuid().is_root()
}

fn all_pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A field of /proc/PID/stat by its number in `proc_pid_stat(5)`, 3 or more. The fields are counted
/// from behind `comm`, which may hold blanks.
fn stat_field(pid: i32, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_comm = &stat[stat.rfind(')')? + 1..];
    let field = after_comm.split_whitespace().nth(number.checked_sub(3)?)?;
    Some(field.to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_found_in_the_middle_of_execve() {
        let assignment = format!("TERMD_TEST_EXECVE={}", std::process::id());
        let (name, value) = assignment.split_once('=').unwrap();
        let mut child = Command::new("sh")
            .args(["-c", r#"exec sh -c "$0" "$0""#, r#"exec sh -c "$0" "$0""#])
            .env(name, value)
            .spawn()
            .unwrap();
        wait_until("the child runs", || {
            !processes_with_environment(&assignment).is_empty()
        });
        let missed = (0..500).filter(|_| processes_with_environment(&assignment).is_empty());
        let missed = missed.count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(missed, 0);
    }
}
