//! Reaping: each child is looked at before it is reaped, so that its number still is its own while
//! the keeper acts on it.
#![allow(unsafe_code)] // waitid(2) itself: nix has no word for a real-time signal's status.

use std::time::{Duration, Instant};

use nix::libc;
use termd_proto::TerminalId;

use super::event_loop::Keeper;
use super::inventory::Terminal;
use super::procfs;
use super::sys::{self, Unreaped};
use crate::protocol::confinement::CPU_GRACE_SECONDS;
use crate::protocol::message::{KeeperEvent, ToServer, WaitStatus};

/// What the kernel counts by when it kills, ticks, and what it tells afterwards, which is scaled to
/// the time that was measured, differ by a little.
const CPU_ROUNDING: Duration = Duration::from_millis(100);

/// A child that has ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    pid: i32,
    status: WaitStatus,
}

/// Which child to wait for.
#[derive(Debug, Clone, Copy)]
enum Which {
    Any,
    Pid(i32),
}

impl Keeper {
    /// Reaps whatever has ended. Orphans (the keeper is their subreaper) only vanish.
    pub(super) fn reap(&mut self) {
        while let Some(ended) = wait(Which::Any, libc::WNOHANG | libc::WNOWAIT) {
            let now = Instant::now();
            if self.server.pid() == Some(ended.pid) {
                reap_pid(ended.pid);
                self.server_exited(ended.status, now);
            } else if let Some(id) = self.inventory.by_unreaped_root(ended.pid) {
                if self.is_builders_end(&id, ended) {
                    continue;
                }
                let Some(terminal) = self.inventory.get_mut(&id) else {
                    return;
                };
                // Its accounts go with the zombie.
                let status = told_of(ended, terminal.cpu_limit);
                if let Some(ending) = &mut terminal.ending {
                    // While the root is a zombie nobody else can get its group's number. Those
                    // that were only asked so far are asked once, by the scan.
                    if ending.is_killing() {
                        sys::kill_unreaped(Unreaped::GroupOf(ended.pid), libc::SIGKILL);
                    }
                    ending.root_exited(now);
                }
                reap_pid(ended.pid);
                terminal.status = Some(status);
                if terminal.is_shown() {
                    self.tell_exit(&KeeperEvent::Exited { id, status });
                }
            } else {
                reap_pid(ended.pid);
                self.inventory.reaped(ended.pid);
            }
        }
        self.inventory.sweep();
    }

    /// Whether it was no command that has ended as this terminal's root, but who was to build its
    /// sandbox; then it is reaped.
    fn is_builders_end(&mut self, id: &TerminalId, ended: Ended) -> bool {
        let Some(token) = self.inventory.get_mut(id).and_then(Terminal::with_builder) else {
            return false;
        };
        // What was said before its end comes first: it may be the command after all.
        self.conclude_start(id, token);
        let terminal = self.inventory.get_mut(id);
        let is_root = terminal.is_some_and(|terminal| terminal.root.pid == ended.pid);
        if !is_root {
            // It was refused and reaped, or another has become the root.
            reap_pid(ended.pid);
            self.inventory.reaped(ended.pid);
            return true;
        }
        let lead = self.inventory.get_mut(id).and_then(Terminal::lead);
        if !lead.is_some_and(|lead| lead.root_reaped(ended.status)) {
            // It runs without a builder, and ended.
            return false;
        }
        // What it has left of its building waits for it, perhaps for ever. Who says that it becomes
        // the command leads a group of its own by then.
        sys::kill_unreaped(Unreaped::GroupOf(ended.pid), libc::SIGKILL);
        reap_pid(ended.pid);
        true
    }

    /// Tells an exit, unless the terminal is still to be told of as a whole.
    pub(super) fn tell_exit(&mut self, event: &KeeperEvent) {
        let told_later = match (event, self.introduced()) {
            (KeeperEvent::Exited { id, .. }, Some(running)) => running.link().will_send(id),
            _ => false,
        };
        if !told_later {
            self.tell(&ToServer::Event(event.clone()));
        }
    }
}

/// How a root that is not reaped yet has ended. The kernel kills at the hard limit of processor time
/// as anybody would; that the time was used up is what tells its kill from another.
fn told_of(ended: Ended, cpu_limit: Option<Duration>) -> WaitStatus {
    let is_killed = ended.status == WaitStatus::Signaled(libc::SIGKILL);
    let Some(limit) = cpu_limit.filter(|_| is_killed) else {
        return ended.status;
    };
    let hard = limit + Duration::from_secs(CPU_GRACE_SECONDS);
    match procfs::cpu_time(ended.pid) {
        Some(used) if used + CPU_ROUNDING >= hard => WaitStatus::CpuTimeUp,
        Some(_) | None => ended.status,
    }
}

/// Reaps a child, waiting for its end: one that has ended, or has said that it is about to.
pub(super) fn reap_pid(pid: i32) {
    wait(Which::Pid(pid), 0);
}

/// waitid(2) for an exit. `None` where there is none.
fn wait(which: Which, flags: i32) -> Option<Ended> {
    let (kind, id) = match which {
        Which::Any => (libc::P_ALL, 0),
        Which::Pid(pid) => (libc::P_PID, pid.cast_unsigned()),
    };
    loop {
        // SAFETY: an all-zero siginfo_t is valid: it holds integers and unions of them.
        let mut info = unsafe { std::mem::zeroed::<libc::siginfo_t>() };
        // SAFETY: `info` is writable and of the right type.
        let waited = unsafe { libc::waitid(kind, id, &raw mut info, libc::WEXITED | flags) };
        if waited == -1 {
            if sys::errno() == libc::EINTR {
                continue;
            }
            return None;
        }
        // SAFETY: waitid filled in a SIGCHLD siginfo, or left it zero where nothing has ended.
        let (pid, value) = unsafe { (info.si_pid(), info.si_status()) };
        if pid == 0 {
            return None;
        }
        let status = if info.si_code == libc::CLD_EXITED {
            WaitStatus::Exited(value)
        } else {
            WaitStatus::Signaled(value)
        };
        return Some(Ended { pid, status });
    }
}
