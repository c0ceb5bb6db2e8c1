//! Checkpoints of screens, and the sizes that terminals had.
//!
//! A checkpoint is opaque here: the terminal model's dump, and the offset of the output up to which
//! it goes. Each terminal has one, the latest, and keyframes: earlier ones, for looking back
//! (docs/decisions/0146).

use std::sync::LazyLock;

use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};

use super::encoding::{Encoding, unpack};
use crate::store::error::StoreError;
use crate::store::sql::{integer, upsert};

/// The longest checkpoint that is read, in bytes. A model's scrollback is bounded far below it.
const MAX_CHECKPOINT_BYTES: usize = 256 << 20;

/// A screen as it was at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenCheckpoint {
    /// The screen shows the output up to here.
    pub at: Offset,
    /// The model's dump.
    pub dump: Vec<u8>,
}

/// What a checkpoint is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckpointUse {
    /// The screen that the next server goes on with: it replaces the one before.
    Latest,
    /// A screen to look back from: it is kept beside the others.
    Keyframe,
}

/// A checkpoint as it is stored.
#[derive(Debug)]
pub(crate) struct PackedCheckpoint {
    pub(crate) terminal: TerminalId,
    pub(crate) kept_as: CheckpointUse,
    pub(crate) at: Offset,
    pub(crate) length: usize,
    pub(crate) encoding: Encoding,
    pub(crate) data: Vec<u8>,
}

/// The size that a terminal had from an offset on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeChange {
    /// The first byte of output that may have been meant for this size.
    pub at: Offset,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// When it was set, in milliseconds since the terminal's start; `None`: it is older than what notes it.
    pub at_ms: Option<u64>,
}

static PUT_CHECKPOINT: LazyLock<String> = LazyLock::new(|| {
    let columns = "terminal, at_offset, length, encoding, data";
    upsert("screens", "terminal", columns, &[])
});
static PUT_KEYFRAME: LazyLock<String> = LazyLock::new(|| {
    let columns = "terminal, at_offset, length, encoding, data";
    upsert("screen_keyframes", "terminal, at_offset", columns, &[])
});
static PUT_SIZE: LazyLock<String> = LazyLock::new(|| {
    let columns = "terminal, at_offset, cols, rows, at_ms";
    upsert("terminal_sizes", "terminal, at_offset", columns, &[])
});

pub(crate) async fn put_checkpoint(
    connection: &mut SqliteConnection,
    checkpoint: &PackedCheckpoint,
) -> Result<(), sqlx::Error> {
    let statement = match checkpoint.kept_as {
        CheckpointUse::Latest => PUT_CHECKPOINT.as_str(),
        CheckpointUse::Keyframe => PUT_KEYFRAME.as_str(),
    };
    sqlx::query(statement)
        .bind(checkpoint.terminal.as_str())
        .bind(integer(checkpoint.at.0))
        .bind(integer(checkpoint.length as u64))
        .bind(checkpoint.encoding as i64)
        .bind(checkpoint.data.as_slice())
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn put_size(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    change: SizeChange,
) -> Result<(), sqlx::Error> {
    sqlx::query(PUT_SIZE.as_str())
        .bind(terminal.as_str())
        .bind(integer(change.at.0))
        .bind(change.cols)
        .bind(change.rows)
        .bind(change.at_ms.map(integer))
        .execute(connection)
        .await?;
    Ok(())
}

/// The latest checkpoint. `None` also where it does not unpack: the transcript is still there.
pub(crate) async fn checkpoint(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
) -> Result<Option<ScreenCheckpoint>, StoreError> {
    let row =
        sqlx::query_as("SELECT at_offset, length, encoding, data FROM screens WHERE terminal = ?1")
            .bind(terminal.as_str())
            .fetch_optional(connection)
            .await?;
    Ok(row.and_then(|row| unpacked(terminal, row)))
}

/// The last screen at or before an offset: a keyframe, or the latest checkpoint.
pub(crate) async fn keyframe(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    at: Offset,
) -> Result<Option<ScreenCheckpoint>, StoreError> {
    let row = sqlx::query_as(
        "SELECT at_offset, length, encoding, data FROM screens \
         WHERE terminal = ?1 AND at_offset <= ?2 \
         UNION ALL SELECT * FROM (SELECT at_offset, length, encoding, data FROM screen_keyframes \
         WHERE terminal = ?1 AND at_offset <= ?2 ORDER BY at_offset DESC LIMIT 1) \
         ORDER BY at_offset DESC LIMIT 1",
    )
    .bind(terminal.as_str())
    .bind(integer(at.0))
    .fetch_optional(connection)
    .await?;
    Ok(row.and_then(|row| unpacked(terminal, row)))
}

fn unpacked(
    terminal: &TerminalId,
    (at, length, encoding, data): (u64, u64, i64, Vec<u8>),
) -> Option<ScreenCheckpoint> {
    let dump = unpack(encoding, &data, length, MAX_CHECKPOINT_BYTES);
    if dump.is_none() {
        tracing::warn!(%terminal, "a screen's checkpoint is damaged; it is made from the transcript");
    }
    let at = Offset(at);
    dump.map(|dump| ScreenCheckpoint { at, dump })
}

/// The sizes from an offset on, in order. The first may be older: the size in force there.
pub(crate) async fn sizes(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    from: Offset,
) -> Result<Vec<SizeChange>, StoreError> {
    let rows: Vec<(u64, u16, u16, Option<u64>)> = sqlx::query_as(
        "SELECT at_offset, cols, rows, at_ms FROM terminal_sizes WHERE terminal = ?1 AND at_offset >= \
         coalesce((SELECT max(at_offset) FROM terminal_sizes WHERE terminal = ?1 AND \
         at_offset <= ?2), 0) ORDER BY at_offset",
    )
    .bind(terminal.as_str())
    .bind(integer(from.0))
    .fetch_all(connection)
    .await?;
    let changes = rows.into_iter().map(|(at, cols, rows, at_ms)| SizeChange {
        at: Offset(at),
        cols,
        rows,
        at_ms,
    });
    Ok(changes.collect())
}
