//! How much space the database and its transcripts take.

use sqlx::FromRow;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use termd_proto::TerminalId;

use crate::store::error::StoreError;
use crate::store::sql::decode_error;

/// How much a transcript takes, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptSize {
    /// The terminal.
    pub terminal: TerminalId,
    /// Output that is kept of it.
    pub length: u64,
    /// The same as it is stored.
    pub stored: u64,
}

impl FromRow<'_, SqliteRow> for TranscriptSize {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let terminal: &str = row.try_get(0)?;
        Ok(Self {
            terminal: terminal.parse().map_err(decode_error)?,
            length: row.try_get(1)?,
            stored: row.try_get(2)?,
        })
    }
}

/// The transcripts of terminals that have not ended.
pub(crate) async fn running_transcripts(
    connection: &mut SqliteConnection,
) -> Result<Vec<TranscriptSize>, StoreError> {
    let sizes = sqlx::query_as(
        "SELECT t.id, sum(b.length), sum(octet_length(b.data)) \
         FROM terminals t JOIN transcript_blocks b ON b.terminal = t.id \
         WHERE t.exited_at_ms IS NULL GROUP BY t.id",
    )
    .fetch_all(connection)
    .await?;
    Ok(sizes)
}

/// Bytes of output that are kept of a terminal.
pub(crate) async fn transcript_length(
    connection: &mut SqliteConnection,
    id: &TerminalId,
) -> Result<u64, StoreError> {
    let length = sqlx::query_scalar(
        "SELECT coalesce(sum(length), 0) FROM transcript_blocks WHERE terminal = ?1",
    )
    .bind(id.as_str())
    .fetch_one(connection)
    .await?;
    Ok(length)
}

/// Bytes that all transcripts take, as stored. Reads a part of every block's row.
pub(crate) async fn transcript_bytes(connection: &mut SqliteConnection) -> Result<u64, StoreError> {
    let total =
        sqlx::query_scalar("SELECT coalesce(sum(octet_length(data)), 0) FROM transcript_blocks")
            .fetch_one(connection)
            .await?;
    Ok(total)
}

/// Bytes of the database's pages that hold something: never less than the transcripts take.
pub(crate) async fn used_bytes(connection: &mut SqliteConnection) -> Result<u64, StoreError> {
    let (pages, free, size): (u64, u64, u64) = sqlx::query_as(
        "SELECT page_count, freelist_count, page_size \
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )
    .fetch_one(connection)
    .await?;
    Ok(pages.saturating_sub(free).saturating_mul(size))
}
