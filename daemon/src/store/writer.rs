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
use tokio::time::Instant;

use super::StoreError;
use super::audit::Head;
use super::queue::{Packed, PackedWrite, Queues, Reply, Urgent};
use super::refusal::{Guard, classified};
use super::{commands, gaps, rows, screens, transcript};

/// How long the first block of a batch waits for others: what a power failure may cost.
const BATCH_TIME: Duration = Duration::from_millis(100);
/// Output in a batch, before packing: what one transaction writes in about 20 ms.
const BATCH_BYTES: usize = 4 << 20;
/// Blocks and rows in a batch, however small they are.
const BATCH_ITEMS: usize = 1024;
/// How long to wait before trying again to write what could not be written.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The writer's state.
pub(super) struct Writer {
    pub(super) connection: SqliteConnection,
    pub(super) queues: Queues,
    /// The head of the chain; `None` after a failure, until it was read again.
    pub(super) head: Option<Head>,
    batch: VecDeque<PackedWrite>,
    batch_bytes: usize,
    /// When the batch is to be written; `None` while it is empty.
    due: Option<Instant>,
    disk: Disk,
    /// Who waits for the database to be closed.
    closed: Option<Reply<()>>,
    pub(super) guard: Guard,
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
pub(super) async fn run(connection: SqliteConnection, head: Head, queues: Queues, guard: Guard) {
    let mut writer = Writer {
        connection,
        queues,
        head: Some(head),
        batch: VecDeque::new(),
        batch_bytes: 0,
        due: None,
        disk: Disk::Takes,
        closed: None,
        guard,
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
            // Counted as a block is: a batch is bounded in bytes.
            PackedWrite::Screen(screen) => {
                self.batch_bytes += screen.data.len();
                false
            }
            PackedWrite::Terminal(_)
            | PackedWrite::Size(..)
            | PackedWrite::Command(_)
            | PackedWrite::Gap(_) => false,
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
                    return Err(error);
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
    async fn write_transaction(&mut self) -> Result<(), StoreError> {
        self.may_write().await?;
        let mut written = Written::default();
        let connection = &mut self.connection;
        let urgent = &mut self.queues.urgent;
        let batch = self.batch.make_contiguous();
        let blocks = async {
            execute(&mut *connection, "BEGIN IMMEDIATE").await?;
            while written.items < batch.len() {
                written
                    .put_next(&mut *connection, &batch[written.items..])
                    .await?;
                if !urgent.is_empty() {
                    break;
                }
            }
            written.raise_ends(&mut *connection).await
        };
        if let Err(error) = blocks.await {
            self.roll_back().await;
            return Err(classified(error.into()));
        }
        let (audits, other) = self.waiting_audits();
        // These came while it was under way, and the files may have been swapped meanwhile.
        if !audits.is_empty()
            && let Err(error) = self.check_files()
        {
            self.roll_back().await;
            for request in audits {
                self.audit_alone(request).await;
            }
            if let Some(urgent) = other {
                self.serve(urgent).await;
            }
            return Err(error);
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
                Err(classified(error.into()))
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
                Some(PackedWrite::Screen(screen)) => self.batch_bytes -= screen.data.len(),
                Some(PackedWrite::Gap(write)) => {
                    if let Some(committed) = write.committed
                        && !written.refused.contains(&place)
                    {
                        committed.send_replace(write.gap.end);
                    }
                }
                Some(
                    PackedWrite::Terminal(_) | PackedWrite::Size(..) | PackedWrite::Command(_),
                )
                | None => {}
            }
        }
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
    /// Writes the first of these: some blocks in a row together, anything else alone.
    async fn put_next(
        &mut self,
        connection: &mut SqliteConnection,
        batch: &[PackedWrite],
    ) -> Result<(), sqlx::Error> {
        let blocks: Vec<&Packed> = batch
            .iter()
            .take(transcript::BLOCKS_A_STATEMENT)
            .map_while(|write| match write {
                PackedWrite::Block(block) => Some(block),
                _ => None,
            })
            .collect();
        if blocks.len() == transcript::BLOCKS_A_STATEMENT {
            match transcript::put_blocks(&mut *connection, &blocks).await {
                Ok(()) => {
                    self.items += blocks.len();
                    for block in blocks {
                        self.reached(block);
                    }
                    return Ok(());
                }
                // One of them; alone it will show which.
                Err(error) if can_never_be_written(&error) => {}
                Err(error) => return Err(error),
            }
        }
        match batch.first() {
            Some(write) => self.put(connection, write).await,
            None => Ok(()),
        }
    }

    async fn put(
        &mut self,
        connection: &mut SqliteConnection,
        write: &PackedWrite,
    ) -> Result<(), sqlx::Error> {
        let put = match write {
            PackedWrite::Block(block) => transcript::put_blocks(connection, &[block]).await,
            PackedWrite::Terminal(row) => rows::put_terminal(connection, row).await,
            PackedWrite::Screen(screen) => screens::put_screen(connection, screen).await,
            PackedWrite::Size(id, change) => screens::put_size(connection, id, *change).await,
            PackedWrite::Command(command) => commands::put_command(connection, command).await,
            PackedWrite::Gap(gap) => gaps::put_gap(connection, gap).await,
            PackedWrite::Flush(_) | PackedWrite::Close(_) => Ok(()),
        };
        match (put, write) {
            (Ok(()), PackedWrite::Block(block)) => self.reached(block),
            (Ok(()), _) => {}
            // A bug of the caller's. Waiting would not mend it, and would stop everybody else.
            (Err(error), _) if can_never_be_written(&error) => {
                tracing::error!(%error, "a row breaks the schema; it is left out");
                self.refused.insert(self.items);
            }
            (Err(error), _) => return Err(error),
        }
        self.items += 1;
        Ok(())
    }

    fn reached(&mut self, block: &Packed) {
        let end = self.ends.entry(block.terminal.clone()).or_default();
        *end = block.end.max(*end);
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

pub(super) async fn execute(
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
