//! Closing terminals that nobody uses any more: one timer for all of them.
//!
//! Promises: it sleeps until the first terminal may be overdue, so terminals without an idle
//! timeout cost nothing, and one with a timeout wakes it at the most once in that time. What it
//! closes says why: in the audit record, the log and the terminal's own facts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::terminal::{CloseCause, TerminalState};
use tokio::time::sleep_until;

use super::Terminals;
use super::ending::Closing;
use crate::store::own_actor;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::idle_timeout::IdleTimeout;

/// What could not be closed (the audit record could not be written) is tried again after this.
const CLOSE_RETRY: Duration = Duration::from_mins(1);

impl Terminals {
    /// From now on idle terminals are closed.
    pub(super) fn start_idle_timer(&self) {
        let terminals = self.clone();
        tokio::spawn(async move {
            while !terminals.is_refusing() {
                let listed = terminals.inner.idle_listed.notified();
                match terminals.close_overdue(Instant::now()) {
                    Some(at) => tokio::select! {
                        () = sleep_until(at.into()) => {}
                        () = listed => {}
                    },
                    None => listed.await,
                }
            }
        });
    }

    /// Closes what is overdue, and says when the next may be.
    fn close_overdue(&self, now: Instant) -> Option<Instant> {
        let with_timeout: Vec<_> = self
            .index()
            .by_id
            .values()
            .filter(|terminal| terminal.state() != TerminalState::Closed)
            .filter_map(|terminal| Some((Arc::clone(terminal), terminal.record.idle_timeout?)))
            .collect();
        let due = with_timeout.into_iter().map(|(terminal, timeout)| {
            if terminal.activity.overdue_at(timeout, now) <= now {
                terminal.activity.put_off(now + CLOSE_RETRY);
                self.close_idle(&terminal);
            }
            terminal.activity.overdue_at(timeout, now)
        });
        due.min()
    }

    fn close_idle(&self, terminal: &Arc<Terminal>) {
        let terminals = self.clone();
        let terminal = Arc::clone(terminal);
        tokio::spawn(async move {
            let idle_ms = terminal.record.idle_timeout.map(IdleTimeout::ms);
            tracing::info!(terminal = %terminal.id(), idle_ms, "closing an idle terminal");
            let closing = Closing::Close {
                cause: Some(CloseCause::Idle),
                eof: None,
            };
            let closed = terminals.finish(&terminal, &own_actor(), closing).await;
            if let Err(error) = closed {
                tracing::warn!(terminal = %terminal.id(), %error, "cannot close an idle terminal");
            }
        });
    }
}
