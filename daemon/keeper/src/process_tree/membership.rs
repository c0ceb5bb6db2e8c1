//! Which terminal a process belongs to: pure, over a snapshot of the processes below the keeper.
//!
//! The strongest evidence decides, so each process belongs to one terminal at most. In this order:
//! 1. it is the terminal's root, or the init of the terminal's PID namespace;
//! 2. it is in the terminal's cgroup, or in one below;
//! 3. it is in the root's session;
//! 4. its environment has the terminal's mark, which outlives a double fork. A mark that names no
//!    terminal of ours is another daemon's, and no evidence;
//! 5. its controlling tty is the terminal's. A tty is only a number, and a sandbox or a container
//!    with a devpts of its own counts from 0 again, so the mark goes first;
//! 6. an earlier scan of the same kill found it there, or it has the terminal's tty or pipes open, also
//!    when these are released;
//! 7. its parent belongs to the terminal. An init adopts the orphans of its namespace.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use termd_proto::TerminalId;

use crate::protocol::message::ProcessId;

/// One process, as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: ProcessId,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// The controlling terminal's device number, in the kernel's `new_encode_dev` form.
    pub(crate) tty: Option<u32>,
    /// A zombie, which can only be reaped.
    pub(crate) ended: bool,
    /// The id in its `TERMD_TERMINAL`.
    pub(crate) mark: Option<TerminalId>,
    /// The path of its cgroup, where it is asked for.
    pub(crate) cgroup: Option<PathBuf>,
    /// The terminal that an earlier scan found it in, or whose tty or pipes it has open.
    pub(crate) lesser_evidence: Option<TerminalId>,
}

/// What identifies a terminal's processes.
#[derive(Debug, Clone)]
pub(crate) struct Identity<'a> {
    pub(crate) id: &'a TerminalId,
    pub(crate) root: ProcessId,
    /// The init of its PID namespace, where it has one.
    pub(crate) init: Option<ProcessId>,
    /// The path of the cgroup that is its own, where it has one.
    pub(crate) cgroup: Option<&'a Path>,
    /// Its tty's device number, while the keeper holds the master: later the number is reused.
    pub(crate) tty: Option<u32>,
}

/// The device number of a `/dev/pts` entry as `proc_pid_stat(5)` prints it.
pub(crate) fn encode_device(major: u32, minor: u32) -> u32 {
    (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)
}

/// Who is below the keeper and belongs to no terminal; with their descendants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Excluded<'a> {
    /// The pids of the server and of a program that is tried.
    pub(crate) servers: [Option<i32>; 2],
    /// The children that the keeper had when it was executed. They are not termd's.
    pub(crate) inherited: &'a [ProcessId],
}

/// The processes below the keeper, without the excluded ones and their descendants. A process whose
/// parent is missing or younger is somebody else's: `/proc` may hide other users' processes.
pub(crate) fn descendants(
    all: BTreeMap<i32, Process>,
    keeper: i32,
    excluded: Excluded<'_>,
) -> Vec<Process> {
    // The keeper is last: as pid 1 of a container it replaces init.
    let mut verdicts = HashMap::from([(0, false), (1, false), (keeper, true)]);
    let servers = excluded.servers.into_iter().flatten();
    verdicts.extend(servers.map(|pid| (pid, false)));
    let inherited = excluded.inherited.iter();
    let inherited = inherited.filter(|id| all.get(&id.pid).is_some_and(|there| there.id == **id));
    verdicts.extend(inherited.map(|id| (id.pid, false)));
    for &pid in all.keys() {
        let mut path = Vec::new();
        let mut at = pid;
        let verdict = loop {
            if let Some(&verdict) = verdicts.get(&at) {
                break verdict;
            }
            path.push(at);
            match all.get(&at) {
                // A ring of parents comes only from a torn snapshot.
                Some(process) if path.len() <= all.len() => {
                    let parent = all.get(&process.parent);
                    if parent.is_some_and(|parent| parent.id.start_time > process.id.start_time) {
                        break false;
                    }
                    at = process.parent;
                }
                _ => break false,
            }
        };
        verdicts.extend(path.into_iter().map(|pid| (pid, verdict)));
    }
    all.into_values()
        .filter(|process| process.id.pid != keeper && verdicts.get(&process.id.pid) == Some(&true))
        .collect()
}

/// For each process the index of the terminal that it belongs to.
pub(crate) fn owners(processes: &[Process], terminals: &[Identity<'_>]) -> Vec<Option<usize>> {
    let evidence = Evidence::new(processes, terminals);
    let at: HashMap<i32, usize> = processes
        .iter()
        .enumerate()
        .map(|(index, process)| (process.id.pid, index))
        .collect();
    let own: Vec<Option<usize>> = processes
        .iter()
        .map(|process| evidence.of(process))
        .collect();
    (0..processes.len())
        .map(|start| {
            let mut visited = HashSet::new();
            let mut index = start;
            loop {
                if let Some(owner) = own[index] {
                    return Some(owner);
                }
                index = *at.get(&processes[index].parent)?;
                if !visited.insert(index) {
                    return None;
                }
            }
        })
        .collect()
}

struct Evidence<'a> {
    /// By root pid, the terminals that had it, the earliest first, each with its start time.
    roots: HashMap<i32, Vec<(u64, usize)>>,
    ttys: HashMap<u32, usize>,
    marks: HashMap<&'a TerminalId, usize>,
    starts: HashMap<i32, u64>,
    inits: HashMap<ProcessId, usize>,
    cgroups: HashMap<&'a Path, usize>,
}

impl<'a> Evidence<'a> {
    fn new(processes: &[Process], terminals: &[Identity<'a>]) -> Self {
        let mut roots: HashMap<i32, Vec<(u64, usize)>> = HashMap::new();
        for (index, terminal) in terminals.iter().enumerate() {
            let same_pid = roots.entry(terminal.root.pid).or_default();
            same_pid.push((terminal.root.start_time, index));
            same_pid.sort_unstable();
        }
        Self {
            roots,
            ttys: terminals
                .iter()
                .enumerate()
                .filter_map(|(index, terminal)| Some((terminal.tty?, index)))
                .collect(),
            marks: terminals
                .iter()
                .enumerate()
                .map(|(index, terminal)| (terminal.id, index))
                .collect(),
            starts: processes
                .iter()
                .map(|process| (process.id.pid, process.id.start_time))
                .collect(),
            inits: terminals
                .iter()
                .enumerate()
                .filter_map(|(index, terminal)| Some((terminal.init?, index)))
                .collect(),
            cgroups: terminals
                .iter()
                .enumerate()
                .filter_map(|(index, terminal)| Some((terminal.cgroup?, index)))
                .collect(),
        }
    }

    fn of(&self, process: &Process) -> Option<usize> {
        self.as_root(process)
            .or_else(|| self.inits.get(&process.id).copied())
            .or_else(|| self.by_cgroup(process))
            .or_else(|| self.by_session(process))
            .or_else(|| self.marks.get(process.mark.as_ref()?).copied())
            .or_else(|| self.ttys.get(&process.tty?).copied())
            .or_else(|| self.marks.get(process.lesser_evidence.as_ref()?).copied())
    }

    fn as_root(&self, process: &Process) -> Option<usize> {
        let same_pid = self.roots.get(&process.id.pid)?;
        let root = same_pid
            .iter()
            .find(|(start, _)| *start == process.id.start_time)?;
        Some(root.1)
    }

    fn by_cgroup(&self, process: &Process) -> Option<usize> {
        let mut cgroups = process.cgroup.as_deref()?.ancestors();
        cgroups.find_map(|cgroup| self.cgroups.get(cgroup).copied())
    }

    /// A session's number stays taken while the session has a member. After that a later terminal
    /// may have got it as a pid, or a process that is no root.
    fn by_session(&self, process: &Process) -> Option<usize> {
        let same_pid = self.roots.get(&process.session)?;
        let (start, index) = same_pid
            .iter()
            .rev()
            .find(|(start, _)| *start <= process.id.start_time)?;
        match self.starts.get(&process.session) {
            Some(leader_start) if leader_start != start => None,
            _ => Some(*index),
        }
    }
}

#[cfg(test)]
mod tests;
