//! What callers and the writer say to each other, and how much of it may wait.
//!
//! Two bounded queues: urgent things are served at once, writes are packed and then collected into
//! batches. **Invariant:** whoever waits for an answer gets one or sees the sender dropped.

use termd_proto::{Offset, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::StoreError;
use super::audit::Head;
use super::model::{
    AuditEntry, Block, CommandWrite, GapWrite, ScreenCheckpoint, SizeChange, TerminalRow,
};
use super::pack::Encoding;
use super::retention::{Pruned, Step};

/// Audit records and steps of retention that wait for the writer: as many as callers can wait at
/// once without the queue being what they wait for.
pub(super) const URGENT_QUEUE: usize = 256;
/// Blocks and rows that wait to be packed: 8 MiB of blocks, two batches.
pub(super) const WRITE_QUEUE: usize = 128;
/// Packed blocks that wait for the writer: enough that packing and writing overlap.
pub(super) const PACKED_QUEUE: usize = 16;

/// What callers queue.
#[derive(Debug)]
pub(super) enum Write {
    Block(Block),
    Terminal(Box<TerminalRow>),
    Screen(TerminalId, ScreenCheckpoint),
    Size(TerminalId, SizeChange),
    Command(Box<CommandWrite>),
    Gap(GapWrite),
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
    Screen(PackedScreen),
    Size(TerminalId, SizeChange),
    Command(Box<CommandWrite>),
    Gap(GapWrite),
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
    /// One byte that says how the rest is packed, and the rest.
    pub(super) origins: Option<Vec<u8>>,
    pub(super) committed: watch::Sender<Offset>,
}

/// A checkpoint as it is stored.
#[derive(Debug)]
pub(super) struct PackedScreen {
    pub(super) terminal: TerminalId,
    pub(super) at: Offset,
    pub(super) length: usize,
    pub(super) encoding: Encoding,
    pub(super) data: Vec<u8>,
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
