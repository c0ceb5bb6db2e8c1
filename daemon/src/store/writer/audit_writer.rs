//! Writes audit records, and owns the writing connection with the head of the chain.
//!
//! A record is answered after its commit is on the disk, or at once with the reason why it is not.
//! Records that wait together are committed together. **Invariant:** the head is always a record that this
//! process committed, or that the chain ended in when it was opened. What is behind it, another process wrote.
//!
//! Transactions are plain statements, not sqlx's: SQLite ends a transaction itself when the disk
//! is full, and sqlx would still count it as open.

use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::watch;
use tokio::time::Instant;

use super::prune::{self, Pruned, Step};
use super::queue::AuditRequest;
use super::reserve::Reserve;
use super::unrecorded::{Unrecorded, refusal};
use crate::clock::now_ms;
use crate::store::audit::action::{AuditAction, WithoutRecord};
use crate::store::audit::chain;
use crate::store::audit::entry::AuditEntry;
use crate::store::audit::head::Head;
use crate::store::error::StoreError;
use crate::store::file::identity::FileIdentities;
use crate::store::imports::{self, PackedTerminal};

/// The pause between two attempts to write what waits, where nobody else writes.
const CATCH_UP_PAUSE: Duration = Duration::from_secs(1);

/// Writes audit records and steps of retention.
pub(crate) struct AuditWriter {
    connection: SqliteConnection,
    /// The head of the chain, sent after each commit.
    published: watch::Sender<Head>,
    files: Arc<FileIdentities>,
    reserve: Reserve,
    unrecorded: Unrecorded,
    /// Whether the last record did not fit on the disk.
    is_full: bool,
    catch_up_at: Instant,
}

impl AuditWriter {
    pub(crate) fn new(
        connection: SqliteConnection,
        published: watch::Sender<Head>,
        files: Arc<FileIdentities>,
        (reserve, unrecorded): (Reserve, Unrecorded),
    ) -> Self {
        Self {
            connection,
            published,
            files,
            is_full: reserve.is_spent(),
            reserve,
            unrecorded,
            catch_up_at: Instant::now(),
        }
    }

    /// The connection, for other writes in a transaction.
    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    pub(super) async fn execute(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        let executed = sqlx::query(statement).execute(&mut self.connection).await;
        executed.map(|_| ())
    }

    /// Ends a transaction that failed. SQLite may have ended it already, which is an error here. It may have
    /// failed because another process took the number of its record; the next one is then behind that.
    pub(super) async fn roll_back(&mut self) {
        let _ = self.execute("ROLLBACK").await;
        if let Err(error) = self.find_forged().await {
            tracing::debug!(%error, "the end of the audit chain was not checked");
        }
    }

    /// Looks for records behind the head, which another process wrote. That is recorded behind them, where
    /// `verify` finds it, and the chain goes on.
    pub(super) async fn find_forged(&mut self) -> Result<(), sqlx::Error> {
        let own = self.head().seq;
        let last = chain::head(&mut self.connection).await?;
        if last.seq <= own {
            return Ok(());
        }
        let from = own + 1;
        let through = last.seq;
        tracing::error!(from, through, "another process has appended to the audit");
        let detail = [("from", from.into()), ("through", through.into())];
        let entry = AuditEntry::own(now_ms(), AuditAction::AuditForged, detail);
        let head = chain::append(&mut self.connection, &last, &entry).await?;
        self.publish(Some(head));
        Ok(())
    }

    /// Empties the log into the database and closes it.
    pub(super) async fn close(mut self) -> Result<(), sqlx::Error> {
        let emptied = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
        emptied.and(self.connection.close().await)
    }

    /// Whether there is no space for records on the disk.
    pub(super) fn is_full(&self) -> bool {
        self.is_full || self.reserve.is_spent()
    }

    /// When [`catch_up`](Self::catch_up) is to be called although nobody writes.
    pub(super) fn catch_up_at(&self) -> Option<Instant> {
        let has_fallen_behind = self.is_full() || !self.unrecorded.is_empty();
        has_fallen_behind.then_some(self.catch_up_at)
    }

    /// Writes the records that wait, if that is possible by now.
    pub(super) async fn catch_up(&mut self) {
        if let Err(error) = self.may_write().await {
            tracing::debug!(%error, "records still wait");
        }
        self.catch_up_at = Instant::now() + CATCH_UP_PAUSE;
    }

    /// Whether a record may be written now. What no record tells of yet is recorded first.
    async fn may_write(&mut self) -> Result<(), StoreError> {
        self.files.check()?;
        if !self.reserve.refill() {
            return Err(StoreError::DiskFull);
        }
        if self.unrecorded.is_empty() {
            self.is_full &= self.reserve.is_spent();
            return Ok(());
        }
        let records = self.unrecorded.records(now_ms());
        if let Err(error) = self.append_together(&records).await {
            self.roll_back().await;
            if matches!(error, StoreError::DiskFull) {
                self.met_full_disk();
            }
            return Err(error);
        }
        tracing::info!(records = records.len(), "records can be written again");
        self.unrecorded = Unrecorded::default();
        self.reserve.note(&self.unrecorded);
        Ok(())
    }

    /// Appends records in a transaction of their own.
    async fn append_together(&mut self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE").await?;
        self.files.check()?;
        let mut head = self.head();
        for entry in entries {
            head = chain::append(&mut self.connection, &head, entry).await?;
        }
        self.execute("COMMIT").await?;
        self.publish(Some(head));
        Ok(())
    }

    fn met_full_disk(&mut self) {
        self.is_full = true;
        self.reserve.spend();
    }

    /// Commits records, those that wait together by one write to the disk.
    pub(super) async fn write(&mut self, audits: Vec<AuditRequest>) {
        if audits.len() > 1 {
            match self.begin().await {
                Ok(()) => {
                    if let Ok(head) = self.commit(&audits).await {
                        return self.publish_and_answer(head, audits);
                    }
                    self.roll_back().await;
                }
                Err(error) => {
                    // Alone, each would fail for the same reason, and wait for the lock as long again.
                    if let Some(error) = same_for_all(&error) {
                        return self.refuse_all(audits, &error).await;
                    }
                }
            }
        }
        for request in audits {
            self.write_alone(request).await;
        }
    }

    /// Begins a transaction, if anything may be written.
    pub(super) async fn begin(&mut self) -> Result<(), StoreError> {
        self.may_write().await?;
        if let Err(error) = self.execute("BEGIN IMMEDIATE").await {
            self.roll_back().await;
            return Err(error.into());
        }
        Ok(())
    }

    /// Appends records in the open transaction and commits it.
    pub(super) async fn commit(
        &mut self,
        audits: &[AuditRequest],
    ) -> Result<Option<Head>, StoreError> {
        if !audits.is_empty() {
            // The files may have been replaced since the transaction began.
            self.files.check()?;
        }
        let mut head = None;
        for request in audits {
            let last = head.unwrap_or_else(|| self.head());
            head = Some(chain::append(&mut self.connection, &last, &request.entry).await?);
        }
        self.execute("COMMIT").await?;
        Ok(head)
    }

    /// Commits one record. A lone statement is a transaction, and saves two trips to the connection's
    /// thread.
    pub(super) async fn write_alone(&mut self, request: AuditRequest) {
        let written = match self.may_write().await {
            Ok(()) => self.append(&request.entry).await.map_err(StoreError::from),
            Err(error) => Err(error),
        };
        match written {
            Ok(seq) => {
                let _ = request.done.send(Ok(Some(seq)));
            }
            Err(error) => {
                let action = request.entry.action.as_str();
                tracing::error!(%error, action, "no audit record could be written");
                self.go_without_record(request, error).await;
            }
        }
    }

    async fn refuse_all(&mut self, audits: Vec<AuditRequest>, error: &StoreError) {
        tracing::error!(%error, records = audits.len(), "no audit records could be written");
        for request in audits {
            let error = same_for_all(error).unwrap_or(StoreError::Locked);
            self.go_without_record(request, error).await;
        }
    }

    /// Answers the caller of a record that could not be written. Where the disk is full, the reserve is
    /// given up, and takes the record of an ending or of a refusal.
    async fn go_without_record(&mut self, request: AuditRequest, error: StoreError) {
        let AuditRequest { entry, done } = request;
        let is_full = matches!(error, StoreError::DiskFull);
        if is_full {
            self.met_full_disk();
        }
        let answer = match entry.action.without_record() {
            WithoutRecord::Retried => Err(error),
            WithoutRecord::Refused => {
                if is_full {
                    self.unrecorded.refuse();
                    self.append_to_reserve(&refusal(&entry)).await;
                }
                Err(error)
            }
            WithoutRecord::Deferred => Ok(self.defer(entry, is_full).await),
        };
        let _ = done.send(answer);
    }

    /// Writes the record of an ending into the space of the reserve, or keeps it for later.
    async fn defer(&mut self, entry: AuditEntry, is_full: bool) -> Option<i64> {
        // The records that wait come first.
        if is_full && !self.unrecorded.has_deferred() {
            let written = self.append_to_reserve(&entry).await;
            if written.is_some() {
                return written;
            }
        }
        self.unrecorded.defer(entry);
        self.reserve.note(&self.unrecorded);
        None
    }

    /// Appends one of the few records that are written while the disk is full; returns its number.
    async fn append_to_reserve(&mut self, entry: &AuditEntry) -> Option<i64> {
        if !self.unrecorded.may_write() {
            return None;
        }
        match self.append(entry).await {
            Ok(seq) => {
                self.unrecorded.written(entry.action);
                Some(seq)
            }
            Err(error) => {
                tracing::error!(%error, "not even the reserve takes a record");
                None
            }
        }
    }

    /// Appends a record in a transaction of its own; returns its number.
    async fn append(&mut self, entry: &AuditEntry) -> Result<i64, sqlx::Error> {
        let before = self.head();
        let mut appended = chain::append(&mut self.connection, &before, entry).await;
        if appended.is_err() {
            self.roll_back().await;
            let head = self.head();
            if head != before {
                appended = chain::append(&mut self.connection, &head, entry).await;
            }
        }
        let head = appended?;
        let seq = head.seq;
        self.publish(Some(head));
        Ok(seq)
    }

    /// Does a step of retention.
    pub(super) async fn prune(&mut self, step: Step) -> Result<Pruned, StoreError> {
        let pruned = async {
            self.find_forged().await?;
            let head = self.head();
            self.execute("BEGIN IMMEDIATE").await?;
            let pruned = prune::run(&mut self.connection, step, &head).await?;
            self.execute("COMMIT").await?;
            Ok::<_, sqlx::Error>(pruned)
        };
        match pruned.await {
            Ok((pruned, head)) => {
                self.publish(head);
                Ok(pruned)
            }
            Err(error) => {
                self.roll_back().await;
                Err(error.into())
            }
        }
    }

    /// Stores a terminal that was recorded elsewhere, and the record of that.
    pub(super) async fn import(
        &mut self,
        terminal: &PackedTerminal,
        entry: &AuditEntry,
    ) -> Result<(), StoreError> {
        self.find_forged().await?;
        self.begin().await?;
        let stored = async {
            imports::put(&mut self.connection, terminal).await?;
            let head = self.head();
            let head = chain::append(&mut self.connection, &head, entry).await?;
            self.execute("COMMIT").await?;
            Ok::<_, StoreError>(head)
        };
        match stored.await {
            Ok(head) => {
                self.publish(Some(head));
                Ok(())
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    /// Empties the log, whose frames still hold what was erased. A reader may keep it from that.
    pub(super) async fn empty_log(&mut self) -> Result<(), StoreError> {
        Ok(self.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?)
    }

    fn head(&self) -> Head {
        self.published.borrow().clone()
    }

    /// Publishes a head whose records are on the disk.
    fn publish(&mut self, head: Option<Head>) {
        if let Some(head) = head {
            self.published.send_replace(head);
        }
    }

    /// Answers callers with the numbers of their records, of which `head` is the last.
    pub(super) fn publish_and_answer(&mut self, head: Option<Head>, audits: Vec<AuditRequest>) {
        if let Some(head) = &head {
            for (seq, request) in (0..=head.seq).rev().zip(audits.into_iter().rev()) {
                let _ = request.done.send(Ok(Some(seq)));
            }
        }
        self.publish(head);
    }
}

/// The error again, where it is one that any record would meet now.
fn same_for_all(error: &StoreError) -> Option<StoreError> {
    match error {
        StoreError::Replaced { path } => Some(StoreError::Replaced { path: path.clone() }),
        StoreError::DiskFull => Some(StoreError::DiskFull),
        StoreError::Locked => Some(StoreError::Locked),
        _ => None,
    }
}
