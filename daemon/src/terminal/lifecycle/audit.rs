//! The audit records that a terminal's task writes.

use std::time::Duration;

use serde_json::Map;
use termd_proto::terminal::Gap;

use super::output_hash::output_hash;
use crate::clock::now_ms;
use crate::keeper_client::KeeperClient;
use crate::store::{AuditAction, AuditEntry, AuditOutcome, Store, StoreError, own_actor};
use crate::terminal::handle::Terminal;
use crate::terminal::output::disk::ReachedLimit;

/// The wait before another try, where the database refused the record of an exit.
const EXIT_RECORD_RETRY: Duration = Duration::from_secs(1);

/// Records, when it can, that output is not kept. The output is not kept either way, and its gap is
/// recorded with it.
pub(super) fn record_disk_limit(terminal: &Terminal, store: &Store, reached: ReachedLimit) {
    let id = terminal.id().clone();
    let entry = AuditEntry {
        at_ms: now_ms(),
        action: AuditAction::LimitReached,
        outcome: AuditOutcome::Ok,
        actor: own_actor(),
        detail: Map::from_iter([
            ("limit".to_owned(), reached.limit.as_str().into()),
            ("value".to_owned(), reached.value.into()),
            ("output_bytes".to_owned(), terminal.end().0.into()),
        ]),
        terminal: Some(id.clone()),
    };
    let store = store.clone();
    tokio::spawn(async move {
        if let Err(error) = store.audit(entry).await {
            tracing::error!(terminal = %id, %error, "cannot record that a limit was reached");
        }
    });
}

/// Writes the exit's row and audit record; then the keeper may release the terminal. A server that dies
/// before that leaves it to the next one, which finds the terminal in the keeper's inventory.
pub(super) async fn record_exit(
    terminal: &Terminal,
    store: &Store,
    keeper: &KeeperClient,
    gaps: &[Gap],
) {
    let hash = output_hash(&terminal.transcript, terminal.end()).await;
    let entry = exit_entry(terminal, gaps, hash.as_deref());
    loop {
        match store_exit(terminal, store, entry.clone(), hash.clone()).await {
            Ok(()) => break,
            Err(StoreError::Closed) => return,
            Err(error) => {
                tracing::error!(terminal = %terminal.id(), %error, "cannot record an exit");
                tokio::time::sleep(EXIT_RECORD_RETRY).await;
            }
        }
    }
    if let Err(error) = keeper.release_fds(terminal.id()).await {
        tracing::debug!(terminal = %terminal.id(), %error, "the keeper did not release it");
    }
}

fn exit_entry(terminal: &Terminal, gaps: &[Gap], output_hash: Option<&str>) -> AuditEntry {
    let progress = terminal.progress();
    let status = progress.exit.as_ref().and_then(|exit| exit.status.as_ref());
    let exit_code = status.and_then(|status| status.exit_code);
    let signal = status.and_then(|status| status.signal.clone());
    let mut detail = Map::from_iter([
        ("exit_code".to_owned(), exit_code.into()),
        ("signal".to_owned(), signal.into()),
        ("output_bytes".to_owned(), progress.end.0.into()),
    ]);
    if let Some(hash) = output_hash {
        detail.insert("output_sha256".to_owned(), hash.into());
    }
    if !gaps.is_empty() {
        let gaps = serde_json::to_value(gaps).unwrap_or_default();
        detail.insert("gaps".to_owned(), gaps);
    }
    if let Some(cause) = progress.end_cause {
        detail.insert("limit".to_owned(), cause.as_str().into());
    }
    AuditEntry {
        at_ms: now_ms(),
        action: AuditAction::TerminalExit,
        outcome: AuditOutcome::Ok,
        actor: terminal.record.owner.clone(),
        terminal: Some(terminal.id().clone()),
        detail,
    }
}

async fn store_exit(
    terminal: &Terminal,
    store: &Store,
    entry: AuditEntry,
    output_hash: Option<String>,
) -> Result<(), StoreError> {
    store.put_terminal(terminal.row()).await?;
    if let Some(hash) = output_hash {
        store.put_output_hash(terminal.id().clone(), hash).await?;
    }
    store.audit(entry).await?;
    store.flush().await
}
