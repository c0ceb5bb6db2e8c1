//! Gaps in transcripts: output that is dropped or was never kept, and the row that says so.
//!
//! A block is dropped only in the transaction that writes the row. Nothing here knows why.

use sqlx::sqlite::SqliteConnection;
use termd_proto::terminal::{Gap, GapCause};
use termd_proto::{Offset, TerminalId};
use tokio::sync::watch;

use crate::store::error::StoreError;
use crate::store::sql::{from_word, integer};
use crate::store::terminals::raise_end;

/// Output that is not kept from now on, or never was.
#[derive(Debug)]
pub struct GapWrite {
    /// The terminal.
    pub terminal: TerminalId,
    /// The whole gap as it has grown so far. Blocks in it are dropped.
    pub gap: Gap,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Receives the gap's end once it is committed; `None`: the output in it was stored before.
    pub committed: Option<watch::Sender<Offset>>,
}

/// Drops the blocks in a gap, and replaces the gaps that it touches.
pub(crate) async fn put_gap(
    connection: &mut SqliteConnection,
    write: &GapWrite,
) -> Result<(), sqlx::Error> {
    let (id, gap) = (write.terminal.as_str(), write.gap);
    let (start, end) = (integer(gap.start.0), integer(gap.end.0));
    for statement in [
        "DELETE FROM transcript_blocks WHERE terminal = ?1 AND start_offset >= ?2 \
         AND start_offset < ?3 AND start_offset + length <= ?3",
        "DELETE FROM transcript_gaps WHERE terminal = ?1 AND start_offset <= ?3 \
         AND end_offset >= ?2",
        // The last keyframe of a gap is where the output behind it is played from.
        "DELETE FROM screen_keyframes WHERE terminal = ?1 AND at_offset > ?2 AND at_offset < \
         (SELECT max(at_offset) FROM screen_keyframes WHERE terminal = ?1 AND at_offset <= ?3)",
    ] {
        let query = sqlx::query(statement).bind(id).bind(start).bind(end);
        query.execute(&mut *connection).await?;
    }
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
    // Output that was never stored counts as stored: the next server goes on behind it.
    raise_end(connection, &write.terminal, gap.end).await
}

/// A terminal's gaps, in order.
pub(crate) async fn gaps(
    connection: &mut SqliteConnection,
    id: &TerminalId,
) -> Result<Vec<Gap>, StoreError> {
    let rows: Vec<(u64, u64, String)> = sqlx::query_as(
        "SELECT start_offset, end_offset, cause FROM transcript_gaps WHERE terminal = ?1 \
         ORDER BY start_offset",
    )
    .bind(id.as_str())
    .fetch_all(connection)
    .await?;
    let gaps = rows.into_iter().map(|(start, end, cause)| Gap {
        start: Offset(start),
        end: Offset(end),
        // A later termd may have written a cause that this one does not know.
        cause: from_word(&cause).unwrap_or(GapCause::Lost),
    });
    Ok(gaps.collect())
}

/// The end of the gap that holds this offset.
pub(super) async fn end_of_gap(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    offset: Offset,
) -> Result<Option<Offset>, StoreError> {
    let end: Option<u64> = sqlx::query_scalar(
        "SELECT max(end_offset) FROM transcript_gaps WHERE terminal = ?1 \
         AND start_offset <= ?2 AND end_offset > ?2",
    )
    .bind(id.as_str())
    .bind(integer(offset.0))
    .fetch_one(connection)
    .await?;
    Ok(end.map(Offset))
}
