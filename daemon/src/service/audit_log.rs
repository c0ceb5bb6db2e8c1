//! The way of a record into the audit chain.

use serde_json::{Map, Value, json};
use termd_proto::TerminalId;
use termd_proto::terminal::{Front, Owner};

use crate::clock::now_ms;
use crate::store::{AuditAction, AuditEntry, AuditOutcome, Store};
use crate::terminal::TerminalError;
use crate::terminal::output::flood_turn::FloodTurns;

/// Writes audit records. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog {
    store: Store,
    /// Who acts is not to wait for floods.
    flood_turns: FloodTurns,
}

impl AuditLog {
    pub(crate) fn new(store: Store, flood_turns: FloodTurns) -> Self {
        Self { store, flood_turns }
    }

    /// Where the records are.
    pub(crate) fn store(&self) -> &Store {
        &self.store
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
        self.flood_turns.somebody_acts();
        let entry = Self::entry(action, outcome, actor, terminal, detail);
        let recorded = self.store.audit(entry).await;
        recorded.map(|_| ()).map_err(TerminalError::Audit)
    }

    /// A record that is written together with what it tells of.
    pub(crate) fn entry(
        action: AuditAction,
        outcome: AuditOutcome,
        actor: &Owner,
        terminal: Option<&TerminalId>,
        mut detail: Map<String, Value>,
    ) -> AuditEntry {
        // A front of an agent's says so itself.
        if let (Front::Cli, Some(agent)) = (actor.front, &actor.agent) {
            detail.insert("agent".to_owned(), json!(agent));
        }
        if let Some(works_in) = &actor.terminal {
            detail.insert("works_in".to_owned(), works_in.as_str().into());
        }
        AuditEntry {
            at_ms: now_ms(),
            action,
            outcome,
            actor: actor.clone(),
            terminal: terminal.cloned(),
            detail,
        }
    }
}
