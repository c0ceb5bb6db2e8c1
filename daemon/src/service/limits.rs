//! Ending what has run or printed for as long as its profile lets it: one task for each terminal
//! that has such a limit, and none for the others.
//!
//! Promises: a limit survives the server, for the deadline is a reading of a clock that the next
//! one shares; what reached a limit is ended as `session.kill` does, and says so in the audit chain,
//! to subscribers, and in its own facts. A record that cannot be written holds this up no longer
//! than the attempt: what runs away is ended all the same.

use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{EndCause, ReachedLimit};

use super::Terminals;
use crate::store::own_actor;
use crate::terminal::handle::Terminal;

/// The time of `CLOCK_MONOTONIC` in milliseconds: the same for every process since the boot.
pub(super) fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let milliseconds = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or(0);
    seconds * 1_000 + milliseconds
}

impl Terminals {
    /// From now on this terminal is ended where it reaches its deadline or its quota.
    pub(super) fn watch_limits(&self, terminal: &Arc<Terminal>) {
        let quota = terminal.record.held_to.as_ref();
        let quota = quota.and_then(|held_to| held_to.output_bytes);
        let deadline = terminal.record.deadline_ms;
        if quota.is_none() && deadline.is_none() {
            return;
        }
        let terminals = self.clone();
        let terminal = Arc::clone(terminal);
        tokio::spawn(async move {
            let mut watch = terminal.watch_unattended();
            let over = watch.wait_for(|progress| {
                let has_ended = progress.exit.is_some();
                has_ended || quota.is_some_and(|quota| progress.end.0 > quota)
            });
            let limit = tokio::select! {
                () = until(deadline) => EndCause::Timeout,
                reached = over => match reached {
                    // What it printed last may be over the quota: it has ended by itself.
                    Ok(progress) if progress.exit.is_none() => EndCause::OutputBytes,
                    Ok(_) | Err(_) => return,
                },
            };
            terminals.limit_reached(&terminal, limit).await;
        });
    }

    async fn limit_reached(&self, terminal: &Arc<Terminal>, limit: EndCause) {
        let id = terminal.id();
        let value = self.record_limit(terminal, limit).await;
        // A command that ended while this was recorded ended by itself.
        terminal.update(|progress| {
            if progress.exit.is_none() {
                progress.end_cause = Some(limit);
            }
        });
        if terminal.progress().end_cause.is_none() {
            return;
        }
        if let Err(error) = self.inner.store.put_terminal(terminal.row()).await {
            tracing::error!(terminal = %id, %error, "cannot keep which limit was reached");
        }
        let event = TerminalEvent::LimitReached {
            id: id.clone(),
            limit: ReachedLimit::Ends(limit),
            value,
        };
        let _ = self.inner.events.send(event);
        let ended = self.end_processes(terminal, nix::libc::SIGTERM).await;
        if let Err(error) = ended {
            tracing::error!(terminal = %id, %error, "cannot end what reached a limit");
        }
    }

    /// Says in the audit chain that a limit was reached. Returns the limit.
    pub(super) async fn record_limit(&self, terminal: &Terminal, limit: EndCause) -> u64 {
        let id = terminal.id();
        let held_to = terminal.record.held_to.as_ref();
        let value = held_to.and_then(|held_to| match limit {
            EndCause::Timeout => held_to.timeout_ms,
            EndCause::OutputBytes => held_to.output_bytes,
            EndCause::OutOfMemory => held_to.scope?.memory_bytes,
            EndCause::CpuTime => held_to.cpu_time_ms,
            EndCause::FileBytes => held_to.file_bytes,
            EndCause::IdleTimeout => None,
        });
        let value = value.unwrap_or_default();
        tracing::info!(terminal = %id, limit = limit.as_str(), value, "a limit is reached");
        let mut detail = Map::new();
        detail.insert("limit".to_owned(), limit.as_str().into());
        detail.insert("value".to_owned(), value.into());
        detail.insert("output_bytes".to_owned(), terminal.end().0.into());
        let profiles = held_to.map(|held_to| held_to.profiles.clone());
        detail.insert(
            "profiles".to_owned(),
            Value::from(profiles.unwrap_or_default()),
        );
        let actor = own_actor();
        let recorded = self
            .audit("limit.reached", "ok", &actor, Some(id), detail)
            .await;
        if let Err(error) = recorded {
            tracing::error!(terminal = %id, %error, "cannot record that a limit was reached");
        }
        value
    }
}

/// Resolves at a time of the monotonic clock; never where there is none.
async fn until(deadline_ms: Option<u64>) {
    let Some(deadline_ms) = deadline_ms else {
        return std::future::pending().await;
    };
    // A timer may be early by its granularity.
    loop {
        let left = deadline_ms.saturating_sub(monotonic_ms());
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left)).await;
    }
}
