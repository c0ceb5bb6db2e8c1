//! The database: terminals, transcripts, commands and the audit chain, in one SQLite file.
//!
//! One writer task owns the one writing connection; everything else reads through a read-only
//! pool. Writes are queued on bounded channels and committed in batches; an audit record is
//! answered only when it is on the disk.
//!
//! **Invariant:** nothing here knows a PTY, a socket or what a byte of output means.

use std::path::PathBuf;

use serde_json::{Map, Value};
use termd_proto::audit::{AuditFilter, AuditPage, AuditVerdict};
use termd_proto::terminal::{ExitStatus, Owner};
use termd_proto::{Label, Offset, TerminalId};
use thiserror::Error;
use tokio::sync::watch;

/// Bytes in a whole transcript block.
pub const BLOCK_BYTES: usize = 64 * 1024;

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

/// One terminal's row.
#[derive(Debug, Clone, PartialEq)]
pub struct TerminalRow {
    /// Its id.
    pub id: TerminalId,
    /// Its label.
    pub label: Option<Label>,
    /// As run.
    pub argv: Vec<String>,
    /// Where it was started.
    pub cwd: String,
    /// Its root process.
    pub pid: i32,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Who asked for it.
    pub owner: Owner,
    /// When it was started.
    pub created_at_ms: i64,
    /// When its exit was known.
    pub exited_at_ms: Option<i64>,
    /// How it ended.
    pub exit_status: Option<ExitStatus>,
    /// When `terminal/release` ended its ACP life.
    pub released_at_ms: Option<i64>,
    /// When it was closed.
    pub closed_at_ms: Option<i64>,
    /// What `terminal/output` keeps.
    pub output_byte_limit: u64,
    /// Transcript before this was dropped by retention.
    pub start: Offset,
    /// End of what is stored.
    pub end: Offset,
    /// The `_meta` of its creation.
    pub meta: Option<Map<String, Value>>,
}

/// A part of a transcript on its way to the disk.
#[derive(Debug)]
pub struct Block {
    /// Whose.
    pub terminal: TerminalId,
    /// The first byte's offset: a multiple of [`BLOCK_BYTES`] after whole blocks. A block with the
    /// offset of one already stored is longer than it and replaces it.
    pub start: Offset,
    /// At most [`BLOCK_BYTES`].
    pub bytes: Vec<u8>,
    /// Told the offset after the last byte once it is committed.
    pub committed: watch::Sender<Offset>,
}

/// An audit record to be written; its number, time, and hashes are the store's to give.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// What: `terminal.create`, …
    pub action: &'static str,
    /// `ok`, or what went wrong in a word.
    pub outcome: String,
    /// Who.
    pub actor: Owner,
    /// To which terminal.
    pub terminal: Option<TerminalId>,
    /// What else.
    pub detail: Map<String, Value>,
}

/// A part of a transcript, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBytes {
    /// The first byte's offset: later than asked for where retention dropped something.
    pub start: Offset,
    /// The bytes, without a gap.
    pub bytes: Vec<u8>,
}

/// How long what is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Transcripts of ended terminals older than this are dropped, in milliseconds.
    pub transcript_age_ms: i64,
    /// Transcripts together are kept below this, oldest ended terminals dropped first, in bytes
    /// as stored.
    pub transcript_bytes: u64,
    /// Audit records older than this are dropped, in milliseconds.
    pub audit_age_ms: i64,
}

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {}

/// A place in the block queue, reserved: sending on it cannot fail or wait.
#[derive(Debug)]
pub struct BlockPermit {}

impl BlockPermit {
    /// Queues the block.
    #[allow(clippy::todo)]
    pub fn send(self, block: Block) {
        let _ = block;
        todo!()
    }
}

#[allow(clippy::todo, clippy::unused_async)]
impl Store {
    /// Opens the database, creating it (mode 0600) where there is none, and migrates it. The
    /// caller holds the daemon's lock.
    pub async fn open(path: PathBuf) -> Result<Self, StoreError> {
        let _ = path;
        todo!()
    }

    /// Waits for a place in the block queue. Cancel safe.
    pub async fn reserve_block(&self) -> Result<BlockPermit, StoreError> {
        todo!()
    }

    /// Writes an audit record; resolves when it is on the disk.
    pub async fn audit(&self, entry: AuditEntry) -> Result<i64, StoreError> {
        let _ = entry;
        todo!()
    }

    /// Writes or replaces a terminal's row (all but `start` and `end`), and its command's row.
    /// Ordered before blocks and updates queued later; resolves when queued.
    pub async fn put_terminal(&self, row: TerminalRow) -> Result<(), StoreError> {
        let _ = row;
        todo!()
    }

    /// Resolves when everything queued before is committed.
    pub async fn flush(&self) -> Result<(), StoreError> {
        todo!()
    }

    /// Reads up to `max` bytes of a transcript from `since` on.
    pub async fn read_transcript(
        &self,
        id: &TerminalId,
        since: Offset,
        max: u64,
    ) -> Result<StoredBytes, StoreError> {
        let _ = (id, since, max);
        todo!()
    }

    /// One terminal's row.
    pub async fn terminal(&self, id: &TerminalId) -> Result<Option<TerminalRow>, StoreError> {
        let _ = id;
        todo!()
    }

    /// Terminals that are not closed, newest `limit`.
    pub async fn open_terminals(&self, limit: u32) -> Result<Vec<TerminalRow>, StoreError> {
        let _ = limit;
        todo!()
    }

    /// Terminals of all states, oldest first, after the cursor; with the next page's cursor.
    pub async fn list_terminals(
        &self,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<TerminalRow>, Option<String>), StoreError> {
        let _ = (cursor, limit);
        todo!()
    }

    /// Ids that begin with this, at most `limit`.
    pub async fn ids_with_prefix(
        &self,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<TerminalId>, StoreError> {
        let _ = (prefix, limit);
        todo!()
    }

    /// One page of audit records, newest first.
    pub async fn list_audit(
        &self,
        filter: &AuditFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<AuditPage, StoreError> {
        let _ = (filter, cursor, limit);
        todo!()
    }

    /// Checks the audit chain, row by row.
    pub async fn verify_audit(&self) -> Result<AuditVerdict, StoreError> {
        todo!()
    }

    /// Drops what is past retention, and records what was dropped.
    pub async fn apply_retention(
        &self,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let _ = (retention, now_ms);
        todo!()
    }

    /// Size of the database with its write-ahead log, in bytes.
    pub fn database_bytes(&self) -> u64 {
        todo!()
    }

    /// Commits what is queued, checkpoints the log and closes.
    pub async fn close(self) -> Result<(), StoreError> {
        todo!()
    }
}
