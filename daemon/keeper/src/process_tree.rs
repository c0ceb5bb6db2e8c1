//! Which terminal a process belongs to: pure, over a snapshot of the processes below the keeper.
//!
//! The strongest evidence decides, so that each process belongs to one terminal at the most:
//! it is the root; it is in the root's session; its environment is marked with the terminal's id; it
//! has the terminal as its controlling tty; its parent belongs to it. A mark is the process's own,
//! and outlives a double fork; one that names no terminal of ours is another daemon's, and says
//! nothing here. A tty is only a number, and a sandbox or a container, which has a devpts of its
//! own, counts from 0 again: so it is asked after the mark.

use std::collections::{BTreeMap, HashMap, HashSet};

use termd_proto::TerminalId;

use crate::protocol::message::ProcessId;

/// One process, as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The controlling terminal's device number, in the kernel's `new_encode_dev` form.
    pub(super) tty: Option<u32>,
    /// A zombie: it can neither run nor be signalled, only reaped.
    pub(super) ended: bool,
    /// The id in its `TERMD_TERMINAL`.
    pub(super) mark: Option<TerminalId>,
}

/// What identifies a terminal's processes.
#[derive(Debug, Clone)]
pub(super) struct Identity<'a> {
    pub(super) id: &'a TerminalId,
    pub(super) root: ProcessId,
    /// Its tty's device number, while the keeper holds the master: later the number is reused.
    pub(super) tty: Option<u32>,
}

/// The device number of a `/dev/pts` entry as `proc_pid_stat(5)` prints it.
pub(super) fn encode_device(major: u32, minor: u32) -> u32 {
    (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)
}

/// The processes below the keeper, without the server and what is below it. One whose parent is
/// missing counts: the parent ended while the snapshot was taken.
pub(super) fn descendants(
    all: BTreeMap<i32, Process>,
    keeper: i32,
    server: Option<i32>,
) -> Vec<Process> {
    let mut verdicts: HashMap<i32, bool> = HashMap::from([(keeper, true), (0, false), (1, false)]);
    verdicts.insert(keeper, true);
    verdicts.extend(server.map(|server| (server, false)));
    for &pid in all.keys() {
        let mut path = Vec::new();
        let mut at = pid;
        let verdict = loop {
            if let Some(&verdict) = verdicts.get(&at) {
                break verdict;
            }
            path.push(at);
            match all.get(&at) {
                // A ring of parents can only come of a torn snapshot.
                Some(process) if path.len() <= all.len() => at = process.parent,
                _ => break true,
            }
        };
        verdicts.extend(path.into_iter().map(|pid| (pid, verdict)));
    }
    all.into_values()
        .filter(|process| process.id.pid != keeper && verdicts.get(&process.id.pid) == Some(&true))
        .collect()
}

/// For each process the index of the terminal that it belongs to.
pub(super) fn owners(processes: &[Process], terminals: &[Identity<'_>]) -> Vec<Option<usize>> {
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
    /// By root pid, the terminals that had it, the earliest first.
    roots: HashMap<i32, Vec<(u64, usize)>>,
    ttys: HashMap<u32, usize>,
    marks: HashMap<&'a TerminalId, usize>,
    starts: HashMap<i32, u64>,
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
        }
    }

    fn of(&self, process: &Process) -> Option<usize> {
        self.as_root(process)
            .or_else(|| self.by_session(process))
            .or_else(|| self.marks.get(process.mark.as_ref()?).copied())
            .or_else(|| self.ttys.get(&process.tty?).copied())
    }

    fn as_root(&self, process: &Process) -> Option<usize> {
        let same_pid = self.roots.get(&process.id.pid)?;
        let root = same_pid
            .iter()
            .find(|(start, _)| *start == process.id.start_time)?;
        Some(root.1)
    }

    /// A session's number stays taken while the session has a member, but a later terminal may
    /// have got the pid of one that is quite gone; and so may a process that is no root at all.
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
#[path = "process_tree_tests.rs"]
mod tests;
