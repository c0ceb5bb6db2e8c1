//! A record before it has a place in the chain.

use serde_json::{Map, Value};
use termd_proto::TerminalId;
use termd_proto::terminal::{Front, Owner};

use super::action::AuditAction;
use super::outcome::AuditOutcome;

/// An audit record to be written. The store gives it its number and hashes.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// What was done.
    pub action: AuditAction,
    /// What came of it.
    pub outcome: AuditOutcome,
    /// Who did it.
    pub actor: Owner,
    /// The terminal that it was done to.
    pub terminal: Option<TerminalId>,
    /// Further fields, which depend on the action.
    pub detail: Map<String, Value>,
}

impl AuditEntry {
    /// A record of something that the store did by itself.
    pub(crate) fn own<const N: usize>(
        at_ms: i64,
        action: AuditAction,
        detail: [(&str, Value); N],
    ) -> Self {
        let detail = detail.map(|(name, value)| (name.to_owned(), value));
        Self {
            at_ms,
            action,
            outcome: AuditOutcome::Ok,
            actor: own_actor(),
            terminal: None,
            detail: detail.into_iter().collect(),
        }
    }

    /// About how much text is in the details.
    pub(crate) fn detail_weight(&self) -> usize {
        self.detail.values().map(weight).sum()
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(weight).sum(),
        Value::Object(fields) => fields.values().map(weight).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The actor of what the daemon does by itself.
pub fn own_actor() -> Owner {
    Owner {
        front: Front::Daemon,
        uid: rustix::process::getuid().as_raw(),
        pid: rustix::process::getpid().as_raw_nonzero().get(),
        exe: None,
        session: None,
        client: None,
        agent: None,
        terminal: None,
    }
}
