//! Why the store did not do what was requested.

use std::path::PathBuf;

use sqlx::error::DatabaseError;
use termd_proto::{Offset, TerminalId};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

/// Why the store did not do what was requested.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The database was written by a newer termd.
    #[error(
        "{path} was written by a newer termd (schema {found}; this termd knows up to {known}): use that one, or move the file away"
    )]
    FromTheFuture {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest schema version that this binary knows.
        known: i64,
    },
    /// The file is no database, or a broken one.
    #[error(
        "{path} is damaged ({detail}): move it away to start afresh; termd will not overwrite it"
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// The file could not be opened or created.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The database.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A query failed.
    #[error("the database failed: {0}")]
    Database(#[source] sqlx::Error),
    /// The file that is open is no longer the one at its path.
    #[error(
        "{path} was replaced or removed while termd has it open: nothing is run until it is back, or termd is started again"
    )]
    Replaced {
        /// The file that was replaced: the database or its log.
        path: PathBuf,
    },
    /// Another process holds the database's lock.
    #[error("another process has the database locked")]
    Locked,
    /// There is no space for a record.
    #[error("the disk is full")]
    DiskFull,
    /// Writes wait for something else than space.
    #[error("the database takes no writes now")]
    Stalled,
    /// The writer has ended.
    #[error("the database writer has stopped")]
    Closed,
    /// A cursor that no earlier page gave.
    #[error("this cursor is none of ours")]
    BadCursor,
    /// A stored block does not unpack.
    #[error("the transcript of {terminal} is damaged at {offset}")]
    DamagedBlock {
        /// The terminal.
        terminal: TerminalId,
        /// Where the block begins.
        offset: Offset,
    },
}

/// Result codes of SQLite (<https://www.sqlite.org/rescode.html>): `SQLITE_BUSY` (5), `SQLITE_FULL`
/// (13), and the two that a full disk or a quota gives in the log and its index:
/// `SQLITE_IOERR_WRITE` (778) and `SQLITE_IOERR_SHMSIZE` (4874).
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(result_code) {
            Some(code) if code & 0xff == 5 => Self::Locked,
            Some(code) if code & 0xff == 13 || code == 778 || code == 4_874 => Self::DiskFull,
            _ => Self::Database(error),
        }
    }
}

impl<T> From<mpsc::error::SendError<T>> for StoreError {
    fn from(_: mpsc::error::SendError<T>) -> Self {
        Self::Closed
    }
}

impl From<oneshot::error::RecvError> for StoreError {
    fn from(_: oneshot::error::RecvError) -> Self {
        Self::Closed
    }
}

/// SQLite's extended result code.
pub(super) fn result_code(error: &dyn DatabaseError) -> Option<i32> {
    error.code()?.parse().ok()
}
