//! Where a process came from when it was looked at.

use termd_proto::TerminalId;

use super::process::{Lineage, ProcessId, marked_terminal, terminal_of_cgroup};
use crate::service::registry::RunningTerminal;

/// A process, its parents and its terminals as they were. It may have lost its parents since, and
/// they may have become known as an agent's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub(super) process: ProcessId,
    /// From its parent on.
    pub(super) parents: Vec<ProcessId>,
    /// The terminals to which its parents, its cgroup and its environment lead.
    pub(super) terminals: Vec<TerminalId>,
    /// Whether a parent of it has ended below the keeper, which has adopted it.
    pub(super) is_orphan: bool,
    /// Whether nobody can tell where it came from: it has ended, it is in a PID namespace that this
    /// one does not see, it has too many parents, or it is below the keeper and in no terminal.
    pub(super) is_unknown: bool,
}

impl Origin {
    /// The origin of a process of which nobody can tell it.
    pub fn unknown(pid: Option<i32>) -> Self {
        Self {
            process: ProcessId {
                pid: pid.unwrap_or(0),
                started: 0,
            },
            parents: Vec::new(),
            terminals: Vec::new(),
            is_orphan: false,
            is_unknown: true,
        }
    }

    /// Looks at a process now.
    pub(super) fn of(pid: Option<i32>, keeper: i32, running: &[RunningTerminal]) -> Self {
        let lineage = pid.and_then(|pid| Lineage::of(pid, keeper));
        let Some(lineage) = lineage else {
            return Self::unknown(pid);
        };
        let pid = lineage.process.pid;
        let is_running = |id: &TerminalId| running.iter().any(|found| found.id == *id);
        let by_parents = running.iter().find(|found| lineage.leads_to(found.root));
        let by_parents = by_parents.map(|found| found.id.clone());
        // The environment and the cgroup are the process's own to choose.
        let is_root = |pid: i32| running.iter().any(|found| found.root == Some(pid));
        let is_orphan = lineage.is_below_keeper && !is_root(lineage.topmost());
        let is_lost = lineage.is_below_keeper && by_parents.is_none();
        let by_cgroup = terminal_of_cgroup(pid).filter(is_running);
        let by_environment = marked_terminal(pid).filter(is_running);
        let found = [by_parents, by_cgroup, by_environment];
        let mut terminals: Vec<TerminalId> = found.into_iter().flatten().collect();
        terminals.dedup();
        Self {
            process: lineage.process,
            parents: lineage.parents,
            terminals,
            is_orphan,
            is_unknown: is_lost || lineage.is_cut,
        }
    }
}
