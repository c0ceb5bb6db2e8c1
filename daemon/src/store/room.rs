//! What the database takes on the disk, and making it take less: the calls of [`Store`] for quotas.

use termd_proto::TerminalId;
use termd_proto::terminal::Gap;

use super::model::TranscriptSize;
use super::{Store, StoreError, gaps, retention};

impl Store {
    /// A terminal's gaps, in order.
    pub async fn gaps(&self, id: &TerminalId) -> Result<Vec<Gap>, StoreError> {
        gaps::gaps(&mut *self.reader().await?, id).await
    }

    /// Bytes of the database's pages that hold something: never less than the transcripts take,
    /// and cheap to know.
    pub async fn used_bytes(&self) -> Result<u64, StoreError> {
        gaps::used_bytes(&mut *self.reader().await?).await
    }

    /// Bytes that all transcripts take, as stored.
    pub async fn transcript_bytes(&self) -> Result<u64, StoreError> {
        gaps::stored_bytes(&mut *self.reader().await?).await
    }

    /// How much each transcript takes whose terminal has not ended.
    pub async fn running_transcripts(&self) -> Result<Vec<TranscriptSize>, StoreError> {
        gaps::running_sizes(&mut *self.reader().await?).await
    }

    /// Drops the transcripts of ended terminals, oldest first, until all together take no more
    /// than this, in bytes as stored; records it, and gives those that were dropped.
    pub async fn shrink_transcripts(
        &self,
        bytes: u64,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        retention::shrink(&self.readers, &self.urgent, bytes, now_ms).await
    }
}
