//! Ending trees: one scan for all endings that want one, then the signals, by pidfd.

use std::time::Instant;

use nix::libc::{SIGCONT, SIGHUP, SIGTERM};
use rustix::process::{Pid, PidfdFlags};
use termd_proto::TerminalId;

use super::ending::{Ending, Pass};
use super::event_loop::Keeper;
use super::inventory::RequestNumber;
use super::process_tree::{Process, owners};
use super::procfs;
use super::sys::{self, Unreaped};
use crate::protocol::message::{EndTree, ProcessId, Refusal, ToServer};

/// Whether the process group of a terminal's root is signalled as a whole beside its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootGroup {
    /// It is: what it forks this moment is reached too.
    AsAWhole,
    /// Members only: it has had the signal.
    MembersOnly,
}

impl Keeper {
    /// Begins to end a terminal's processes, or joins the ending that is under way.
    pub(super) fn end_tree(
        &mut self,
        id: &TerminalId,
        end: EndTree,
        request: RequestNumber,
        now: Instant,
    ) {
        if let Some(terminal) = self.inventory.get_mut(id) {
            terminal.waiters.push(request);
            match &mut terminal.ending {
                Some(ending) => ending.join(end.grace, now),
                None => terminal.ending = Some(Ending::new(end.signal, end.grace, now)),
            }
        }
    }

    /// Sends one signal to a terminal's processes.
    pub(super) fn signal_tree(&mut self, id: &TerminalId, signal: i32) {
        let processes = self.scan();
        let found = self.members(&processes, id);
        self.send_signal(id, &found, signal, RootGroup::AsAWhole);
    }

    /// When the next scan is due.
    pub(super) fn endings_deadline(&self) -> Option<Instant> {
        self.inventory
            .iter()
            .filter_map(|(_, terminal)| terminal.ending.as_ref())
            .map(|ending| ending.deadline().max(self.next_scan))
            .min()
    }

    /// A process that was waited for has ended.
    pub(super) fn member_gone(&mut self, terminal: &TerminalId, process: ProcessId) {
        if let Some(terminal) = self.inventory.get_mut(terminal)
            && let Some(ending) = &mut terminal.ending
        {
            ending.gone(process, Instant::now());
        }
    }

    /// Takes the next step of every ending that is due.
    pub(super) fn progress_endings(&mut self, now: Instant) {
        if now < self.next_scan {
            return;
        }
        let due: Vec<TerminalId> = self
            .inventory
            .iter_mut()
            .filter_map(|(id, terminal)| {
                let ending = terminal.ending.as_mut()?;
                ending.scan_due(now).then(|| id.clone())
            })
            .collect();
        if due.is_empty() {
            return;
        }
        let processes = self.scan();
        let owners = self.owners_of(&processes);
        let ids: Vec<TerminalId> = self.inventory.iter().map(|(id, _)| id.clone()).collect();
        for id in due {
            let found: Vec<&Process> = processes
                .iter()
                .zip(&owners)
                .filter(|(process, owner)| {
                    !process.ended && owner.is_some_and(|owner| ids[owner] == id)
                })
                .map(|(process, _)| process)
                .collect();
            self.take_pass(&id, &found, Instant::now());
        }
        let end = Instant::now();
        self.next_scan = end + end.duration_since(now);
        self.inventory.sweep();
    }

    fn take_pass(&mut self, id: &TerminalId, found: &[&Process], now: Instant) {
        let Some(terminal) = self.inventory.get_mut(id) else {
            return;
        };
        let Some(ending) = &mut terminal.ending else {
            return;
        };
        let alive: Vec<ProcessId> = found.iter().map(|process| process.id).collect();
        match ending.pass(&alive, now) {
            Pass::Over => self.conclude(id, &ToServer::Done),
            Pass::GivenUp(count) => {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                self.conclude(id, &ToServer::Refused(Refusal::Survivors(count)));
            }
            Pass::Signal {
                signal,
                targets,
                group_too,
            } => {
                self.wait_for(id, &alive, now);
                let targets: Vec<&Process> = found
                    .iter()
                    .copied()
                    .filter(|process| targets.contains(&process.id))
                    .collect();
                let group = if group_too {
                    RootGroup::AsAWhole
                } else {
                    RootGroup::MembersOnly
                };
                self.send_signal(id, &targets, signal, group);
                if matches!(signal, SIGTERM | SIGHUP) {
                    // A stopped job sees the signal only once it goes on.
                    self.send_signal(id, &targets, SIGCONT, group);
                }
            }
        }
    }

    /// Answers whoever waits for the end of a terminal's processes.
    fn conclude(&mut self, id: &TerminalId, answer: &ToServer) {
        for token in self.watched(id).into_values() {
            self.unwatch(token);
        }
        let Some(terminal) = self.inventory.get_mut(id) else {
            return;
        };
        terminal.ending = None;
        for request in std::mem::take(&mut terminal.waiters) {
            self.answer(request, answer);
        }
    }

    /// Watches those that are not watched yet.
    fn wait_for(&mut self, id: &TerminalId, alive: &[ProcessId], now: Instant) {
        let watched = self.watched(id);
        for &process in alive
            .iter()
            .filter(|process| !watched.contains_key(process))
        {
            let opened = open_pidfd(process);
            let vanished = matches!(opened, Err(rustix::io::Errno::SRCH));
            let watching =
                opened.is_ok_and(|pidfd| self.watch_member(id, process, pidfd).is_some());
            let Some(terminal) = self.inventory.get_mut(id) else {
                return;
            };
            if let Some(ending) = &mut terminal.ending {
                if vanished {
                    ending.gone(process, now);
                } else if !watching {
                    ending.cannot_wait_for(now);
                }
            }
        }
    }

    fn send_signal(&self, id: &TerminalId, targets: &[&Process], signal: i32, group: RootGroup) {
        let unreaped_root = self
            .inventory
            .iter()
            .find(|(of, _)| *of == id)
            .and_then(|(_, terminal)| terminal.unreaped_root());
        let reached = unreaped_root.filter(|&root| {
            group == RootGroup::AsAWhole && sys::kill_unreaped(Unreaped::GroupOf(root), signal)
        });
        for process in targets {
            // Nobody gets the same signal twice: some programs take the second for "at once".
            if reached != Some(process.group) {
                signal_process(process.id, signal);
            }
        }
    }

    fn scan(&self) -> Vec<Process> {
        let keeper = rustix::process::getpid().as_raw_pid();
        procfs::snapshot(keeper, self.server.pid())
    }

    /// Whose each process is. What nothing else tells of, because it has left its session, its
    /// parents and its environment behind, is still in the cgroup of its terminal.
    fn owners_of(&self, processes: &[Process]) -> Vec<Option<usize>> {
        let mut owners = owners(processes, &self.inventory.identities());
        for (index, (_, terminal)) in self.inventory.iter().enumerate() {
            let Some(cgroup) = &terminal.cgroup else {
                continue;
            };
            if owners.iter().all(Option::is_some) {
                break;
            }
            let inside = procfs::pids_in(cgroup);
            for (process, owner) in processes.iter().zip(&mut owners) {
                if owner.is_none() && inside.contains(&process.id.pid) {
                    *owner = Some(index);
                }
            }
        }
        owners
    }

    fn members<'a>(&self, processes: &'a [Process], id: &TerminalId) -> Vec<&'a Process> {
        let identities = self.inventory.identities();
        let owners = self.owners_of(processes);
        processes
            .iter()
            .zip(owners)
            .filter(|(process, owner)| {
                !process.ended && owner.is_some_and(|owner| identities[owner].id == id)
            })
            .map(|(process, _)| process)
            .collect()
    }
}

/// A pidfd of this very process: its start time is read after the pidfd holds its number.
fn open_pidfd(process: ProcessId) -> rustix::io::Result<std::os::fd::OwnedFd> {
    let pid = Pid::from_raw(process.pid).ok_or(rustix::io::Errno::SRCH)?;
    let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    if procfs::start_time(process.pid) == Some(process.start_time) {
        Ok(pidfd)
    } else {
        Err(rustix::io::Errno::SRCH)
    }
}

/// Signals this very process, if it still is there. One of another user's is not reached.
pub(super) fn signal_process(process: ProcessId, signal: i32) {
    use std::os::fd::AsFd;
    match open_pidfd(process) {
        Ok(pidfd) => {
            // ESRCH: it has ended, which is what was wanted. EPERM: a later pass gives it up.
            let _ = sys::signal_pidfd(pidfd.as_fd(), signal);
        }
        Err(rustix::io::Errno::SRCH) => {}
        // Out of descriptors. Its number was checked a moment ago, and reuse takes a whole round.
        Err(_) if procfs::start_time(process.pid) == Some(process.start_time) => {
            sys::kill_unreaped(Unreaped::Child(process.pid), signal);
        }
        Err(_) => {}
    }
}
