//! What /proc says of a process: its parents and sessions, its cgroup, the terminal that its
//! environment names.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;

use serde::{Deserialize, Serialize};
use termd_keeper::protocol::message::TERMINAL_VARIABLE;
use termd_proto::TerminalId;
use termd_proto::terminal::Agent;

/// Most parents that are looked at. No person's shell nests deeper, and a look must end.
const MAX_PARENTS: usize = 64;
/// How often an empty environment is read again: in the middle of execve(2) the kernel shows none.
const EXECVE_READS: usize = 20;
/// The bytes of an environment that are read.
const MAX_ENVIRONMENT_BYTES: usize = 256 << 10;

/// A process that no later one can be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ProcessId {
    pub(super) pid: i32,
    /// In clock ticks since boot.
    pub(super) started: u64,
}

impl ProcessId {
    /// The process that has this pid now.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let stat = Stat::of(pid)?;
        Some(Self {
            pid,
            started: stat.started,
        })
    }

    /// Whether it has not ended.
    pub(super) fn is_there(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// Whether the process with this pid and start has not ended.
pub(crate) fn is_process(pid: i32, started: u64) -> bool {
    ProcessId { pid, started }.is_there()
}

/// A process and those that it descends from.
#[derive(Debug)]
pub(super) struct Lineage {
    pub(super) process: ProcessId,
    /// From its parent on, as far as they can be seen below the keeper or below pid 1.
    pub(super) parents: Vec<ProcessId>,
    sessions: Vec<i32>,
    /// Whether it descends from the keeper.
    pub(super) is_below_keeper: bool,
    /// Whether there are more parents than were looked at.
    pub(super) is_cut: bool,
}

impl Lineage {
    /// The lineage of a process; `None` where it has ended.
    pub(super) fn of(pid: i32, keeper: i32) -> Option<Self> {
        let mut stat = Stat::of(pid)?;
        let process = ProcessId {
            pid,
            started: stat.started,
        };
        let mut lineage = Self {
            process,
            parents: Vec::new(),
            sessions: vec![stat.session],
            is_below_keeper: false,
            is_cut: false,
        };
        let mut current = pid;
        for step in 0.. {
            if stat.parent == keeper {
                lineage.is_below_keeper = true;
                break;
            }
            if stat.parent <= 1 {
                break;
            }
            if step == MAX_PARENTS {
                lineage.is_cut = true;
                break;
            }
            match Stat::of(stat.parent) {
                Some(parent) => {
                    current = stat.parent;
                    stat = parent;
                    lineage.sessions.push(stat.session);
                    lineage.parents.push(ProcessId {
                        pid: current,
                        started: stat.started,
                    });
                }
                // The parent has ended, and another process has adopted the child. A parent that
                // stays hidden is another user's.
                None => match Stat::of(current) {
                    Some(again) if again.parent != stat.parent => stat = again,
                    _ => break,
                },
            }
        }
        Some(lineage)
    }

    /// The last process that was looked at: below the keeper, the keeper's child.
    pub(super) fn topmost(&self) -> i32 {
        self.parents.last().unwrap_or(&self.process).pid
    }

    /// Whether a parent, the process itself or one of their sessions is this root process. A session
    /// keeps its number after its first process has ended, and nobody else can join it.
    pub(super) fn leads_to(&self, root: Option<i32>) -> bool {
        root.is_some_and(|root| {
            self.process.pid == root
                || self.sessions.contains(&root)
                || self.parents.iter().any(|parent| parent.pid == root)
        })
    }
}

/// Fields of `proc_pid_stat(5)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stat {
    pub(super) parent: i32,
    pub(super) session: i32,
    /// Whether it has a controlling terminal.
    pub(super) has_tty: bool,
    pub(super) started: u64,
}

impl Stat {
    pub(super) fn of(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before it may hold anything, a parenthesis too.
        let (_, fields) = stat.rsplit_once(')')?;
        // The first of these is field 3.
        let fields: Vec<&str> = fields.split_whitespace().collect();
        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            has_tty: *fields.get(4)? != "0",
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The terminal in whose cgroup a process is, by the directory's name.
pub(super) fn terminal_of_cgroup(pid: i32) -> Option<TerminalId> {
    let cgroups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    terminal_in_path(&cgroups)
}

fn terminal_in_path(cgroups: &str) -> Option<TerminalId> {
    let mut words = cgroups.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.find_map(|word| word.parse().ok())
}

/// The terminal that a process's environment names.
pub(super) fn marked_terminal(pid: i32) -> Option<TerminalId> {
    let environment = environment(pid);
    let mark = format!("{TERMINAL_VARIABLE}=");
    let mut variables = environment.split(|&byte| byte == 0);
    let named = variables.find_map(|variable| variable.strip_prefix(mark.as_bytes()))?;
    std::str::from_utf8(named).ok()?.parse().ok()
}

/// What the process of an agent was started with; empty where that process has ended.
pub(crate) fn agent_environment(agent: &Agent) -> BTreeMap<String, String> {
    let bytes = environment(agent.pid);
    // Behind the reading: the pid was that process's until now.
    let is_there = Stat::of(agent.pid).is_some_and(|stat| stat.started == agent.started);
    let variables = bytes.split(|&byte| byte == 0).filter(|_| is_there);
    let pairs =
        variables.filter_map(|variable| std::str::from_utf8(variable).ok()?.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn environment(pid: i32) -> Vec<u8> {
    let mut bytes = vec![0; MAX_ENVIRONMENT_BYTES];
    for _ in 0..EXECVE_READS {
        // One read(2): between two of them execve(2) may replace what is read.
        let read =
            File::open(format!("/proc/{pid}/environ")).and_then(|mut file| file.read(&mut bytes));
        match read {
            Ok(0) => {}
            Ok(count) => {
                bytes.truncate(count);
                return bytes;
            }
            Err(_) => break,
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_names_its_terminal() {
        let id = "term_abcdefghijkl";
        for (path, is_named) in [
            (
                format!("0::/user.slice/app.slice/app-termd.slice/termd-{id}.scope\n"),
                true,
            ),
            (
                format!("0::/user.slice/app.slice/termd.service/{id}\n"),
                true,
            ),
            (
                format!("0::/user.slice/app.slice/termd.service/{id}/below\n"),
                true,
            ),
            (
                "0::/user.slice/app.slice/termd.service/keeper\n".to_owned(),
                false,
            ),
        ] {
            let named = terminal_in_path(&path);
            assert_eq!(
                named.map(|id| id.to_string()),
                is_named.then(|| id.to_owned()),
                "{path}"
            );
        }
    }

    #[test]
    fn an_empty_environment_is_read_again_and_has_an_end() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env_clear()
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert_eq!(marked_terminal(pid), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(marked_terminal(pid), None);
    }
}
