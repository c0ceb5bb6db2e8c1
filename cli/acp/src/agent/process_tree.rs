//! The descendants of a process, read from `/proc`, and signals that cannot hit a reused pid.
//!
//! Reading `/proc` is no snapshot: to know that nothing is left, read several times.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process by pid and start time. A reused pid has another start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: i32,
    /// Clock ticks since boot.
    start_time: u64,
}

/// The used fields of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    process: Process,
    parent: i32,
    /// The process is a zombie; signals have no effect.
    has_ended: bool,
}

/// All processes at about the same time.
#[derive(Debug)]
pub(super) struct ProcessTree(Vec<Stat>);

impl ProcessTree {
    /// Reads `/proc`. Processes that end meanwhile are missing.
    pub(super) fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self(pids.filter_map(read).collect())
    }

    /// The running descendants of `root`, without `exempt` and its descendants.
    pub(super) fn below(&self, root: i32, exempt: Option<i32>) -> Vec<Process> {
        let mut children: HashMap<i32, Vec<&Stat>> = HashMap::new();
        for stat in &self.0 {
            children.entry(stat.parent).or_default().push(stat);
        }
        let mut found = Vec::new();
        // Processes that were read at different times may form a cycle.
        let mut seen = HashSet::from([root]);
        let mut to_visit = vec![root];
        while let Some(parent) = to_visit.pop() {
            for stat in children.get(&parent).into_iter().flatten() {
                let pid = stat.process.pid;
                if Some(pid) == exempt || !seen.insert(pid) {
                    continue;
                }
                to_visit.push(pid);
                if !stat.has_ended {
                    found.push(stat.process);
                }
            }
        }
        found
    }
}

impl Process {
    /// Sends signals to this process and no other. Returns whether all of them were sent.
    pub(super) fn signal(self, signals: &[Signal]) -> bool {
        let opened =
            Pid::from_raw(self.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let Some(pidfd) = opened else {
            return false;
        };
        // From here on the pidfd and `/proc` mean the same process.
        if read(self.pid).is_none_or(|stat| stat.process != self) {
            return false;
        }
        signals
            .iter()
            .all(|&signal| pidfd_send_signal(&pidfd, signal).is_ok())
    }
}

fn read(pid: i32) -> Option<Stat> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// `proc_pid_stat(5)`. The name, in parentheses, may hold anything, parentheses too.
fn parse(pid: i32, stat: &[u8]) -> Option<Stat> {
    let name_end = memchr::memrchr(b')', stat)?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    // Field 3, the state, is the first of the rest.
    let fields: Vec<&str> = rest.split_ascii_whitespace().take(20).collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let threads: u32 = field(20)?.parse().ok()?;
    Some(Stat {
        process: Process {
            pid,
            start_time: field(22)?.parse().ok()?,
        },
        parent: field(4)?.parse().ok()?,
        // A process whose first thread has ended looks like a zombie while other threads run.
        has_ended: matches!(field(3)?, "Z" | "X" | "x") && threads <= 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, state: &str, parent: i32, threads: u32, start: u64) -> Vec<u8> {
        let zeros = |count| " 0".repeat(count);
        format!(
            "7 ({name}) {state} {parent}{}{}{} {threads} 0 {start}{}\n",
            zeros(6),
            zeros(6),
            zeros(3),
            zeros(30)
        )
        .into_bytes()
    }

    #[test]
    fn a_stat_line_is_read_whatever_the_name() {
        let table = [
            ("sh", "S", 1, false),
            ("a) Z 9 (b", "R", 1, false),
            ("gone", "Z", 1, true),
            ("leaderless", "Z", 3, false),
        ];
        for (name, state, threads, has_ended) in table {
            let want = Stat {
                process: Process {
                    pid: 7,
                    start_time: 99,
                },
                parent: 3,
                has_ended,
            };
            assert_eq!(parse(7, &line(name, state, 3, threads, 99)), Some(want));
        }
        for cut in [&b""[..], b"7 (sh", b"7 (sh) S", b"7 (sh) S x"] {
            assert_eq!(parse(7, cut), None);
        }
    }

    #[test]
    fn below_is_all_but_the_exempt_and_what_is_below_it() {
        let stat = |pid, parent, has_ended| Stat {
            process: Process { pid, start_time: 1 },
            parent,
            has_ended,
        };
        let processes = ProcessTree(vec![
            stat(1, 0, false),
            stat(10, 1, false),
            stat(11, 10, false),
            stat(12, 11, true),
            stat(13, 12, false),
            stat(20, 10, false),
            stat(21, 20, false),
            stat(30, 1, false),
            // A circle, as no single moment has it.
            stat(40, 41, false),
            stat(41, 40, false),
        ]);
        let mut found: Vec<i32> = (processes.below(10, Some(20)).into_iter())
            .map(|process| process.pid)
            .collect();
        found.sort_unstable();
        assert_eq!(found, [11, 13]);
        assert_eq!(processes.below(40, None).len(), 1);
        assert_eq!(processes.below(99, None), []);
    }

    #[test]
    fn a_number_that_means_another_process_gets_no_signal() {
        let own = std::process::id().cast_signed();
        let real = read(own).unwrap().process;
        let other = Process {
            start_time: real.start_time + 1,
            ..real
        };
        // SIGKILL would end this test.
        assert!(!other.signal(&[Signal::KILL]));
        assert!(real.signal(&[Signal::CONT]));
    }
}
