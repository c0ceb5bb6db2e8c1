//! The record and the event of a limit that a terminal has reached.

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{EndCause, ReachedLimit};
use tokio::sync::broadcast;

use crate::service::audit_log::AuditLog;
use crate::store::{AuditAction, AuditOutcome, own_actor};
use crate::terminal::handle::Terminal;

/// Tells of limits that terminals reach. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct LimitRecorder {
    audit: AuditLog,
    events: broadcast::Sender<TerminalEvent>,
}

impl LimitRecorder {
    pub(crate) fn new(audit: AuditLog, events: broadcast::Sender<TerminalEvent>) -> Self {
        Self { audit, events }
    }

    /// Records that a terminal has reached a limit. Returns the limit's value. A record that cannot
    /// be written delays the caller no longer than the attempt.
    pub(crate) async fn record(&self, terminal: &Terminal, limit: EndCause) -> u64 {
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
        let profiles = held_to.map(|held_to| held_to.profiles.clone());
        let detail = Map::from_iter([
            ("limit".to_owned(), limit.as_str().into()),
            ("value".to_owned(), value.into()),
            ("output_bytes".to_owned(), terminal.end().0.into()),
            (
                "profiles".to_owned(),
                Value::from(profiles.unwrap_or_default()),
            ),
        ]);
        let (action, actor) = (AuditAction::LimitReached, own_actor());
        let recorded = self
            .audit
            .record(action, AuditOutcome::Ok, &actor, Some(id), detail);
        if let Err(error) = recorded.await {
            tracing::error!(terminal = %id, %error, "cannot record that a limit was reached");
        }
        value
    }

    /// Tells subscribers of it.
    pub(crate) fn publish(&self, terminal: &Terminal, limit: EndCause, value: u64) {
        let _ = self.events.send(TerminalEvent::LimitReached {
            id: terminal.id().clone(),
            limit: ReachedLimit::Ends(limit),
            value,
        });
    }
}
