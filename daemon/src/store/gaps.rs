//! Gaps in transcripts: what is let go in the middle, and the record of it, in one transaction.
//!
//! Promises: a block is gone only together with the row that says so. It must not know why.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use termd_proto::terminal::{Gap, GapCause};
use termd_proto::{Offset, TerminalId};

use super::StoreError;
use super::model::{GapWrite, TranscriptSize};
use super::rows::{decode_error, integer, large};
use super::transcript::raise_end;

/// Drops the blocks in a gap and keeps the gap in place of those that it touches.
pub(super) async fn put_gap(
    connection: &mut SqliteConnection,
    write: &GapWrite,
) -> Result<(), sqlx::Error> {
    let (id, gap) = (write.terminal.as_str(), write.gap);
    let (start, end) = (integer(gap.start.0), integer(gap.end.0));
    sqlx::query(
        "DELETE FROM transcript_blocks WHERE terminal = ?1 AND start_offset >= ?2 \
         AND start_offset < ?3 AND start_offset + length <= ?3",
    )
    .bind(id)
    .bind(start)
    .bind(end)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "DELETE FROM transcript_gaps WHERE terminal = ?1 AND start_offset <= ?3 \
         AND end_offset >= ?2",
    )
    .bind(id)
    .bind(start)
    .bind(end)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO transcript_gaps (terminal, start_offset, end_offset, cause, at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .bind(id)
    .bind(start)
    .bind(end)
    .bind(gap.cause.as_str())
    .bind(write.at_ms)
    .execute(&mut *connection)
    .await?;
    // What was never stored counts as dealt with: the next server goes on behind it.
    raise_end(connection, &write.terminal, gap.end).await
}

/// A terminal's gaps, in order.
pub(super) async fn gaps(
    connection: &mut SqliteConnection,
    id: &TerminalId,
) -> Result<Vec<Gap>, StoreError> {
    let rows = sqlx::query(
        "SELECT start_offset, end_offset, cause FROM transcript_gaps WHERE terminal = ?1 \
         ORDER BY start_offset",
    )
    .bind(id.as_str())
    .fetch_all(connection)
    .await?;
    Ok(rows.iter().map(gap_of).collect::<Result<_, _>>()?)
}

/// The end of the gap that holds this offset.
pub(super) async fn end_of_gap(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    offset: Offset,
) -> Result<Option<Offset>, StoreError> {
    let end: Option<i64> = sqlx::query_scalar(
        "SELECT max(end_offset) FROM transcript_gaps WHERE terminal = ?1 \
         AND start_offset <= ?2 AND end_offset > ?2",
    )
    .bind(id.as_str())
    .bind(integer(offset.0))
    .fetch_one(connection)
    .await?;
    Ok(end.map(large).transpose()?.map(Offset))
}

/// The transcripts of terminals that have not ended: how long each is, and as stored.
pub(super) async fn running_sizes(
    connection: &mut SqliteConnection,
) -> Result<Vec<TranscriptSize>, StoreError> {
    let rows = sqlx::query(
        "SELECT t.id, sum(b.length), sum(octet_length(b.data)) \
         FROM terminals t JOIN transcript_blocks b ON b.terminal = t.id \
         WHERE t.exited_at_ms IS NULL GROUP BY t.id",
    )
    .fetch_all(connection)
    .await?;
    let size = |row: &SqliteRow| {
        Ok::<_, sqlx::Error>(TranscriptSize {
            terminal: (row.try_get::<&str, _>(0)?).parse().map_err(decode_error)?,
            length: large(row.try_get(1)?)?,
            stored: large(row.try_get(2)?)?,
        })
    };
    Ok(rows.iter().map(size).collect::<Result<_, _>>()?)
}

/// Bytes of the database's pages that hold something: never less than the transcripts take.
pub(super) async fn used_bytes(connection: &mut SqliteConnection) -> Result<u64, StoreError> {
    let mut pages = [0_i64; 3];
    let pragmas = [
        "PRAGMA page_count",
        "PRAGMA freelist_count",
        "PRAGMA page_size",
    ];
    for (number, pragma) in pages.iter_mut().zip(pragmas) {
        *number = sqlx::query_scalar(pragma)
            .fetch_one(&mut *connection)
            .await?;
    }
    let [count, free, size] = pages;
    Ok(large(count.saturating_sub(free).saturating_mul(size))?)
}

/// Bytes that all transcripts take, as stored. Reads a part of every block's row.
pub(super) async fn stored_bytes(connection: &mut SqliteConnection) -> Result<u64, StoreError> {
    let total: i64 =
        sqlx::query_scalar("SELECT coalesce(sum(octet_length(data)), 0) FROM transcript_blocks")
            .fetch_one(connection)
            .await?;
    Ok(large(total)?)
}

fn gap_of(row: &SqliteRow) -> Result<Gap, sqlx::Error> {
    Ok(Gap {
        start: Offset(large(row.try_get(0)?)?),
        end: Offset(large(row.try_get(1)?)?),
        cause: cause_named(row.try_get(2)?),
    })
}

/// A cause by its word; one that a later termd wrote is not known.
fn cause_named(word: &str) -> GapCause {
    [
        GapCause::TerminalQuota,
        GapCause::TotalQuota,
        GapCause::FreeFloor,
    ]
    .into_iter()
    .find(|cause| cause.as_str() == word)
    .unwrap_or(GapCause::Lost)
}
