//! Closes idle terminals: one timer for all of them.
//!
//! **Promises:** the timer sleeps until the first terminal may be overdue. Terminals without an idle
//! timeout cost nothing, and one with a timeout wakes the timer at most once in that time. The audit
//! record, the log and the terminal's own facts say why a terminal was closed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::terminal::{CloseCause, TerminalState};
use tokio::sync::Notify;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use super::closing::Closing;
use super::ender::Ender;
use crate::service::registry::Registry;
use crate::store::own_actor;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::idle_timeout::IdleTimeout;

/// A terminal that could not be closed, because its audit record could not be written, is closed
/// after this.
const CLOSE_RETRY: Duration = Duration::from_mins(1);

/// The timer.
#[derive(Debug)]
pub(crate) struct IdleTimer {
    registry: Arc<Registry>,
    ender: Arc<Ender>,
    stopping: CancellationToken,
    /// Notified when a terminal with an idle timeout is listed.
    listed: Arc<Notify>,
}

impl IdleTimer {
    pub(crate) fn new(
        registry: Arc<Registry>,
        ender: Arc<Ender>,
        stopping: CancellationToken,
        listed: Arc<Notify>,
    ) -> Self {
        Self {
            registry,
            ender,
            stopping,
            listed,
        }
    }

    /// Closes idle terminals until the daemon stops.
    pub(crate) async fn run(self) {
        while !self.stopping.is_cancelled() {
            let listed = self.listed.notified();
            match self.close_overdue(Instant::now()) {
                Some(at) => tokio::select! {
                    () = sleep_until(at.into()) => {}
                    () = listed => {}
                },
                None => listed.await,
            }
        }
    }

    /// Closes what is overdue. Returns when the next terminal may be.
    fn close_overdue(&self, now: Instant) -> Option<Instant> {
        let open = self.registry.all().into_iter();
        let open = open.filter(|terminal| terminal.state() != TerminalState::Closed);
        let due = open.filter_map(|terminal| {
            let timeout = terminal.record.idle_timeout?;
            if terminal.activity.overdue_at(timeout, now) <= now {
                terminal.activity.put_off(now + CLOSE_RETRY);
                self.close(&terminal);
            }
            Some(terminal.activity.overdue_at(timeout, now))
        });
        due.min()
    }

    fn close(&self, terminal: &Arc<Terminal>) {
        let (ender, terminal) = (Arc::clone(&self.ender), Arc::clone(terminal));
        tokio::spawn(async move {
            let idle_ms = terminal.record.idle_timeout.map(IdleTimeout::ms);
            tracing::info!(terminal = %terminal.id(), idle_ms, "closing an idle terminal");
            let closing = Closing::because(CloseCause::Idle);
            if let Err(error) = ender.finish(&terminal, &own_actor(), closing).await {
                tracing::warn!(terminal = %terminal.id(), %error, "cannot close an idle terminal");
            }
        });
    }
}
