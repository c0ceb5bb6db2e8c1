//! Records of changes of config.toml and approved.toml, written before a change is in force.

use serde_json::{Map, Value, json};

use crate::clock::now_ms;
use crate::config::{ApprovedInForce, Change, InForce, StartReason, approved_file, keep_approved};
use crate::paths::Paths;
use crate::store::{AuditAction, AuditEntry, AuditOutcome, Store, StoreError, own_actor};

/// Records a change of the configuration, before it is in force. Where that fails, the
/// configuration before stays.
pub(super) async fn record_change(in_force: InForce, store: &Store) -> Result<InForce, StoreError> {
    let Some(change) = &in_force.change else {
        return Ok(in_force);
    };
    let entry = change_entry(change, in_force.fault.as_deref(), Map::new());
    match store.audit(entry).await {
        Ok(_) => Ok(in_force),
        Err(error) => match in_force.unrecorded(&error.to_string()) {
            Some(before) => Ok(before),
            None => Err(error),
        },
    }
}

/// Finds what a person has agreed to for always. A change is recorded, and the text kept.
pub(super) async fn approved_in_force(
    paths: &Paths,
    config_hash: &str,
    store: &Store,
    reason: StartReason,
) -> ApprovedInForce {
    let file = approved_file(&paths.config_file);
    let mut approved = ApprovedInForce::find(&file, &paths.state_dir, reason);
    if let Some(change) = &approved.change {
        let more = Map::from_iter([
            ("file".to_owned(), json!(file)),
            ("config".to_owned(), config_hash.into()),
        ]);
        let entry = change_entry(change, approved.fault.as_deref(), more);
        if let Err(error) = store.audit(entry).await {
            approved = approved.unrecorded(&error.to_string());
        }
    }
    if let Some(fault) = &approved.fault {
        tracing::error!(fault, "approved.toml is not in force, the last good one is");
    }
    if let Err(error) = keep_approved(&approved.text, &paths.state_dir) {
        tracing::error!(%error, "cannot keep approved.toml for the next server");
    }
    approved
}

/// The record of a change of the policy.
fn change_entry(change: &Change, fault: Option<&str>, more: Map<String, Value>) -> AuditEntry {
    let (outcome, names, hashes) = match change {
        Change::Made { old, new } => (AuditOutcome::Ok, ["old", "new"], [old.as_ref(), Some(new)]),
        Change::Refused { stays, refused } => {
            let fault = fault.unwrap_or_default();
            let names = ["stays", "refused"];
            (
                AuditOutcome::RefusedBecause(fault.to_owned()),
                names,
                [Some(stays), refused.as_ref()],
            )
        }
    };
    let hashes = hashes.map(|hash| hash.map(String::as_str).into());
    let hashes = names.map(str::to_owned).into_iter().zip(hashes);
    AuditEntry {
        at_ms: now_ms(),
        action: AuditAction::PolicyChanged,
        outcome,
        actor: own_actor(),
        terminal: None,
        detail: hashes.chain(more).collect(),
    }
}
