//! Why the store did not do what was asked.

use std::path::PathBuf;

use termd_proto::{Offset, TerminalId};
use thiserror::Error;

/// Why the store did not do what was asked.
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
        /// The newest this binary knows.
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
    /// It could not be opened or created.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The database.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A query failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// The file that is open is no longer the one at its path.
    #[error(
        "{path} was replaced or removed while termd has it open: nothing is run until it is back, or termd is started again"
    )]
    Replaced {
        /// Which.
        path: PathBuf,
    },
    /// Somebody else holds its lock.
    #[error("another process has the database locked")]
    Locked,
    /// There is no room for a record.
    #[error("the disk is full")]
    DiskFull,
    /// The writer has ended.
    #[error("the database writer has stopped")]
    Closed,
    /// A cursor that no earlier page gave.
    #[error("this cursor is none of ours")]
    BadCursor,
    /// A stored block does not unpack.
    #[error("the transcript of {terminal} is damaged at {offset}")]
    DamagedBlock {
        /// Whose.
        terminal: TerminalId,
        /// Where.
        offset: Offset,
    },
}
