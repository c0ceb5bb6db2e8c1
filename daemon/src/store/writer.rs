//! The one writer: a task that owns the one writing connection.
//!
//! Two bounded queues lead to it. Urgent ones (audit records, steps of retention) are served at
//! once; blocks and rows are collected into batches. Promises: an audit record is answered after
//! its commit is on the disk, or with the reason why it is not, at once; a block is never dropped
//! while the disk may still take it — it waits here, the queue fills, and the spool absorbs.
//!
//! Transactions are plain statements, not sqlx's: SQLite ends a transaction itself when the disk
//! is full, and sqlx would go on counting it as open.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use sqlx::Connection;
use sqlx::error::ErrorKind;
use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::StoreError;
use super::audit::{self, Head};
use super::model::{AuditEntry, Block, TerminalRow};
use super::pack::Encoding;
use super::retention::{self, Pruned, Step};
use super::{rows, transcript};

/// Audit records and steps of retention that wait for the writer: as many as callers can wait at
/// once without the queue being what they wait for.
pub(super) const URGENT_QUEUE: usize = 256;
/// Blocks and rows that wait to be packed: 8 MiB of blocks, two batches.
pub(super) const WRITE_QUEUE: usize = 128;
/// Packed blocks that wait for the writer: enough that packing and writing overlap.
pub(super) const PACKED_QUEUE: usize = 16;
/// How long the first block of a batch waits for others: what a power failure may cost.
const BATCH_TIME: Duration = Duration::from_millis(100);
/// Output in a batch, before packing: what one transaction writes in about 20 ms.
const BATCH_BYTES: usize = 4 << 20;
/// Blocks and rows in a batch, however small they are.
const BATCH_ITEMS: usize = 1024;
/// How long to wait before trying again to write what could not be written.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// What callers queue.
#[derive(Debug)]
pub(super) enum Write {
    Block(Block),
    Terminal(Box<TerminalRow>),
    /// Answered when everything before it is committed.
    Flush(Reply<()>),
    /// Answered when everything is committed and the database is closed.
    Close(Reply<()>),
}

/// The same, packed.
#[derive(Debug)]
pub(super) enum PackedWrite {
    Block(Packed),
    Terminal(Box<TerminalRow>),
    Flush(Reply<()>),
    Close(Reply<()>),
}

/// A block as it is stored.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) terminal: TerminalId,
    pub(super) start: Offset,
    pub(super) end: Offset,
    pub(super) length: usize,
    pub(super) encoding: Encoding,
    pub(super) data: Vec<u8>,
    pub(super) committed: watch::Sender<Offset>,
}

/// What does not wait for a batch.
#[derive(Debug)]
pub(super) enum Urgent {
    Audit(AuditRequest),
    Prune(Step, Reply<Pruned>),
    /// Makes the database full at so many pages (0: as many as there are).
    #[cfg(test)]
    LimitPages(i64, Reply<()>),
}

/// An audit record and who waits for it.
#[derive(Debug)]
pub(super) struct AuditRequest {
    pub(super) entry: AuditEntry,
    pub(super) done: Reply<i64>,
}

/// Where an answer goes. Nobody may be waiting any more; the work is done all the same.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// The ends that the writer holds.
pub(super) struct Queues {
    pub(super) urgent: mpsc::Receiver<Urgent>,
    pub(super) writes: mpsc::Receiver<PackedWrite>,
    /// The head of the audit chain, told after each commit.
    pub(super) head: watch::Sender<Head>,
    /// The store is being closed: do not wait for a disk that takes nothing.
    pub(super) closing: CancellationToken,
}

/// The writer's state.
struct Writer {
    connection: SqliteConnection,
    queues: Queues,
    /// The head of the chain; `None` after a failure, until it was read again.
    head: Option<Head>,
    batch: VecDeque<PackedWrite>,
    batch_bytes: usize,
    /// When the batch is to be written; `None` while it is empty.
    due: Option<Instant>,
    disk: Disk,
    /// Who waits for the database to be closed.
    closed: Option<Reply<()>>,
}

/// Whether the last batch could be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    Takes,
    Refuses,
}

/// What the writer does next.
enum Next {
    Serve(Urgent),
    Collect(PackedWrite),
    WriteBatch,
    End,
}

/// Runs the writer until the store is closed or nobody has it any more.
pub(super) async fn run(connection: SqliteConnection, head: Head, queues: Queues) {
    let mut writer = Writer {
        connection,
        queues,
        head: Some(head),
        batch: VecDeque::new(),
        batch_bytes: 0,
        due: None,
        disk: Disk::Takes,
        closed: None,
    };
    let outcome = writer.work().await;
    writer.finish(outcome).await;
}

impl Writer {
    async fn work(&mut self) -> Result<(), StoreError> {
        while self.closed.is_none() {
            match self.next().await {
                Next::Serve(urgent) => self.serve(urgent).await,
                Next::Collect(write) => self.collect(write),
                Next::WriteBatch => self.write_batch().await?,
                Next::End => {
                    self.queues.closing.cancel();
                    return self.write_batch().await;
                }
            }
        }
        Ok(())
    }

    async fn next(&mut self) -> Next {
        let room = self.batch_bytes < BATCH_BYTES && self.batch.len() < BATCH_ITEMS;
        let refused = self.disk == Disk::Refuses;
        let due = self.due;
        let Queues {
            urgent,
            writes,
            closing,
            ..
        } = &mut self.queues;
        tokio::select! {
            biased;
            Some(urgent) = urgent.recv() => Next::Serve(urgent),
            () = closing.cancelled(), if refused => Next::WriteBatch,
            () = until(due) => Next::WriteBatch,
            write = writes.recv(), if room => write.map_or(Next::End, Next::Collect),
        }
    }

    fn collect(&mut self, write: PackedWrite) {
        let waited_for = match &write {
            PackedWrite::Block(block) => {
                self.batch_bytes += block.length;
                false
            }
            PackedWrite::Terminal(_) => false,
            PackedWrite::Flush(_) | PackedWrite::Close(_) => true,
        };
        self.batch.push_back(write);
        let full = self.batch_bytes >= BATCH_BYTES || self.batch.len() >= BATCH_ITEMS;
        let now = Instant::now();
        if self.due.is_none() {
            self.due = Some(now + BATCH_TIME);
        }
        if (waited_for || full) && self.disk == Disk::Takes {
            self.due = Some(now);
        }
    }

    /// Writes the batch; what the disk does not take stays in it. Fails only where the store is
    /// being closed and what is left cannot be written.
    async fn write_batch(&mut self) -> Result<(), StoreError> {
        while !self.batch.is_empty() {
            if let Err(error) = self.write_transaction().await {
                if self.disk == Disk::Takes {
                    tracing::error!(%error, "transcripts cannot be written; they wait");
                }
                self.disk = Disk::Refuses;
                if self.queues.closing.is_cancelled() {
                    return Err(error.into());
                }
                self.due = Some(Instant::now() + RETRY_PAUSE);
                return Ok(());
            }
            if self.disk == Disk::Refuses {
                tracing::info!("transcripts are written again");
                self.disk = Disk::Takes;
            }
            while let Ok(urgent) = self.queues.urgent.try_recv() {
                self.serve(urgent).await;
            }
        }
        self.due = None;
        Ok(())
    }

    /// Writes as much of the batch as comes before an audit record, and that too, in one
    /// transaction.
    async fn write_transaction(&mut self) -> Result<(), sqlx::Error> {
        let mut written = Written::default();
        let mut audits = Vec::new();
        let mut other = None;
        let connection = &mut self.connection;
        let urgent = &mut self.queues.urgent;
        let batch = &self.batch;
        let blocks = async {
            execute(&mut *connection, "BEGIN IMMEDIATE").await?;
            for write in batch {
                written.put(&mut *connection, write).await?;
                if !urgent.is_empty() {
                    break;
                }
            }
            written.raise_ends(&mut *connection).await
        };
        if let Err(error) = blocks.await {
            self.roll_back().await;
            return Err(error);
        }
        while let Ok(waiting) = self.queues.urgent.try_recv() {
            match waiting {
                Urgent::Audit(request) => audits.push(request),
                not_audit => {
                    other = Some(not_audit);
                    break;
                }
            }
        }
        let appended = self.append_all(&audits).await;
        let committed = match appended {
            Ok(head) => execute(&mut self.connection, "COMMIT").await.map(|()| head),
            Err(error) => Err(error),
        };
        let result = match committed {
            Ok(head) => {
                self.publish_and_answer(head, audits);
                self.settle(&written);
                Ok(())
            }
            Err(error) => {
                self.roll_back().await;
                // What keeps the blocks off the disk need not keep a record off it.
                for request in audits {
                    self.audit_alone(request).await;
                }
                Err(error)
            }
        };
        if let Some(urgent) = other {
            self.serve(urgent).await;
        }
        result
    }

    /// Takes out of the batch what was committed, and tells who waits for it.
    fn settle(&mut self, written: &Written) {
        for place in 0..written.items {
            match self.batch.pop_front() {
                Some(PackedWrite::Block(block)) => {
                    self.batch_bytes -= block.length;
                    if !written.refused.contains(&place) {
                        block.committed.send_replace(block.end);
                    }
                }
                Some(PackedWrite::Flush(done)) => {
                    let _ = done.send(Ok(()));
                }
                Some(PackedWrite::Close(done)) => self.closed = Some(done),
                Some(PackedWrite::Terminal(_)) | None => {}
            }
        }
    }

    async fn serve(&mut self, urgent: Urgent) {
        match urgent {
            Urgent::Audit(first) => {
                let mut audits = vec![first];
                let mut other = None;
                while let Ok(next) = self.queues.urgent.try_recv() {
                    match next {
                        Urgent::Audit(request) => audits.push(request),
                        not_audit => {
                            other = Some(not_audit);
                            break;
                        }
                    }
                }
                self.audit(audits).await;
                if let Some(other) = other {
                    self.serve_other(other).await;
                }
            }
            other => self.serve_other(other).await,
        }
    }

    async fn serve_other(&mut self, urgent: Urgent) {
        match urgent {
            Urgent::Audit(request) => self.audit_alone(request).await,
            Urgent::Prune(step, done) => {
                let _ = done.send(self.prune(step).await.map_err(StoreError::from));
            }
            #[cfg(test)]
            Urgent::LimitPages(pages, done) => {
                let pragma = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
                let limited = sqlx::query(pragma).execute(&mut self.connection).await;
                let _ = done.send(limited.map(|_| ()).map_err(StoreError::from));
            }
        }
    }

    /// Commits records together: one write to the disk for all who wait.
    async fn audit(&mut self, mut audits: Vec<AuditRequest>) {
        if audits.len() == 1 {
            if let Some(request) = audits.pop() {
                self.audit_alone(request).await;
            }
            return;
        }
        let committed = match execute(&mut self.connection, "BEGIN IMMEDIATE").await {
            Ok(()) => match self.append_all(&audits).await {
                Ok(head) => execute(&mut self.connection, "COMMIT").await.map(|()| head),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match committed {
            Ok(head) => self.publish_and_answer(head, audits),
            Err(_) => {
                self.roll_back().await;
                // Each gets the error that is its own, or its record.
                for request in audits {
                    self.audit_alone(request).await;
                }
            }
        }
    }

    /// One record in a transaction of its own: a lone statement is one, and saves two trips to
    /// the connection's thread.
    async fn audit_alone(&mut self, request: AuditRequest) {
        let outcome = async {
            let head = self.current_head().await?;
            audit::append(&mut self.connection, &head, &request.entry).await
        };
        let answer = match outcome.await {
            Ok(head) => {
                let seq = head.seq;
                self.publish(Some(head));
                Ok(seq)
            }
            Err(error) => {
                tracing::error!(%error, action = request.entry.action, "no audit record could be written");
                self.roll_back().await;
                Err(error.into())
            }
        };
        let _ = request.done.send(answer);
    }

    /// Appends records in the open transaction. Gives the new head, or `None` where there are none.
    async fn append_all(&mut self, audits: &[AuditRequest]) -> Result<Option<Head>, sqlx::Error> {
        if audits.is_empty() {
            return Ok(None);
        }
        let mut head = self.current_head().await?;
        for request in audits {
            head = audit::append(&mut self.connection, &head, &request.entry).await?;
        }
        Ok(Some(head))
    }

    async fn prune(&mut self, step: Step) -> Result<Pruned, sqlx::Error> {
        let outcome = async {
            let head = self.current_head().await?;
            execute(&mut self.connection, "BEGIN IMMEDIATE").await?;
            let (pruned, head) = retention::run(&mut self.connection, step, &head).await?;
            execute(&mut self.connection, "COMMIT").await?;
            Ok((pruned, head))
        };
        match outcome.await {
            Ok((pruned, head)) => {
                self.publish(head);
                Ok(pruned)
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    async fn current_head(&mut self) -> Result<Head, sqlx::Error> {
        match &self.head {
            Some(head) => Ok(head.clone()),
            None => audit::head(&mut self.connection).await,
        }
    }

    /// The records up to this head are on the disk.
    fn publish(&mut self, head: Option<Head>) {
        if let Some(head) = head {
            self.queues.head.send_replace(head.clone());
            self.head = Some(head);
        }
    }

    /// Tells those who wait the numbers of their records, of which `head` is the last.
    fn publish_and_answer(&mut self, head: Option<Head>, audits: Vec<AuditRequest>) {
        if let Some(head) = &head {
            for (seq, request) in (0..=head.seq).rev().zip(audits.into_iter().rev()) {
                let _ = request.done.send(Ok(seq));
            }
        }
        self.publish(head);
    }

    /// Ends a transaction that failed. SQLite may have ended it already, and says so by an error.
    async fn roll_back(&mut self) {
        let _ = execute(&mut self.connection, "ROLLBACK").await;
        self.head = None;
    }

    /// Serves what is still waiting, empties the log into the database and closes it.
    async fn finish(mut self, outcome: Result<(), StoreError>) {
        self.queues.urgent.close();
        while let Ok(urgent) = self.queues.urgent.try_recv() {
            self.serve(urgent).await;
        }
        let mut outcome = outcome;
        for write in self.batch.drain(..) {
            if let PackedWrite::Flush(done) | PackedWrite::Close(done) = write {
                let answer = std::mem::replace(&mut outcome, Err(StoreError::Closed));
                let _ = done.send(answer);
            }
        }
        let emptied = execute(&mut self.connection, "PRAGMA wal_checkpoint(TRUNCATE)").await;
        let closed = emptied.and(self.connection.close().await);
        if let Err(error) = &closed {
            tracing::error!(%error, "the database was not closed cleanly");
        }
        if let Some(done) = self.closed {
            let _ = done.send(closed.map_err(StoreError::from));
        }
    }
}

/// What one transaction has written so far.
#[derive(Default)]
struct Written {
    /// So many from the front of the batch.
    items: usize,
    /// The places of those that can never be written.
    refused: HashSet<usize>,
    ends: HashMap<TerminalId, Offset>,
}

impl Written {
    async fn put(
        &mut self,
        connection: &mut SqliteConnection,
        write: &PackedWrite,
    ) -> Result<(), sqlx::Error> {
        let put = match write {
            PackedWrite::Block(block) => {
                let end = self.ends.entry(block.terminal.clone()).or_default();
                *end = block.end.max(*end);
                transcript::put_block(connection, block).await
            }
            PackedWrite::Terminal(row) => rows::put_terminal(connection, row).await,
            PackedWrite::Flush(_) | PackedWrite::Close(_) => Ok(()),
        };
        match put {
            // A bug of the caller's. Waiting would not mend it, and would stop everybody else.
            Err(error) if can_never_be_written(&error) => {
                tracing::error!(%error, "a row breaks the schema; it is left out");
                self.refused.insert(self.items);
            }
            other => other?,
        }
        self.items += 1;
        Ok(())
    }

    async fn raise_ends(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        for (terminal, end) in &self.ends {
            transcript::raise_end(&mut *connection, terminal, *end).await?;
        }
        Ok(())
    }
}

fn can_never_be_written(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => !matches!(error.kind(), ErrorKind::Other),
        sqlx::Error::Encode(_) => true,
        _ => false,
    }
}

async fn execute(
    connection: &mut SqliteConnection,
    statement: &'static str,
) -> Result<(), sqlx::Error> {
    sqlx::query(statement).execute(connection).await.map(|_| ())
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
