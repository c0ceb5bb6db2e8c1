//! What is kept of a terminal's output: blocks, gaps, when it came, and the screens that it drew.

pub(super) mod arrivals;
pub(super) mod blocks;
pub(super) mod checkpoints;
pub(super) mod encoding;
pub(super) mod gaps;
pub(super) mod usage;

use termd_proto::terminal::Gap;
use termd_proto::{Offset, TerminalId};

use self::arrivals::Arrival;
use self::blocks::StoredBytes;
use self::checkpoints::{CheckpointUse, ScreenCheckpoint, SizeChange};
use self::usage::TranscriptSize;
use super::Store;
use super::error::StoreError;
use super::writer::queue::{RowWrite, Write};

impl Store {
    /// Queues a checkpoint, which replaces the terminal's earlier one.
    pub async fn put_screen(
        &self,
        id: TerminalId,
        screen: ScreenCheckpoint,
    ) -> Result<(), StoreError> {
        self.put(Write::Checkpoint(id, CheckpointUse::Latest, screen))
            .await
    }

    /// Queues a checkpoint; false where the queue is full, and nothing was done.
    pub fn try_put_screen(&self, id: TerminalId, screen: ScreenCheckpoint) -> bool {
        let write = Write::Checkpoint(id, CheckpointUse::Latest, screen);
        self.writes.try_send(write).is_ok()
    }

    /// Queues a keyframe beside those before; false where the queue is full, and nothing was done.
    pub fn try_put_keyframe(&self, id: TerminalId, screen: ScreenCheckpoint) -> bool {
        let write = Write::Checkpoint(id, CheckpointUse::Keyframe, screen);
        self.writes.try_send(write).is_ok()
    }

    /// Queues a new size of a terminal; false where the queue is full.
    pub fn try_put_size(&self, id: TerminalId, change: SizeChange) -> bool {
        let write = Write::Row(RowWrite::Size(id, change));
        self.writes.try_send(write).is_ok()
    }

    /// The latest checkpoint of a terminal's screen.
    pub async fn screen(&self, id: &TerminalId) -> Result<Option<ScreenCheckpoint>, StoreError> {
        checkpoints::checkpoint(&mut *self.reader().await?, id).await
    }

    /// The last screen of a terminal that is kept at or before an offset.
    pub async fn keyframe(
        &self,
        id: &TerminalId,
        at: Offset,
    ) -> Result<Option<ScreenCheckpoint>, StoreError> {
        checkpoints::keyframe(&mut *self.reader().await?, id, at).await
    }

    /// The sizes of a terminal from an offset on, in order. The first may be older: the size in force
    /// there. Empty: it always had its first size.
    pub async fn sizes(
        &self,
        id: &TerminalId,
        from: Offset,
    ) -> Result<Vec<SizeChange>, StoreError> {
        checkpoints::sizes(&mut *self.reader().await?, id, from).await
    }

    /// Reads up to `max` bytes of a transcript from `since` to the first gap. The answer is empty
    /// where nothing is stored from `since` on.
    pub async fn read_transcript(
        &self,
        id: &TerminalId,
        since: Offset,
        max: u64,
    ) -> Result<StoredBytes, StoreError> {
        let read = blocks::read_from(&mut *self.reader().await?, id, since, max).await?;
        if !read.bytes.is_empty() {
            return Ok(read);
        }
        // A snapshot, so that retention cannot drop blocks between the two queries.
        blocks::read(&mut *self.snapshot().await?, id, since, max).await
    }

    /// When the output in a range came, as far as it is stored and was noted: parts in order, each with
    /// the offset of its first byte.
    pub async fn arrivals(
        &self,
        id: &TerminalId,
        range: (Offset, Offset),
    ) -> Result<Vec<(Offset, Vec<Arrival>)>, StoreError> {
        arrivals::arrivals(&mut *self.reader().await?, id, range).await
    }

    /// The end of the stored output in a range that had come by a time, in milliseconds since the
    /// terminal's start; `None`: of none is known when it came.
    pub async fn arrived_by(
        &self,
        id: &TerminalId,
        range: (Offset, Offset),
        at_ms: u64,
    ) -> Result<Option<Offset>, StoreError> {
        arrivals::arrived_by(&mut *self.reader().await?, id, range, at_ms).await
    }

    /// A terminal's gaps, in order.
    pub async fn gaps(&self, id: &TerminalId) -> Result<Vec<Gap>, StoreError> {
        gaps::gaps(&mut *self.reader().await?, id).await
    }

    /// Bytes that all transcripts take, as stored.
    pub async fn transcript_bytes(&self) -> Result<u64, StoreError> {
        usage::transcript_bytes(&mut *self.reader().await?).await
    }

    /// How much each transcript takes whose terminal has not ended.
    pub async fn running_transcripts(&self) -> Result<Vec<TranscriptSize>, StoreError> {
        usage::running_transcripts(&mut *self.reader().await?).await
    }

    /// How many bytes of a terminal's output are kept.
    pub async fn transcript_length(&self, id: &TerminalId) -> Result<u64, StoreError> {
        usage::transcript_length(&mut *self.reader().await?, id).await
    }
}
