//! The quota of all transcripts together.

use std::sync::Arc;

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{DiskLimit, ReachedLimit};
use tokio::sync::broadcast;

use crate::clock::now_ms;
use crate::service::audit_log::AuditLog;
use crate::service::registry::Registry;
use crate::store::{AuditAction, AuditOutcome, Store, StoreError, own_actor};
use crate::terminal::output::quota::level;
use termd_policy::MIN_TERMINAL_QUOTA_BYTES;

/// Where the quota is exceeded, this part of it is freed in addition, so that not every look drops
/// something.
const SLACK_PART: u64 = 16;
/// Most terminals that a record of dropped transcripts names.
const MAX_NAMED: usize = 32;

/// Keeps all transcripts together below a quota. Transcripts of ended terminals are dropped first,
/// oldest first; then the largest of running terminals are cut. The audit chain is never cut.
#[derive(Debug)]
pub(super) struct TotalQuota {
    /// In bytes as stored.
    pub(super) bytes: u64,
    pub(super) store: Store,
    pub(super) registry: Arc<Registry>,
    pub(super) audit: AuditLog,
    pub(super) events: broadcast::Sender<TerminalEvent>,
}

impl TotalQuota {
    /// Frees what is too much.
    pub(super) async fn enforce(&self) -> Result<(), StoreError> {
        let (store, total) = (&self.store, self.bytes);
        // Transcripts take no more than the file does. Nothing is read where the file is small.
        if store.database_bytes() <= total || store.used_bytes().await? <= total {
            return Ok(());
        }
        if store.transcript_bytes().await? <= total {
            return Ok(());
        }
        let target = total - total / SLACK_PART;
        let dropped = store.shrink_transcripts(target, now_ms()).await?;
        if !dropped.is_empty() {
            self.registry.discard_output(&dropped).await;
            self.report(&dropped).await;
        }
        let left = store.transcript_bytes().await?;
        if left > total {
            self.cut_running(left, target).await?;
        }
        Ok(())
    }

    /// Lowers the quotas of the largest running transcripts.
    async fn cut_running(&self, left: u64, target: u64) -> Result<(), StoreError> {
        let running = self.store.running_transcripts().await?;
        let sizes: Vec<u64> = running.iter().map(|size| size.stored).collect();
        let others = left.saturating_sub(sizes.iter().sum());
        let Some(level) = level(&sizes, target.saturating_sub(others)) else {
            return Ok(());
        };
        for size in running.iter().filter(|size| size.stored > level) {
            // A quota counts output. How well this output was packed so far says how much of it fits.
            let bytes = u128::from(size.length) * u128::from(level) / u128::from(size.stored);
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            if let Some(terminal) = self.registry.get(&size.terminal) {
                terminal.lower_total_quota(bytes.max(MIN_TERMINAL_QUOTA_BYTES));
            }
        }
        Ok(())
    }

    async fn report(&self, dropped: &[String]) {
        let (terminals, total) = (dropped.len(), self.bytes);
        tracing::info!(terminals, total, "old transcripts are dropped");
        let limit = ReachedLimit::Disk(DiskLimit::TotalQuota);
        for id in dropped.iter().filter_map(|id| id.parse().ok()) {
            let value = total;
            let _ = self
                .events
                .send(TerminalEvent::LimitReached { id, limit, value });
        }
        let named = dropped.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>();
        let detail = Map::from_iter([
            ("limit".to_owned(), DiskLimit::TotalQuota.as_str().into()),
            ("value".to_owned(), total.into()),
            ("dropped".to_owned(), dropped.len().into()),
            ("terminals".to_owned(), Value::from(named)),
        ]);
        let (action, outcome) = (AuditAction::LimitReached, AuditOutcome::Ok);
        let actor = own_actor();
        let recorded = self.audit.record(action, outcome, &actor, None, detail);
        if let Err(error) = recorded.await {
            tracing::error!(%error, "cannot record that transcripts were dropped");
        }
    }
}
