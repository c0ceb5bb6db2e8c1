//! Blocks of output: written as they come, read by offset.
//!
//! Bytes are exact: a stored block that does not unpack to what its row says is an error with its
//! offset, never other bytes. A read stops at a gap.

use std::sync::LazyLock;

use futures_util::TryStreamExt;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};
use tokio::sync::watch;

use super::arrivals::Arrival;
use super::encoding::{Encoding, unpack, unpack_tagged};
use super::gaps::end_of_gap;
use crate::store::error::StoreError;
use crate::store::sql::integer;

/// Bytes in a whole block.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// A part of a transcript on its way to the disk.
#[derive(Debug)]
pub struct Block {
    /// The terminal.
    pub terminal: TerminalId,
    /// The first byte's offset: a multiple of [`BLOCK_BYTES`] after whole blocks. A block replaces a
    /// shorter one that is stored at its offset.
    pub start: Offset,
    /// The output, at most [`BLOCK_BYTES`].
    pub bytes: Vec<u8>,
    /// One bit for each byte, from the lowest on: whether it came from standard error. `None`: no
    /// byte did. Kept and dropped with the block.
    pub origins: Option<Vec<u8>>,
    /// When they came. Kept and dropped with the block.
    pub arrivals: Vec<Arrival>,
    /// Receives the offset after the last byte once the block is committed.
    pub committed: watch::Sender<Offset>,
}

/// A block as it is stored.
#[derive(Debug)]
pub(crate) struct PackedBlock {
    pub(crate) terminal: TerminalId,
    pub(crate) start: Offset,
    pub(crate) end: Offset,
    pub(crate) length: usize,
    pub(crate) encoding: Encoding,
    pub(crate) data: Vec<u8>,
    /// Made by `Packer::pack_tagged`.
    pub(crate) origins: Option<Vec<u8>>,
    /// Made by `arrivals::encode` and `Packer::pack_tagged`.
    pub(crate) times: Vec<u8>,
    pub(crate) committed: watch::Sender<Offset>,
}

/// A part of a transcript, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBytes {
    /// The first byte's offset: later than requested where there is a gap.
    pub start: Offset,
    /// The bytes, without a gap.
    pub bytes: Vec<u8>,
    /// The origins of the blocks that the bytes are of, each with the offset of its block's first
    /// byte. A block without origins has none here.
    pub origins: Vec<(Offset, Vec<u8>)>,
}

/// Blocks written by one statement. A statement is a trip to the connection's thread and back, which
/// costs about as much as the insertion. An audit record waits for half a mebibyte at most.
pub(crate) const BLOCKS_A_STATEMENT: usize = 8;

const INSERT: &str = "INSERT INTO transcript_blocks (terminal, start_offset, length, encoding, data, origins, times) VALUES ";
/// A longer block replaces the one that is stored at the same offset.
const UNLESS_LONGER: &str = " ON CONFLICT (terminal, start_offset) DO UPDATE \
     SET length = excluded.length, encoding = excluded.encoding, data = excluded.data, \
     origins = excluded.origins, times = excluded.times \
     WHERE excluded.length > transcript_blocks.length";

/// The statements for one block and for [`BLOCKS_A_STATEMENT`]. A connection compiles each once.
static PUT_ONE: LazyLock<String> = LazyLock::new(|| put_statement(1));
static PUT_MANY: LazyLock<String> = LazyLock::new(|| put_statement(BLOCKS_A_STATEMENT));

fn put_statement(blocks: usize) -> String {
    let values = vec!["(?, ?, ?, ?, ?, ?, ?)"; blocks].join(", ");
    format!("{INSERT}{values}{UNLESS_LONGER}")
}

/// Writes one block, or as many as [`BLOCKS_A_STATEMENT`]; no other number.
pub(crate) async fn put_blocks(
    connection: &mut SqliteConnection,
    blocks: &[&PackedBlock],
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
            .bind(block.encoding as i64)
            .bind(block.data.as_slice())
            .bind(block.origins.as_deref())
            .bind(block.times.as_slice());
    }
    query.execute(connection).await?;
    Ok(())
}

/// Reads up to `max` bytes from `since` to the next gap. Where `since` itself lies in a gap, the
/// answer starts behind it. Where nothing is stored from there on, the answer is empty.
pub(crate) async fn read(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    since: Offset,
    max: u64,
) -> Result<StoredBytes, StoreError> {
    let start = first_stored(&mut *connection, id, since).await?;
    read_from(connection, id, start, max).await
}

/// The same by one statement, which sees one state of the database; empty where nothing is stored at
/// `start`.
pub(crate) async fn read_from(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    start: Offset,
    max: u64,
) -> Result<StoredBytes, StoreError> {
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
        let block_start = Offset(row.try_get(0)?);
        let at = start + read.bytes.len() as u64;
        if block_start > at {
            break;
        }
        let length: u64 = row.try_get(1)?;
        if block_start + length <= at {
            continue;
        }
        let damaged = || StoreError::DamagedBlock {
            terminal: id.clone(),
            offset: block_start,
        };
        let data: &[u8] = row.try_get(3)?;
        let bytes = unpack(row.try_get(2)?, data, length, BLOCK_BYTES).ok_or_else(damaged)?;
        let known = usize::try_from(at.since(block_start)).map_err(|_| damaged())?;
        let wanted = usize::try_from(end.since(at)).unwrap_or(usize::MAX);
        let new = bytes.get(known..).ok_or_else(damaged)?;
        if let Some(origins) = row.try_get::<Option<&[u8]>, _>(4)? {
            let origins = unpack_tagged(origins, BLOCK_BYTES / 8)
                .filter(|origins| origins.len() as u64 == length.div_ceil(8));
            read.origins
                .push((block_start, origins.ok_or_else(damaged)?));
        }
        read.bytes.extend_from_slice(&new[..new.len().min(wanted)]);
    }
    Ok(read)
}

/// The first offset at or after `since` that is stored. Where nothing is: `since`, the end of the gap
/// that holds it, or the end of what retention dropped, whichever is latest.
async fn first_stored(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    since: Offset,
) -> Result<Offset, StoreError> {
    let wanted = integer(since.0);
    let block: Option<u64> = sqlx::query_scalar(
        "SELECT start_offset FROM transcript_blocks WHERE terminal = ?1 \
         AND start_offset > ?2 AND start_offset + length > ?3 ORDER BY start_offset LIMIT 1",
    )
    .bind(id.as_str())
    .bind(wanted.saturating_sub_unsigned(BLOCK_BYTES as u64))
    .bind(wanted)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(block) = block {
        return Ok(since.max(Offset(block)));
    }
    let dropped: Option<u64> =
        sqlx::query_scalar("SELECT start_offset FROM terminals WHERE id = ?1")
            .bind(id.as_str())
            .fetch_optional(&mut *connection)
            .await?;
    let gap = end_of_gap(connection, id, since).await?;
    Ok(since
        .max(Offset(dropped.unwrap_or(0)))
        .max(gap.unwrap_or_default()))
}
