//! Runs every [`TreeKill`]: one scan for all that are due, then the signals, by pidfd.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::time::Instant;

use nix::libc::{SIGCONT, SIGHUP, SIGKILL, SIGTERM};
use termd_proto::TerminalId;

use super::membership::Excluded;
use super::scan::{RootGroup, Scan, Tree, TreeId, open_pidfd, signal_process};
use super::tree_kill::{Pass, TreeKill};
use crate::poll::{Poller, Source, Token};
use crate::protocol::message::{EndTree, ProcessId, Refusal, ToServer};

/// The number of a server's request.
pub(crate) type RequestNumber = u32;

/// A tree that is being ended.
#[derive(Debug)]
struct Entry {
    kill: TreeKill,
    /// The requests to answer at the end.
    requests: Vec<RequestNumber>,
    /// The processes whose end wakes the keeper.
    watched: HashMap<ProcessId, (Token, OwnedFd)>,
}

/// The end of a tree kill.
#[derive(Debug)]
pub(crate) struct Concluded {
    /// The requests to answer.
    pub(crate) requests: Vec<RequestNumber>,
    pub(crate) answer: ToServer,
}

/// All trees that are being ended.
#[derive(Debug)]
pub(crate) struct TreeKiller {
    entries: BTreeMap<TreeId, Entry>,
    /// The terminals of processes that a scan found, while these are being ended. A process that was
    /// found by its parent alone has another one when the parent has ended.
    known: HashMap<ProcessId, TerminalId>,
    /// The earliest time of the next scan: scans take at most half of the keeper's time.
    next_scan: Instant,
}

impl TreeKiller {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            entries: BTreeMap::new(),
            known: HashMap::new(),
            next_scan: now,
        }
    }

    /// Begins to end a tree, or joins the kill that is under way; the earlier SIGKILL then wins.
    /// `request` is answered at the end.
    pub(crate) fn start(
        &mut self,
        id: &TreeId,
        end: EndTree,
        request: Option<RequestNumber>,
        now: Instant,
    ) {
        let entry = (self.entries.entry(id.clone()))
            .and_modify(|entry| entry.kill.join(end.grace, now))
            .or_insert_with(|| Entry {
                kill: TreeKill::new(end.signal, end.grace, now),
                requests: Vec::new(),
                watched: HashMap::new(),
            });
        entry.requests.extend(request);
    }

    /// Whether this tree is being ended.
    pub(crate) fn is_ending(&self, id: &TreeId) -> bool {
        self.entries.contains_key(id)
    }

    /// Whether no tree is being ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops the requests of a server that is gone. The kills go on.
    pub(crate) fn drop_requests(&mut self) {
        for entry in self.entries.values_mut() {
            entry.requests.clear();
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let deadlines = self.entries.values().map(|entry| entry.kill.deadline());
        deadlines.map(|deadline| deadline.max(self.next_scan)).min()
    }

    /// A watched process has ended.
    pub(crate) fn process_ended(
        &mut self,
        id: &TreeId,
        process: ProcessId,
        poller: &mut Poller,
        now: Instant,
    ) {
        if let Some(entry) = self.entries.get_mut(id) {
            if let Some((token, pidfd)) = entry.watched.remove(&process) {
                poller.unwatch(token, pidfd);
            }
            entry.kill.process_gone(process, now);
        }
    }

    /// A terminal's root has ended. Whether its tree is at the stage of SIGKILL.
    pub(crate) fn root_exited(&mut self, id: &TreeId, now: Instant) -> bool {
        let Some(entry) = self.entries.get_mut(id) else {
            return false;
        };
        entry.kill.root_exited(now);
        entry.kill.is_killing()
    }

    /// Takes the next step of every kill that is due, and returns those that are over.
    pub(crate) fn progress(
        &mut self,
        now: Instant,
        trees: &[Tree<'_>],
        excluded: Excluded<'_>,
        poller: &mut Poller,
    ) -> Vec<Concluded> {
        if now < self.next_scan {
            return Vec::new();
        }
        let due: Vec<TreeId> = (self.entries.iter_mut())
            .filter_map(|(id, entry)| entry.kill.is_scan_due(now).then(|| id.clone()))
            .collect();
        if due.is_empty() {
            return Vec::new();
        }
        let killed: Vec<&TreeId> = (due.iter())
            .filter(|id| {
                self.entries
                    .get(id)
                    .is_some_and(|entry| entry.kill.is_killing())
            })
            .collect();
        let scan = if killed.is_empty() {
            Scan::new(trees, excluded, &self.known)
        } else {
            Scan::stopping(trees, excluded, &self.known, |scan| {
                killed.iter().flat_map(|id| scan.members(id)).collect()
            })
        };
        let concluded = due
            .iter()
            .filter_map(|id| self.take_pass(id, &scan, poller, Instant::now()))
            .collect();
        let end = Instant::now();
        self.next_scan = end + end.duration_since(now);
        concluded
    }

    fn take_pass(
        &mut self,
        id: &TreeId,
        scan: &Scan<'_>,
        poller: &mut Poller,
        now: Instant,
    ) -> Option<Concluded> {
        let entry = self.entries.get_mut(id)?;
        let mut alive = scan.members(id);
        if let TreeId::Terminal(terminal) = id {
            let known = alive.iter().map(|process| (*process, terminal.clone()));
            self.known.extend(known);
        }
        if let Some(init) = scan.init(id)
            && (alive.is_empty() || entry.kill.is_killing())
        {
            // With the init the kernel ends the whole namespace, whatever is in it.
            signal_process(init, SIGKILL);
            alive.push(init);
        }
        let is_uncertain = scan.is_uncertain() || scan.is_cgroup_populated(id);
        match entry.kill.pass(&alive, is_uncertain, now) {
            Pass::Over => self.conclude(id, ToServer::Done, poller),
            Pass::GivenUp(count) => {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                self.conclude(id, ToServer::Refused(Refusal::Survivors(count)), poller)
            }
            Pass::Signal {
                signal,
                targets,
                whole_group,
            } => {
                entry.watch(id, &alive, poller, now);
                let group = if whole_group {
                    RootGroup::Included
                } else {
                    RootGroup::Excluded
                };
                scan.signal(id, &targets, signal, group);
                if signal == SIGKILL {
                    scan.kill_cgroup(id);
                }
                if matches!(signal, SIGTERM | SIGHUP) {
                    // A stopped job receives the signal only when it continues.
                    scan.signal(id, &targets, SIGCONT, group);
                }
                None
            }
        }
    }

    /// Ends a kill without an answer: its terminal is gone.
    pub(crate) fn cancel(&mut self, id: &TreeId, poller: &mut Poller) {
        self.conclude(id, ToServer::Done, poller);
    }

    fn conclude(
        &mut self,
        id: &TreeId,
        answer: ToServer,
        poller: &mut Poller,
    ) -> Option<Concluded> {
        let entry = self.entries.remove(id)?;
        if let TreeId::Terminal(id) = id {
            self.known.retain(|_, terminal| terminal != id);
        }
        for (token, pidfd) in entry.watched.into_values() {
            poller.unwatch(token, pidfd);
        }
        let requests = entry.requests;
        Some(Concluded { requests, answer })
    }
}

impl Entry {
    /// Watches those processes that are not watched yet.
    fn watch(&mut self, id: &TreeId, alive: &[ProcessId], poller: &mut Poller, now: Instant) {
        for &process in alive {
            if self.watched.contains_key(&process) {
                continue;
            }
            let watched = open_pidfd(process).and_then(|pidfd| {
                let token = poller.watch(&pidfd, Source::Process(id.clone(), process))?;
                Ok((token, pidfd))
            });
            match watched {
                Ok(watched) => {
                    self.watched.insert(process, watched);
                }
                Err(rustix::io::Errno::SRCH) => self.kill.process_gone(process, now),
                Err(_) => self.kill.cannot_wait_for_all(now),
            }
        }
    }
}
