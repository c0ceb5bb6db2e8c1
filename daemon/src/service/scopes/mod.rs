//! Commands in systemd scopes of their own, and what the kernel kills in a scope for memory.
//!
//! **Promises:** each limit of a scope is reported as held or as missing. A root that was killed for
//! memory has [`EndCause::OutOfMemory`] before its exit is published. A kill of another process of
//! the terminal is an event, and the terminal lives on.

mod enforcement;
mod memory_kills;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_proto::TerminalId;
use termd_proto::terminal::{EndCause, ScopeLimits};

use self::memory_kills::{Death, MemoryKills};
use crate::scope::{Cgroup, ScopeError, enclose};
use crate::service::ending::LimitRecorder;
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::message::{ProcessId, WaitStatus};

pub(crate) use self::enforcement::ScopeEnforcement;

/// The scopes of terminals whose root runs. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Scopes {
    /// Locked for look-ups, never across a wait.
    kills: Arc<Mutex<MemoryKills>>,
    recorder: LimitRecorder,
}

impl Scopes {
    pub(crate) fn new(recorder: LimitRecorder) -> Self {
        Self {
            kills: Arc::default(),
            recorder,
        }
    }

    fn kills(&self) -> MutexGuard<'_, MemoryKills> {
        self.kills.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a process into a scope. Returns what holds, and the cgroup's directory; the directory is
    /// empty where there is no scope.
    pub(crate) async fn enclose(
        &self,
        id: &TerminalId,
        process: ProcessId,
        limits: &ScopeLimits,
    ) -> (ScopeEnforcement, Vec<u8>) {
        match enclose(id, process.pid, limits).await {
            Ok(enclosed) => {
                let directory = enclosed.cgroup.to_bytes();
                self.kills().insert(id, enclosed.cgroup);
                let (held, missing) = (enclosed.held, enclosed.missing);
                (ScopeEnforcement { held, missing }, directory)
            }
            Err(error) => {
                tracing::warn!(terminal = %id, %error, "no scope");
                (ScopeEnforcement::nothing(limits, &error), Vec::new())
            }
        }
    }

    /// A command was given up before it ran.
    pub(crate) fn forget(&self, id: &TerminalId) {
        self.kills().remove(id);
    }

    /// Takes over the scope of a terminal that an earlier server has started.
    pub(crate) fn adopt(&self, terminal: &Terminal) {
        let (id, pid) = (terminal.id(), terminal.record.pid);
        let limits = terminal.record.held_to.as_ref();
        if limits.is_none_or(|held_to| held_to.scope.is_none()) {
            return;
        }
        match Cgroup::of(pid, id) {
            Ok(cgroup) => self.kills().insert(id, cgroup),
            // By best effort there may never have been one.
            Err(ScopeError::NotInside(_)) => {}
            Err(error) => tracing::warn!(terminal = %id, %error, "its scope is not found"),
        }
    }

    /// A terminal's root was reaped. Notes whether that was for memory, and tells the terminal.
    pub(crate) fn root_was_reaped(&self, terminal: &Arc<Terminal>, status: WaitStatus) {
        let death = self.kills().root_was_reaped(terminal.id(), status);
        if death != Death::Other {
            terminal.update(|progress| {
                progress.end_cause.get_or_insert(EndCause::OutOfMemory);
            });
        }
        if death == Death::ForMemoryUnreported {
            let (this, terminal) = (self.clone(), Arc::clone(terminal));
            tokio::spawn(async move { this.report(&terminal).await });
        }
        terminal.root_was_reaped(status);
    }

    /// From now on it is reported what of this terminal the kernel kills for memory, where the
    /// terminal has a scope.
    pub(crate) fn watch(&self, terminal: &Arc<Terminal>) {
        let followed = self.kills().cgroup(terminal.id()).map(Cgroup::follow);
        let mut events = match followed {
            Some(Ok(events)) => events,
            Some(Err(error)) => {
                let id = terminal.id();
                return tracing::debug!(terminal = %id, %error, "its memory is not followed");
            }
            None => return,
        };
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            let mut watch = terminal.watch_unattended();
            loop {
                tokio::select! {
                    changed = events.changed() => if changed.is_err() {
                        return;
                    },
                    _ = watch.wait_for(|progress| progress.exit.is_some()) => return,
                }
                let has_more = this.kills().has_more(terminal.id());
                if has_more {
                    this.report(&terminal).await;
                }
            }
        });
    }

    async fn report(&self, terminal: &Terminal) {
        let limit = EndCause::OutOfMemory;
        let value = self.recorder.record(terminal, limit).await;
        self.recorder.publish(terminal, limit, value);
    }
}
