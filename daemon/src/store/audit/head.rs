//! The end of the audit chain.

use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row};
use termd_proto::audit::RecordHash;
use tokio::sync::watch;

/// The newest record: what the next one is chained to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seq: i64,
    pub(crate) hash: String,
}

impl FromRow<'_, SqliteRow> for Head {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            seq: row.try_get(0)?,
            hash: row.try_get(1)?,
        })
    }
}

impl From<Head> for RecordHash {
    fn from(head: Head) -> Self {
        Self {
            seq: head.seq,
            hash: head.hash,
        }
    }
}

/// Watches the end of the audit chain. It outlives the store.
#[derive(Debug, Clone)]
pub struct AuditHead {
    head: watch::Receiver<Head>,
    database: PathBuf,
}

impl AuditHead {
    pub(crate) fn new(head: watch::Receiver<Head>, database: PathBuf) -> Self {
        Self { head, database }
    }

    /// The newest record; number 0 and a hash of 64 zeros where there is none.
    pub fn newest(&mut self) -> RecordHash {
        self.head.borrow_and_update().clone().into()
    }

    /// Resolves when there is a record after the last [`newest`](Self::newest). False: the store is
    /// closed, and there will be none.
    pub async fn moved(&mut self) -> bool {
        self.head.changed().await.is_ok()
    }

    /// The database that has the chain.
    pub fn database(&self) -> &Path {
        &self.database
    }
}
