//! The audit: records in a chain of hashes, appended, listed, and verified.

pub(super) mod action;
pub(super) mod chain;
pub(super) mod entry;
pub(super) mod head;
pub(super) mod list;
pub(super) mod outcome;
pub(super) mod verify;

use std::sync::Arc;

use termd_proto::audit::{
    AuditFilter, AuditHashes, AuditOrder, AuditPage, AuditVerdict, RecordHash,
};
use tokio::sync::oneshot;

use self::entry::AuditEntry;
use self::head::AuditHead;
use super::Store;
use super::error::StoreError;
use super::file::check;
use super::writer::queue::{AuditRequest, Urgent};

/// Details that are redacted on the task itself, in bytes of text: these take a millisecond.
const MAX_INLINE_BYTES: usize = 8 << 10;

impl Store {
    /// Whether the chain still has the head of the server before, or retention has dropped it.
    pub async fn has_earlier_head(&self) -> Result<bool, StoreError> {
        let Some(earlier) = &self.earlier_head else {
            return Ok(true);
        };
        let mut snapshot = self.snapshot().await?;
        let anchor = chain::anchor(&mut snapshot).await?;
        if anchor.seq >= earlier.seq {
            return Ok(anchor.seq > earlier.seq || anchor.hash == earlier.hash);
        }
        let found = list::hashes(&mut snapshot, &[earlier.seq]).await?;
        Ok(found.iter().any(|record| record.hash == earlier.hash))
    }

    /// Writes an audit record. A record that cannot be written is an error at once: what it would have
    /// recorded must not be done. What ends something is done all the same: the record of that is
    /// written as soon as it can be.
    ///
    /// Returns the record's number when it is on the disk; `None`: it will be.
    pub async fn audit(&self, entry: AuditEntry) -> Result<Option<i64>, StoreError> {
        let (done, written) = oneshot::channel();
        let entry = self.redacted(entry).await?;
        let urgent = Urgent::Audit(AuditRequest { entry, done });
        self.urgent.send(urgent).await?;
        written.await?
    }

    /// One page of audit records.
    pub async fn list_audit(
        &self,
        filter: &AuditFilter,
        cursor: Option<&str>,
        limit: u32,
        order: AuditOrder,
    ) -> Result<AuditPage, StoreError> {
        list::list(&mut *self.snapshot().await?, filter, cursor, limit, order).await
    }

    /// The hashes of those of these records that exist.
    pub async fn audit_hashes(&self, records: &[i64]) -> Result<AuditHashes, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let hashes = list::hashes(&mut snapshot, records).await?;
        let anchor = chain::anchor(&mut snapshot).await?;
        let head = chain::head(&mut snapshot).await?;
        Ok(AuditHashes {
            records: hashes.into_iter().map(RecordHash::from).collect(),
            dropped_through: anchor.seq,
            head: head.into(),
            database: self.path.to_string_lossy().into_owned(),
        })
    }

    /// The newest record on the disk, and every newer one as it is written.
    pub fn watch_audit(&self) -> AuditHead {
        AuditHead::new(self.head.clone(), self.path.clone())
    }

    /// Checks the audit chain, row by row, from its anchor, and whether the database's schema and indexes
    /// are what they should be. Records cut off the end are found missing if this process wrote them, or
    /// if the earlier head is known.
    pub async fn verify_audit(&self) -> Result<AuditVerdict, StoreError> {
        // Taken before the snapshot, which then has at least these records.
        let newest = self.head.borrow().clone();
        let written = [self.earlier_head.clone(), Some(newest)];
        let (done, found) = oneshot::channel();
        self.urgent.send(Urgent::FindForged(done)).await?;
        found.await??;
        let mut snapshot = self.snapshot().await?;
        let written = written.into_iter().flatten().collect();
        let mut verdict = verify::verify(&mut snapshot, written).await?;
        verdict.database_fault = check::fault(&mut snapshot).await?;
        Ok(verdict)
    }

    /// The entry without secrets in its details. Long details are redacted on a blocking thread.
    pub(super) async fn redacted(&self, entry: AuditEntry) -> Result<AuditEntry, StoreError> {
        let redactor = Arc::clone(&self.redactor);
        let is_short = entry.detail_weight() <= MAX_INLINE_BYTES;
        let redact = move || AuditEntry {
            detail: redactor.map(entry.detail),
            ..entry
        };
        if is_short {
            return Ok(redact());
        }
        let redacted = tokio::task::spawn_blocking(redact).await;
        redacted.map_err(|_| StoreError::Closed)
    }
}
