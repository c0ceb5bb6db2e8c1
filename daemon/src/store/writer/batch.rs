//! The writes that wait for one transaction, and writing them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use sqlx::error::ErrorKind;
use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};
use tokio::time::Instant;

use super::queue::{PackedWrite, Reply, RowWrite};
use crate::store::commands::{put_command, put_output_hash};
use crate::store::terminals::{self, put_terminal};
use crate::store::transcript::blocks::{BLOCKS_A_STATEMENT, PackedBlock, put_blocks};
use crate::store::transcript::checkpoints::{put_checkpoint, put_size};
use crate::store::transcript::gaps::put_gap;

/// How long the first block of a batch waits for others: what a power failure may cost.
const BATCH_TIME: Duration = Duration::from_millis(100);
/// Output in a batch, before packing: what one transaction writes in about 20 ms.
const BATCH_BYTES: usize = 4 << 20;
/// Writes in a batch, however small they are.
const BATCH_WRITES: usize = 1024;

/// The writes that wait, oldest first.
#[derive(Default)]
pub(super) struct Batch {
    writes: VecDeque<PackedWrite>,
    bytes: usize,
    /// When the batch is to be written; `None` while it is empty.
    pub(super) due: Option<Instant>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES || self.writes.len() >= BATCH_WRITES
    }

    /// Adds a write. True: the batch is full, or a caller waits for it.
    pub(super) fn push(&mut self, write: PackedWrite) -> bool {
        let is_waited_for = matches!(write, PackedWrite::Flush(_) | PackedWrite::Close(_));
        self.bytes += bytes_of(&write);
        self.writes.push_back(write);
        if self.due.is_none() {
            self.due = Some(Instant::now() + BATCH_TIME);
        }
        is_waited_for || self.is_full()
    }

    /// Writes from the front of the batch, in the transaction that is open, until `stop` is true or
    /// all is written. The writes stay in the batch until [`settle`](Self::settle).
    pub(super) async fn write(
        &mut self,
        connection: &mut SqliteConnection,
        stop: impl Fn() -> bool,
    ) -> Result<Written, sqlx::Error> {
        let mut written = Written::default();
        let writes = self.writes.make_contiguous();
        while written.count < writes.len() {
            let next = &writes[written.count..];
            written.put_next(&mut *connection, next).await?;
            if stop() {
                break;
            }
        }
        for (terminal, end) in &written.ends {
            terminals::raise_end(&mut *connection, terminal, *end).await?;
        }
        Ok(written)
    }

    /// Takes the committed writes out of the batch and notifies their callers. Returns the request to
    /// close, if that was one of them.
    pub(super) fn settle(&mut self, written: &Written) -> Option<Reply<()>> {
        let mut close = None;
        for (place, write) in self.writes.drain(..written.count).enumerate() {
            self.bytes -= bytes_of(&write);
            let is_stored = !written.rejected.contains(&place);
            match write {
                PackedWrite::Block(block) if is_stored => {
                    block.committed.send_replace(block.end);
                }
                PackedWrite::Row(RowWrite::Gap(write)) if is_stored => {
                    if let Some(committed) = write.committed {
                        committed.send_replace(write.gap.end);
                    }
                }
                PackedWrite::Flush(done) => {
                    let _ = done.send(Ok(()));
                }
                PackedWrite::Close(done) => close = Some(done),
                PackedWrite::Block(_) | PackedWrite::Checkpoint(_) | PackedWrite::Row(_) => {}
            }
        }
        close
    }

    /// The callers that wait for writes that will never be committed.
    pub(super) fn into_callers(self) -> impl Iterator<Item = Reply<()>> {
        self.writes.into_iter().filter_map(|write| match write {
            PackedWrite::Flush(done) | PackedWrite::Close(done) => Some(done),
            _ => None,
        })
    }
}

/// What a write counts in a batch, which is bounded in bytes.
fn bytes_of(write: &PackedWrite) -> usize {
    match write {
        PackedWrite::Block(block) => block.length,
        PackedWrite::Checkpoint(checkpoint) => checkpoint.data.len(),
        PackedWrite::Row(_) | PackedWrite::Flush(_) | PackedWrite::Close(_) => 0,
    }
}

/// What one transaction has written so far.
#[derive(Default)]
pub(super) struct Written {
    /// Writes from the front of the batch.
    count: usize,
    /// The places of the writes that can never be stored.
    rejected: HashSet<usize>,
    ends: HashMap<TerminalId, Offset>,
}

impl Written {
    /// Writes the first of these: some blocks in a row together, anything else alone.
    async fn put_next(
        &mut self,
        connection: &mut SqliteConnection,
        writes: &[PackedWrite],
    ) -> Result<(), sqlx::Error> {
        let blocks: Vec<&PackedBlock> = writes
            .iter()
            .take(BLOCKS_A_STATEMENT)
            .map_while(|write| match write {
                PackedWrite::Block(block) => Some(block),
                _ => None,
            })
            .collect();
        if blocks.len() == BLOCKS_A_STATEMENT {
            match put_blocks(&mut *connection, &blocks).await {
                Ok(()) => {
                    for block in blocks {
                        self.raise_end(block);
                    }
                    self.count += BLOCKS_A_STATEMENT;
                    return Ok(());
                }
                // One block breaks the schema. Writing each alone shows which.
                Err(error) if breaks_schema(&error) => {}
                Err(error) => return Err(error),
            }
        }
        match writes.first() {
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
            PackedWrite::Block(block) => put_blocks(connection, &[block]).await,
            PackedWrite::Checkpoint(checkpoint) => put_checkpoint(connection, checkpoint).await,
            PackedWrite::Row(RowWrite::Terminal(row)) => put_terminal(connection, row).await,
            PackedWrite::Row(RowWrite::Size(id, size)) => put_size(connection, id, *size).await,
            PackedWrite::Row(RowWrite::Command(write)) => put_command(connection, write).await,
            PackedWrite::Row(RowWrite::OutputHash(id, hash)) => {
                put_output_hash(connection, id, hash).await
            }
            PackedWrite::Row(RowWrite::Gap(gap)) => put_gap(connection, gap).await,
            PackedWrite::Flush(_) | PackedWrite::Close(_) => Ok(()),
        };
        match put {
            Ok(()) => {
                if let PackedWrite::Block(block) = write {
                    self.raise_end(block);
                }
            }
            // A bug of the caller's. A retry would fail again, and hold up all other writes.
            Err(error) if breaks_schema(&error) => {
                tracing::error!(%error, "a row breaks the schema; it is left out");
                self.rejected.insert(self.count);
            }
            Err(error) => return Err(error),
        }
        self.count += 1;
        Ok(())
    }

    fn raise_end(&mut self, block: &PackedBlock) {
        let end = self.ends.entry(block.terminal.clone()).or_default();
        *end = block.end.max(*end);
    }
}

/// Whether an error is the write's own fault: no later attempt can store it.
fn breaks_schema(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => !matches!(error.kind(), ErrorKind::Other),
        sqlx::Error::Encode(_) => true,
        _ => false,
    }
}
