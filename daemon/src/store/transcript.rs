//! Transcripts: blocks in, bytes out.
//!
//! Promises exact bytes: a stored block that does not unpack to what its row says is an error with
//! its place, never other bytes; a gap is never read over.

use std::sync::LazyLock;

use futures_util::TryStreamExt;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};

use super::StoreError;
use super::gaps::end_of_gap;
use super::model::{BLOCK_BYTES, StoredBytes};
use super::pack::{unpack, unpack_origins};
use super::queue::Packed;
use super::rows::{integer, large};

/// Blocks written by one statement. Each statement is a trip to the connection's thread and back,
/// which costs about as much as the insertion; an audit record waits for half a mebibyte at most.
pub(super) const BLOCKS_A_STATEMENT: usize = 8;

const INSERT: &str = "INSERT INTO transcript_blocks (terminal, start_offset, length, encoding, data, origins) VALUES ";
/// A block stored at the same place gives way to a longer one.
const UNLESS_LONGER: &str = " ON CONFLICT (terminal, start_offset) DO UPDATE \
     SET length = excluded.length, encoding = excluded.encoding, data = excluded.data, \
     origins = excluded.origins \
     WHERE excluded.length > transcript_blocks.length";

/// The statements for one block and for [`BLOCKS_A_STATEMENT`], each compiled once a connection.
static PUT_ONE: LazyLock<String> = LazyLock::new(|| put_statement(1));
static PUT_MANY: LazyLock<String> = LazyLock::new(|| put_statement(BLOCKS_A_STATEMENT));

fn put_statement(blocks: usize) -> String {
    let values = vec!["(?, ?, ?, ?, ?, ?)"; blocks].join(", ");
    format!("{INSERT}{values}{UNLESS_LONGER}")
}

/// Writes one block, or as many as [`BLOCKS_A_STATEMENT`]; no other number.
pub(super) async fn put_blocks(
    connection: &mut SqliteConnection,
    blocks: &[&Packed],
) -> Result<(), sqlx::Error> {
    let mut query = sqlx::query(match blocks.len() {
        1 => PUT_ONE.as_str(),
        _ => PUT_MANY.as_str(),
    });
    for block in blocks {
        query = query
            .bind(block.terminal.as_str())
            .bind(integer(block.start.0))
            .bind(integer(block.length as u64))
            .bind(block.encoding.number())
            .bind(block.data.as_slice())
            .bind(block.origins.as_deref());
    }
    query.execute(connection).await?;
    Ok(())
}

/// Moves the end of what is stored of a terminal, never back.
pub(super) async fn raise_end(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    end: Offset,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE terminals SET end_offset = max(end_offset, ?2) WHERE id = ?1")
        .bind(terminal.as_str())
        .bind(integer(end.0))
        .execute(connection)
        .await?;
    Ok(())
}

/// Reads up to `max` bytes from `since` on, as far as there is no gap. Where `since` itself lies
/// in a gap, the answer starts behind it; where nothing is stored from there on, it is empty.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    since: Offset,
    max: u64,
) -> Result<StoredBytes, StoreError> {
    let start = first_stored(&mut *connection, id, since).await?;
    let mut read = StoredBytes {
        start,
        bytes: Vec::new(),
        origins: Vec::new(),
    };
    let end = start + max;
    // A block that covers `start` begins less than a block before it.
    let mut rows = sqlx::query(
        "SELECT start_offset, length, encoding, data, origins FROM transcript_blocks \
         WHERE terminal = ?1 AND start_offset > ?2 AND start_offset < ?3 ORDER BY start_offset",
    )
    .bind(id.as_str())
    .bind(integer(start.0).saturating_sub_unsigned(BLOCK_BYTES as u64))
    .bind(integer(end.0))
    .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let block_start = Offset(large(row.try_get(0)?)?);
        let at = start + read.bytes.len() as u64;
        if block_start > at {
            break;
        }
        let length: i64 = row.try_get(1)?;
        if block_start + large(length)? <= at {
            continue;
        }
        let damaged = || StoreError::DamagedBlock {
            terminal: id.clone(),
            offset: block_start,
        };
        let data: &[u8] = row.try_get(3)?;
        let bytes = unpack(row.try_get(2)?, data, length).ok_or_else(damaged)?;
        let known = usize::try_from(at.since(block_start)).map_err(|_| damaged())?;
        let wanted = usize::try_from(end.since(at)).unwrap_or(usize::MAX);
        let new = bytes.get(known..).ok_or_else(damaged)?;
        if let Some(origins) = row.try_get::<Option<&[u8]>, _>(4)? {
            let origins = unpack_origins(origins, length).ok_or_else(damaged)?;
            read.origins.push((block_start, origins));
        }
        read.bytes.extend_from_slice(&new[..new.len().min(wanted)]);
    }
    Ok(read)
}

/// The first offset at or after `since` that is stored; where there is none, `since`, or the end
/// of the gap that it is in, or of what retention dropped, if that is later.
async fn first_stored(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    since: Offset,
) -> Result<Offset, StoreError> {
    let wanted = integer(since.0);
    let block: Option<i64> = sqlx::query_scalar(
        "SELECT start_offset FROM transcript_blocks WHERE terminal = ?1 \
         AND start_offset > ?2 AND start_offset + length > ?3 ORDER BY start_offset LIMIT 1",
    )
    .bind(id.as_str())
    .bind(wanted.saturating_sub_unsigned(BLOCK_BYTES as u64))
    .bind(wanted)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(block) = block {
        return Ok(since.max(Offset(large(block)?)));
    }
    let dropped: Option<i64> =
        sqlx::query_scalar("SELECT start_offset FROM terminals WHERE id = ?1")
            .bind(id.as_str())
            .fetch_optional(&mut *connection)
            .await?;
    let gap = end_of_gap(connection, id, since).await?;
    let dropped = Offset(large(dropped.unwrap_or(0))?);
    Ok(since.max(dropped).max(gap.unwrap_or_default()))
}
