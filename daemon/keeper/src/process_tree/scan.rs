//! One look at all processes below the keeper, and signals to those of a terminal.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::libc::{SIGCONT, SIGSTOP};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags};
use termd_proto::TerminalId;

use super::membership::{self, Excluded, Identity, Process};
use super::procfs;
use crate::cgroup;
use crate::protocol::message::ProcessId;
use crate::sys::{self, Unreaped};

/// A terminal, as far as its processes go.
#[derive(Debug, Clone)]
pub(crate) struct Tree<'a> {
    pub(crate) identity: Identity<'a>,
    /// The cgroup that is the terminal's own, where it has one.
    pub(crate) cgroup: Option<&'a Path>,
    /// The root's pid, while no other process can have it.
    pub(crate) unreaped_root: Option<i32>,
    /// Its tty or pipes, as the links in `/proc/PID/fd` say it, as long as a process may have them
    /// open.
    pub(crate) stdio: &'a [PathBuf],
}

/// The processes that are ended together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TreeId {
    /// A terminal's.
    Terminal(TerminalId),
    /// Those that belong to no terminal that the keeper can tell.
    Orphans,
}

/// Which processes get a signal beside the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootGroup {
    /// The root's whole process group: a process that it forks this moment gets the signal too.
    Included,
    /// None: the group has had the signal.
    Excluded,
}

/// The most time for stopping before one kill. The next pass of the kill goes on.
const STOP_LIMIT: Duration = Duration::from_secs(1);
/// How often in a row the keeper's children are listed in vain before all processes are read again.
const QUIET_LISTINGS: usize = 3;

/// All processes below the keeper, each with its terminal.
pub(crate) struct Scan<'a> {
    trees: &'a [Tree<'a>],
    processes: Vec<Process>,
    /// For each process the index of its tree.
    owners: Vec<Option<usize>>,
}

impl<'a> Scan<'a> {
    /// Reads `/proc`. `known` has the terminals of processes that an earlier scan found.
    pub(crate) fn new(
        trees: &'a [Tree<'a>],
        excluded: Excluded<'_>,
        known: &HashMap<ProcessId, TerminalId>,
    ) -> Self {
        Self::of(procfs::all_pids(), trees, excluded, known)
    }

    /// Reads these processes only.
    fn of(
        pids: Vec<i32>,
        trees: &'a [Tree<'a>],
        excluded: Excluded<'_>,
        known: &HashMap<ProcessId, TerminalId>,
    ) -> Self {
        let keeper = rustix::process::getpid().as_raw_pid();
        let has_cgroups = trees.iter().any(|tree| tree.cgroup.is_some());
        let mut processes = procfs::snapshot(pids, keeper, excluded, has_cgroups);
        for process in &mut processes {
            process.lesser_evidence = known.get(&process.id).cloned();
        }
        let identities: Vec<_> = trees.iter().map(|tree| tree.identity.clone()).collect();
        let mut owners = membership::owners(&processes, &identities);
        if find_by_stdio(&mut processes, &owners, trees) {
            owners = membership::owners(&processes, &identities);
        }
        for (process, _) in (processes.iter_mut().zip(&owners)).filter(|(_, owner)| owner.is_none())
        {
            procfs::renew(process, keeper);
        }
        Self {
            trees,
            processes,
            owners,
        }
    }

    /// Stops what is about to be killed, until a scan finds nothing more: a process that runs on
    /// forks meanwhile, or starts another in the place of one that was killed. Returns the last scan.
    pub(crate) fn stopping(
        trees: &'a [Tree<'a>],
        excluded: Excluded<'_>,
        known: &HashMap<ProcessId, TerminalId>,
        is_killed: impl Fn(&Self) -> Vec<ProcessId>,
    ) -> Self {
        let give_up_at = Instant::now() + STOP_LIMIT;
        let mut stopped = HashSet::new();
        let mut stop = |scan: &Self| {
            let mut found = is_killed(scan);
            found.retain(|process| stopped.insert(*process));
            for process in &found {
                signal_process(*process, SIGSTOP);
            }
            !found.is_empty()
        };
        let mut zombies = HashSet::new();
        let mut seen = HashSet::new();
        loop {
            let scan = Self::new(trees, excluded, known);
            let has_stopped = stop(&scan);
            let ended = scan.own_zombies().filter(|zombie| zombies.insert(*zombie));
            let has_ended = ended.count() > 0;
            if !has_stopped && !has_ended || Instant::now() >= give_up_at {
                let killed = is_killed(&scan);
                stopped.retain(|process| !killed.contains(process));
                for process in stopped {
                    signal_process(process, SIGCONT);
                }
                return scan;
            }
            // What forks quickly is the keeper's child most of the time, and gone after a whole scan.
            let mut quiet = 0;
            while quiet < QUIET_LISTINGS && Instant::now() < give_up_at {
                let mut children = procfs::child_pids();
                children.retain(|pid| seen.insert(*pid));
                quiet += 1;
                if !children.is_empty() && stop(&Self::of(children, trees, excluded, known)) {
                    quiet = 0;
                }
            }
        }
    }

    /// Whether a process may have been missed: one that has ended may have forked it after `/proc` was
    /// listed. When the parent has ended, too, the keeper has adopted both, and reaps the zombie later.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.own_zombies().next().is_some()
    }

    /// Children of the keeper that have ended and are not reaped yet.
    fn own_zombies(&self) -> impl Iterator<Item = ProcessId> {
        let keeper = rustix::process::getpid().as_raw_pid();
        let zombies = self.processes.iter();
        let zombies = zombies.filter(move |process| process.ended && process.parent == keeper);
        zombies.map(|process| process.id)
    }

    /// Whether a process is in the tree's cgroup, where it has one.
    pub(crate) fn is_cgroup_populated(&self, id: &TreeId) -> bool {
        (self.cgroup(id)).is_some_and(cgroup::is_populated)
    }

    /// Kills what is in the tree's cgroup, where it has one.
    pub(crate) fn kill_cgroup(&self, id: &TreeId) {
        if let Some(cgroup) = self.cgroup(id) {
            cgroup::kill(cgroup);
        }
    }

    fn cgroup(&self, id: &TreeId) -> Option<&'a Path> {
        self.tree(id)?.cgroup
    }

    /// All processes that have not ended.
    pub(crate) fn all(&self) -> impl Iterator<Item = ProcessId> {
        let alive = self.processes.iter().filter(|process| !process.ended);
        alive.map(|process| process.id)
    }

    /// The processes of this tree that have not ended, without the init of its PID namespace: it takes
    /// no signal but SIGKILL, and that one ends all others.
    pub(crate) fn members(&self, id: &TreeId) -> Vec<ProcessId> {
        let members = self.members_of(id);
        members.map(|process| process.id).collect()
    }

    fn members_of(&self, id: &TreeId) -> impl Iterator<Item = &Process> {
        let owned = self.processes.iter().zip(&self.owners);
        let members = owned.filter(move |(process, owner)| {
            let tree = owner.and_then(|owner| self.trees.get(owner));
            let is_member = match (tree, id) {
                (None, TreeId::Orphans) => true,
                (Some(tree), TreeId::Terminal(id)) => {
                    tree.identity.id == id && tree.identity.init != Some(process.id)
                }
                _ => false,
            };
            !process.ended && is_member
        });
        members.map(|(process, _)| process)
    }

    /// The init of this tree's PID namespace, if it has not ended.
    pub(crate) fn init(&self, id: &TreeId) -> Option<ProcessId> {
        let init = self.tree(id)?.identity.init?;
        let mut processes = self.processes.iter();
        let process = processes.find(|process| process.id == init)?;
        (!process.ended).then_some(init)
    }

    fn tree(&self, id: &TreeId) -> Option<&'a Tree<'a>> {
        let TreeId::Terminal(id) = id else {
            return None;
        };
        self.trees.iter().find(|tree| tree.identity.id == id)
    }

    /// Signals these members of a terminal. None gets the signal twice: some programs take a second
    /// one for "at once".
    pub(crate) fn signal(&self, id: &TreeId, targets: &[ProcessId], signal: i32, group: RootGroup) {
        let root = self.tree(id).and_then(|tree| tree.unreaped_root);
        let reached = root.filter(|&root| {
            group == RootGroup::Included && sys::kill_unreaped(Unreaped::GroupOf(root), signal)
        });
        for process in self.members_of(id) {
            if targets.contains(&process.id) && reached != Some(process.group) {
                signal_process(process.id, signal);
            }
        }
    }
}

/// Notes for each process without an owner whose tty or pipes it has open. Whether it found any.
fn find_by_stdio(processes: &mut [Process], owners: &[Option<usize>], trees: &[Tree<'_>]) -> bool {
    let mut found = false;
    for (process, owner) in processes.iter_mut().zip(owners) {
        if owner.is_some() || process.ended {
            continue;
        }
        let tree = procfs::open_files(process.id.pid)
            .find_map(|file| trees.iter().find(|tree| tree.stdio.contains(&file)));
        if let Some(tree) = tree {
            process.lesser_evidence = Some(tree.identity.id.clone());
            found = true;
        }
    }
    found
}

/// A pidfd of exactly this process: its start time is read after the pidfd holds its pid.
pub(super) fn open_pidfd(process: ProcessId) -> rustix::io::Result<OwnedFd> {
    let pid = Pid::from_raw(process.pid).ok_or(Errno::SRCH)?;
    let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    if procfs::start_time(process.pid) == Some(process.start_time) {
        Ok(pidfd)
    } else {
        Err(Errno::SRCH)
    }
}

/// Signals exactly this process, if it is still there. One of another user is not reached.
pub(crate) fn signal_process(process: ProcessId, signal: i32) {
    match open_pidfd(process) {
        Ok(pidfd) => {
            // ESRCH: the process has ended. EPERM: a later pass gives it up.
            let _ = sys::signal_pidfd(pidfd.as_fd(), signal);
        }
        Err(Errno::SRCH) => {}
        // The keeper is out of descriptors. The pid was checked a moment ago, and the kernel reuses
        // it only after a whole round.
        Err(_) if procfs::start_time(process.pid) == Some(process.start_time) => {
            sys::kill_unreaped(Unreaped::Child(process.pid), signal);
        }
        Err(_) => {}
    }
}
