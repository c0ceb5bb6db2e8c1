//! The messages from callers to the writer, and how many of them may wait.
//!
//! Two bounded queues: urgent messages are served at once; writes are packed and then collected into
//! batches. **Invariant:** a caller that waits for an answer gets one or sees the sender dropped.

use termd_proto::TerminalId;
use tokio::sync::{mpsc, oneshot};

use super::prune::{Pruned, Step};
use crate::store::audit::entry::AuditEntry;
use crate::store::commands::CommandWrite;
use crate::store::error::StoreError;
use crate::store::imports::PackedTerminal;
use crate::store::terminals::TerminalRow;
use crate::store::transcript::blocks::{Block, PackedBlock};
use crate::store::transcript::checkpoints::{
    CheckpointUse, PackedCheckpoint, ScreenCheckpoint, SizeChange,
};
use crate::store::transcript::gaps::GapWrite;

/// Urgent messages that wait for the writer. Callers that wait at once are fewer.
pub(crate) const URGENT_QUEUE: usize = 256;
/// Blocks and rows that wait to be packed: 8 MiB of blocks, two batches.
pub(crate) const WRITE_QUEUE: usize = 128;
/// Packed blocks that wait for the writer: enough that packing and writing overlap.
pub(crate) const PACKED_QUEUE: usize = 16;

/// A write on its way to the packing thread.
#[derive(Debug)]
pub(crate) enum Write {
    Block(Block),
    Checkpoint(TerminalId, CheckpointUse, ScreenCheckpoint),
    Row(RowWrite),
    /// Answered when everything before it is committed.
    Flush(Reply<()>),
    /// Answered when everything is committed and the database is closed.
    Close(Reply<()>),
}

/// A packed write on its way to the writer.
#[derive(Debug)]
pub(crate) enum PackedWrite {
    Block(PackedBlock),
    Checkpoint(PackedCheckpoint),
    Row(RowWrite),
    Flush(Reply<()>),
    Close(Reply<()>),
}

/// A write that is not packed.
#[derive(Debug)]
pub(crate) enum RowWrite {
    Terminal(Box<TerminalRow>),
    Size(TerminalId, SizeChange),
    Command(Box<CommandWrite>),
    OutputHash(TerminalId, String),
    Gap(GapWrite),
}

/// A message that does not wait for a batch.
#[derive(Debug)]
pub(crate) enum Urgent {
    Audit(AuditRequest),
    Prune(Step, Reply<Pruned>),
    Import(Box<ImportRequest>),
    /// Records what another process has appended to the chain.
    FindForged(Reply<()>),
    /// Empties the log into the database.
    EmptyLog(Reply<()>),
    /// Bounds the database's pages, so that it is full (0: at the number that it has).
    #[cfg(test)]
    LimitPages(i64, Reply<()>),
}

/// An audit record, and the caller that waits for it.
#[derive(Debug)]
pub(crate) struct AuditRequest {
    pub(crate) entry: AuditEntry,
    /// Answered with the record's number; `None`: it will be written later.
    pub(crate) done: Reply<Option<i64>>,
}

/// A terminal that was recorded elsewhere, with the record of its import, and the caller that waits.
#[derive(Debug)]
pub(crate) struct ImportRequest {
    pub(crate) terminal: Box<PackedTerminal>,
    pub(crate) entry: AuditEntry,
    pub(crate) done: Reply<()>,
}

/// Where an answer goes. The work is done also where the caller waits no more.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// A reserved place in the queue of writes: sending on it cannot fail or wait.
#[derive(Debug)]
pub struct BlockPermit(pub(crate) mpsc::OwnedPermit<Write>);

impl BlockPermit {
    /// Queues the block. `committed` is dropped without a value where the store is being closed, or
    /// where the block breaks its rules: its terminal has no row, or it is empty or too long.
    pub fn send(self, block: Block) {
        self.0.send(Write::Block(block));
    }

    /// Queues a terminal's row instead of a block, as [`put_terminal`](crate::store::Store::put_terminal)
    /// does.
    pub fn send_terminal(self, row: TerminalRow) {
        self.0.send(Write::Row(RowWrite::Terminal(Box::new(row))));
    }

    /// Queues a gap instead of a block.
    pub fn send_gap(self, write: GapWrite) {
        self.0.send(Write::Row(RowWrite::Gap(write)));
    }

    /// Queues a checkpoint instead of a block. It replaces the terminal's earlier one.
    pub fn send_screen(self, id: TerminalId, screen: ScreenCheckpoint) {
        self.0
            .send(Write::Checkpoint(id, CheckpointUse::Latest, screen));
    }

    /// Queues a command's beginning or end instead of a block.
    pub fn send_command(self, write: CommandWrite) {
        self.0.send(Write::Row(RowWrite::Command(Box::new(write))));
    }
}
