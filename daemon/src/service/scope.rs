//! Commands in scopes of their own: put there before they run, and what the kernel kills in one for
//! memory.
//!
//! Promises: each limit of a scope is told as held or as missing. A root that was killed for memory
//! has [`EndCause::OutOfMemory`] before its exit is told; another process of a terminal that
//! was is an event, and the terminal lives on.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use termd_proto::TerminalId;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{
    Confinement as Told, EndCause, MissingWall, ReachedLimit, ScopeLimits,
};

use super::Terminals;
use crate::scope::{Cgroup, ScopeError, ScopeLimit, enclose};
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::message::{ProcessId, WaitStatus};

/// A kill that was seen this long before a root's death by SIGKILL was the root's: the keeper tells
/// of the death, and the cgroup of the kill, each in its own time.
const ONE_MOMENT: Duration = Duration::from_secs(2);

/// What a scope holds, and does not.
#[derive(Debug, Default)]
pub(super) struct InScope {
    held: Vec<ScopeLimit>,
    pub(super) missing: Vec<(ScopeLimit, String)>,
}

impl InScope {
    /// None of it.
    pub(super) fn nothing(limits: &ScopeLimits, why: &impl fmt::Display) -> Self {
        let missing = ScopeLimit::requested(limits).into_iter();
        Self {
            held: Vec::new(),
            missing: missing.map(|wall| (wall, why.to_string())).collect(),
        }
    }

    /// What is told of a command, with this.
    pub(super) fn added_to(self, told: Option<Told>) -> Option<Told> {
        told.map(|mut told| {
            let held = self.held.iter().map(|wall| wall.name().to_owned());
            told.held.extend(held);
            let missing = self.missing.into_iter();
            told.missing
                .extend(missing.map(|(wall, reason)| MissingWall {
                    wall: wall.name().to_owned(),
                    reason,
                }));
            told
        })
    }
}

/// The scopes of terminals whose root runs. Locked for look-ups, never across a wait.
#[derive(Debug, Default)]
pub(super) struct Scopes(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<TerminalId, Seen>,
    /// The kills in all of them, those that are gone included, that were seen.
    beside: u64,
}

#[derive(Debug)]
struct Seen {
    cgroup: Cgroup,
    kills: u64,
    last: Option<Instant>,
}

/// How a root's death looks from its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    /// It was not killed for memory.
    Other,
    /// It was, which somebody was told of a moment ago.
    Known,
    /// It was.
    News,
}

impl Scopes {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: &TerminalId, cgroup: Cgroup) {
        let mut known = self.known();
        if known.by_id.is_empty() {
            // The slice may have been another one since.
            known.beside = cgroup.killed_for_memory_beside().unwrap_or(0);
        }
        let seen = Seen {
            kills: cgroup.killed_for_memory().unwrap_or(0),
            cgroup,
            last: None,
        };
        known.by_id.insert(id.clone(), seen);
    }

    pub(super) fn forget(&self, id: &TerminalId) {
        self.known().by_id.remove(id);
    }

    /// Whether the kernel has killed more of it since the last look.
    fn look(&self, id: &TerminalId) -> bool {
        let mut known = self.known();
        let more = known.by_id.get_mut(id).map_or(0, Seen::more);
        known.beside += more;
        more > 0
    }

    /// Its root was reaped: nothing more is asked of it.
    fn end(&self, id: &TerminalId, status: WaitStatus) -> Death {
        let mut known = self.known();
        let Some(mut seen) = known.by_id.remove(id) else {
            return Death::Other;
        };
        let more = if seen.cgroup.killed_for_memory().is_some() {
            seen.more()
        } else {
            // systemd was faster. What was killed in the slice, and in nothing that is left of it,
            // was killed here.
            let left: u64 = known.by_id.values_mut().map(Seen::more).sum();
            known.beside += left;
            let all = seen.cgroup.killed_for_memory_beside();
            all.unwrap_or(0).saturating_sub(known.beside)
        };
        known.beside += more;
        let is_recent = seen.last.is_some_and(|last| last.elapsed() < ONE_MOMENT);
        match status {
            WaitStatus::Signaled(nix::libc::SIGKILL) if more > 0 => Death::News,
            WaitStatus::Signaled(nix::libc::SIGKILL) if is_recent => Death::Known,
            WaitStatus::Signaled(_) | WaitStatus::Exited(_) | WaitStatus::CpuTimeUp => Death::Other,
        }
    }
}

impl Seen {
    fn more(&mut self) -> u64 {
        let now = self.cgroup.killed_for_memory().unwrap_or(self.kills);
        let more = now.saturating_sub(self.kills);
        if more > 0 {
            self.kills = now;
            self.last = Some(Instant::now());
        }
        more
    }
}

impl Terminals {
    pub(super) async fn put_into_scope(
        &self,
        id: &TerminalId,
        process: ProcessId,
        limits: &ScopeLimits,
    ) -> (InScope, Vec<u8>) {
        match enclose(id, process.pid, limits).await {
            Ok(enclosed) => {
                let directory = enclosed.cgroup.to_bytes();
                self.inner.scopes.begin(id, enclosed.cgroup);
                let (held, missing) = (enclosed.held, enclosed.missing);
                (InScope { held, missing }, directory)
            }
            Err(error) => {
                tracing::warn!(terminal = %id, %error, "no scope");
                (InScope::nothing(limits, &error), Vec::new())
            }
        }
    }

    /// Takes over the scope of a terminal that an earlier server has put into one.
    pub(super) fn adopt_scope(&self, terminal: &Arc<Terminal>) {
        let (id, pid) = (terminal.id(), terminal.record.pid);
        let limits = terminal.record.held_to.as_ref();
        if limits.is_none_or(|held_to| held_to.scope.is_none()) {
            return;
        }
        match Cgroup::of(pid, id) {
            Ok(cgroup) => {
                self.inner.scopes.begin(id, cgroup);
                self.watch_memory(terminal);
            }
            // By best effort it may never have had one.
            Err(ScopeError::NotInside(_)) => {}
            Err(error) => tracing::warn!(terminal = %id, %error, "its scope is not found"),
        }
    }

    /// Its root was reaped: tells so, and before it, whether that was for memory.
    pub(super) fn tell_reaped(&self, terminal: &Arc<Terminal>, status: WaitStatus) {
        let death = self.inner.scopes.end(terminal.id(), status);
        if death != Death::Other {
            terminal.update(|progress| {
                progress.end_cause.get_or_insert(EndCause::OutOfMemory);
            });
        }
        if death == Death::News {
            let terminals = self.clone();
            let terminal = Arc::clone(terminal);
            tokio::spawn(async move { terminals.tell_of_memory(&terminal).await });
        }
        terminal.root_was_reaped(status);
    }

    /// From now on it is told what of this terminal the kernel kills for memory.
    pub(super) fn watch_memory(&self, terminal: &Arc<Terminal>) {
        let known = self.inner.scopes.known();
        let Some(seen) = known.by_id.get(terminal.id()) else {
            return;
        };
        let followed = seen.cgroup.follow();
        drop(known);
        let mut events = match followed {
            Ok(events) => events,
            Err(error) => {
                let id = terminal.id();
                return tracing::debug!(terminal = %id, %error, "its memory is not followed");
            }
        };
        let terminals = self.clone();
        let terminal = Arc::clone(terminal);
        tokio::spawn(async move {
            let mut watch = terminal.watch_unattended();
            loop {
                tokio::select! {
                    changed = events.changed() => if changed.is_err() {
                        return;
                    },
                    _ = watch.wait_for(|progress| progress.exit.is_some()) => return,
                }
                if terminals.inner.scopes.look(terminal.id()) {
                    terminals.tell_of_memory(&terminal).await;
                }
            }
        });
    }

    async fn tell_of_memory(&self, terminal: &Arc<Terminal>) {
        let limit = EndCause::OutOfMemory;
        let value = self.record_limit(terminal, limit).await;
        let id = terminal.id().clone();
        let limit = ReachedLimit::Ends(limit);
        let event = TerminalEvent::LimitReached { id, limit, value };
        let _ = self.inner.events.send(event);
    }
}
