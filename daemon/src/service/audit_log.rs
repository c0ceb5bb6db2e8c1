//! The way of a record into the audit chain.

use serde_json::{Map, Value};
use termd_proto::TerminalId;
use termd_proto::terminal::Owner;

use crate::clock::now_ms;
use crate::store::{AuditAction, AuditEntry, AuditOutcome, Store};
use crate::terminal::TerminalError;

/// Writes audit records. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog {
    store: Store,
}

impl AuditLog {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Writes a record. Resolves when the record is on the disk; what it tells of is done only then.
    pub(crate) async fn record(
        &self,
        action: AuditAction,
        outcome: AuditOutcome,
        actor: &Owner,
        terminal: Option<&TerminalId>,
        detail: Map<String, Value>,
    ) -> Result<(), TerminalError> {
        let entry = AuditEntry {
            at_ms: now_ms(),
            action,
            outcome,
            actor: actor.clone(),
            terminal: terminal.cloned(),
            detail,
        };
        let recorded = self.store.audit(entry).await;
        recorded.map(|_| ()).map_err(TerminalError::Audit)
    }
}
