//! Writes audit records, and owns the writing connection with the head of the chain.
//!
//! A record is answered after its commit is on the disk, or at once with the reason why it is not.
//! Records that wait together are committed together. **Invariant:** the head is always one that was
//! committed; after a failure it is read again.
//!
//! Transactions are plain statements, not sqlx's: SQLite ends a transaction itself when the disk
//! is full, and sqlx would still count it as open.

use std::sync::Arc;

use serde_json::{Map, Value};
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::watch;

use super::prune::{self, Pruned, Step};
use super::queue::AuditRequest;
use super::reserve::{Refusals, Reserve, Space};
use crate::store::audit::action::AuditAction;
use crate::store::audit::chain;
use crate::store::audit::entry::AuditEntry;
use crate::store::audit::head::Head;
use crate::store::audit::outcome::AuditOutcome;
use crate::store::error::StoreError;
use crate::store::file::identity::FileIdentities;

/// The longest details that the record of a refusal repeats, in bytes of JSON.
const MAX_REPEATED_BYTES: usize = 2_048;

/// Writes audit records and steps of retention.
pub(crate) struct AuditWriter {
    connection: SqliteConnection,
    /// The head of the chain; `None` after a failure, until it is read again.
    head: Option<Head>,
    /// Receives the head after each commit.
    published: watch::Sender<Head>,
    files: Arc<FileIdentities>,
    reserve: Reserve,
}

impl AuditWriter {
    pub(crate) fn new(
        connection: SqliteConnection,
        published: watch::Sender<Head>,
        files: Arc<FileIdentities>,
        reserve: Reserve,
    ) -> Self {
        let head = Some(published.borrow().clone());
        Self {
            connection,
            head,
            published,
            files,
            reserve,
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

    /// Ends a transaction that failed. SQLite may have ended it already, which is an error here.
    pub(super) async fn roll_back(&mut self) {
        let _ = self.execute("ROLLBACK").await;
        self.head = None;
    }

    /// Empties the log into the database and closes it.
    pub(super) async fn close(mut self) -> Result<(), sqlx::Error> {
        let emptied = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
        emptied.and(self.connection.close().await)
    }

    /// Whether anything but a refusal may be written now. The first time that there is space again is
    /// recorded in the chain.
    async fn may_write(&mut self) -> Result<(), StoreError> {
        self.files.check()?;
        match self.reserve.space() {
            Space::Enough => Ok(()),
            Space::None => Err(StoreError::DiskFull),
            Space::Recovered(refusals) => {
                tracing::info!(
                    refused = refusals.refused,
                    "there is room on the disk again"
                );
                if let Err(error) = self.append(&recovered(&refusals)).await {
                    tracing::error!(%error, "cannot record that there is room again");
                }
                Ok(())
            }
        }
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
            let last = match head {
                Some(head) => head,
                None => self.current_head().await?,
            };
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
        let answer = match written {
            Ok(seq) => Ok(seq),
            Err(error) => {
                tracing::error!(%error, action = request.entry.action.as_str(), "no audit record could be written");
                self.refuse(&request.entry, &error).await;
                Err(error)
            }
        };
        let _ = request.done.send(answer);
    }

    async fn refuse_all(&mut self, audits: Vec<AuditRequest>, error: &StoreError) {
        tracing::error!(%error, records = audits.len(), "no audit records could be written");
        for request in audits {
            self.refuse(&request.entry, error).await;
            let answer = same_for_all(error).unwrap_or(StoreError::Locked);
            let _ = request.done.send(Err(answer));
        }
    }

    /// Where the disk is full: gives the reserve up, and records in it that a record was refused.
    async fn refuse(&mut self, entry: &AuditEntry, error: &StoreError) {
        if !matches!(error, StoreError::DiskFull) {
            return;
        }
        self.reserve.spend();
        if entry.action.is_of_the_past() || !self.reserve.refuse(entry.at_ms) {
            return;
        }
        match self.append(&refused(entry)).await {
            Ok(_) => self.reserve.recorded(),
            Err(error) => tracing::error!(%error, "cannot even record a refusal"),
        }
    }

    /// Appends a record in a transaction of its own; returns its number.
    async fn append(&mut self, entry: &AuditEntry) -> Result<i64, sqlx::Error> {
        let appended = async {
            let head = self.current_head().await?;
            chain::append(&mut self.connection, &head, entry).await
        };
        match appended.await {
            Ok(head) => {
                let seq = head.seq;
                self.publish(Some(head));
                Ok(seq)
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    /// Does a step of retention.
    pub(super) async fn prune(&mut self, step: Step) -> Result<Pruned, StoreError> {
        let pruned = async {
            let head = self.current_head().await?;
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

    async fn current_head(&mut self) -> Result<Head, sqlx::Error> {
        match &self.head {
            Some(head) => Ok(head.clone()),
            None => chain::head(&mut self.connection).await,
        }
    }

    /// Publishes a head whose records are on the disk.
    fn publish(&mut self, head: Option<Head>) {
        if let Some(head) = head {
            self.published.send_replace(head.clone());
            self.head = Some(head);
        }
    }

    /// Answers callers with the numbers of their records, of which `head` is the last.
    pub(super) fn publish_and_answer(&mut self, head: Option<Head>, audits: Vec<AuditRequest>) {
        if let Some(head) = &head {
            for (seq, request) in (0..=head.seq).rev().zip(audits.into_iter().rev()) {
                let _ = request.done.send(Ok(seq));
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

fn refused(entry: &AuditEntry) -> AuditEntry {
    let mut detail = Map::from_iter([
        ("action".to_owned(), Value::from(entry.action.as_str())),
        ("reason".to_owned(), "the disk is full".into()),
    ]);
    let repeated = Value::Object(entry.detail.clone());
    if repeated.to_string().len() <= MAX_REPEATED_BYTES {
        detail.insert("detail".to_owned(), repeated);
    }
    AuditEntry {
        action: AuditAction::AuditRefused,
        outcome: AuditOutcome::Refused,
        detail,
        ..entry.clone()
    }
}

fn recovered(refusals: &Refusals) -> AuditEntry {
    let detail = [
        ("refused", Value::from(refusals.refused)),
        ("recorded", Value::from(refusals.recorded)),
    ];
    AuditEntry::own(refusals.last_ms, AuditAction::AuditRecovered, detail)
}
