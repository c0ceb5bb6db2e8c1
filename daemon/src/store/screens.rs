//! Checkpoints of screens, and the sizes that terminals had.
//!
//! A checkpoint is opaque here: bytes that the terminal model made, with the offset up to which
//! they hold the output. There is one a terminal, the latest.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};
use zstd::bulk::Decompressor;

use super::StoreError;
use super::model::{ScreenCheckpoint, SizeChange};
use super::pack::Encoding;
use super::queue::PackedScreen;
use super::rows::{decode_error, integer};

/// Longest checkpoint that is read back, in bytes: a model's scrollback is bounded far below it.
const MAX_CHECKPOINT_BYTES: usize = 256 << 20;

pub(super) async fn put_screen(
    connection: &mut SqliteConnection,
    screen: &PackedScreen,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO screens (terminal, at_offset, length, encoding, data) \
         VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (terminal) DO UPDATE SET at_offset = excluded.at_offset, \
         length = excluded.length, encoding = excluded.encoding, data = excluded.data",
    )
    .bind(screen.terminal.as_str())
    .bind(integer(screen.at.0))
    .bind(integer(screen.length as u64))
    .bind(screen.encoding.number())
    .bind(screen.data.as_slice())
    .execute(connection)
    .await
    .map(|_| ())
}

pub(super) async fn put_size(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    change: SizeChange,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO terminal_sizes (terminal, at_offset, cols, rows) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (terminal, at_offset) DO UPDATE SET cols = excluded.cols, \
         rows = excluded.rows",
    )
    .bind(terminal.as_str())
    .bind(integer(change.at.0))
    .bind(i64::from(change.cols))
    .bind(i64::from(change.rows))
    .execute(connection)
    .await
    .map(|_| ())
}

/// The latest checkpoint; `None` too where it does not unpack: the transcript is there still.
pub(super) async fn screen(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
) -> Result<Option<ScreenCheckpoint>, StoreError> {
    let row =
        sqlx::query("SELECT at_offset, length, encoding, data FROM screens WHERE terminal = ?1")
            .bind(terminal.as_str())
            .fetch_optional(connection)
            .await?;
    let Some(row) = row else { return Ok(None) };
    let at = Offset(u64::try_from(row.try_get::<i64, _>(0)?).map_err(decode_error)?);
    let length = usize::try_from(row.try_get::<i64, _>(1)?).map_err(decode_error)?;
    let data: Vec<u8> = row.try_get(3)?;
    let dump = match Encoding::from_number(row.try_get(2)?) {
        Some(Encoding::Raw) => Some(data),
        Some(Encoding::Zstd) if length <= MAX_CHECKPOINT_BYTES => {
            let mut unpacking = Decompressor::new().map_err(decode_error)?;
            unpacking.decompress(&data, length).ok()
        }
        _ => None,
    };
    let dump = dump.filter(|dump| dump.len() == length);
    if dump.is_none() {
        tracing::warn!(%terminal, "a screen's checkpoint is damaged; it is made from the transcript");
    }
    Ok(dump.map(|dump| ScreenCheckpoint { at, dump }))
}

/// The sizes from an offset on, in order; the first may be older: the one in force there.
pub(super) async fn sizes(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    from: Offset,
) -> Result<Vec<SizeChange>, StoreError> {
    let rows = sqlx::query(
        "SELECT at_offset, cols, rows FROM terminal_sizes WHERE terminal = ?1 AND at_offset >= \
         coalesce((SELECT max(at_offset) FROM terminal_sizes WHERE terminal = ?1 AND \
         at_offset <= ?2), 0) ORDER BY at_offset",
    )
    .bind(terminal.as_str())
    .bind(integer(from.0))
    .fetch_all(connection)
    .await?;
    let change = |row: &sqlx::sqlite::SqliteRow| -> Result<SizeChange, sqlx::Error> {
        Ok(SizeChange {
            at: Offset(u64::try_from(row.try_get::<i64, _>(0)?).map_err(decode_error)?),
            cols: u16::try_from(row.try_get::<i64, _>(1)?).map_err(decode_error)?,
            rows: u16::try_from(row.try_get::<i64, _>(2)?).map_err(decode_error)?,
        })
    };
    Ok(rows.iter().map(change).collect::<Result<_, _>>()?)
}
