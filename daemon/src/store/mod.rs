//! The database: terminals, transcripts, commands and the audit chain, in one SQLite file.
//!
//! One writer task owns the one writing connection; everything else reads through a read-only
//! pool. Writes are queued on bounded channels and committed in batches; an audit record is
//! answered only when it is on the disk.
//!
//! **Invariant:** nothing here knows a PTY, a socket or what a byte of output means.

mod audit;
mod audit_words;
mod commands;
mod error;
mod files;
mod gaps;
mod header;
mod model;
mod open;
mod pack;
mod queue;
mod refusal;
mod reserve;
mod retention;
mod room;
mod rows;
mod screens;
#[cfg(test)]
mod tests;
mod transcript;
mod urgent;
mod verify;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePool;
use sqlx::{Connection, Sqlite};
use termd_proto::audit::{
    AuditFilter, AuditHashes, AuditOrder, AuditPage, AuditVerdict, RecordHash,
};
use termd_proto::command::{CommandInfo, CommandPage};
use termd_proto::{Offset, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use termd_policy::secrets::redact::Redactor;

use self::audit::Head;
pub use self::audit_words::{AuditAction, AuditOutcome};
pub use self::error::StoreError;
use self::files::Files;
pub use self::model::{
    AuditEntry, BLOCK_BYTES, Block, CommandChange, CommandEnded, CommandQuery, CommandStarted,
    CommandWrite, GapWrite, Retention, ScreenCheckpoint, SizeChange, StoredBytes, TerminalRow,
    TranscriptSize,
};
use self::queue::{AuditRequest, PACKED_QUEUE, Queues, URGENT_QUEUE, Urgent, WRITE_QUEUE, Write};
use self::refusal::Guard;
pub use self::refusal::own_actor;
use self::reserve::Reserve;

/// Details that are looked through for secrets without leaving the task, in bytes: a millisecond.
const MAX_AT_ONCE_BYTES: usize = 8 << 10;

/// The database. Cheap to clone. When the last clone is dropped, what is queued is still written;
/// [`Store::close`] waits for it.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    urgent: mpsc::Sender<Urgent>,
    writes: mpsc::Sender<Write>,
    readers: SqlitePool,
    head: watch::Receiver<Head>,
    closing: CancellationToken,
    redactor: Arc<Redactor>,
    files: Arc<Files>,
}

/// The end of the audit chain, watched.
#[derive(Debug, Clone)]
pub struct AuditHead {
    head: watch::Receiver<Head>,
    database: PathBuf,
}

impl AuditHead {
    /// The newest record; 0 and 64 zeros: there is none.
    pub fn newest(&mut self) -> RecordHash {
        self.head.borrow_and_update().clone().into()
    }

    /// Resolves when there is a newer one than [`newest`](Self::newest) gave last; false: the store
    /// is closed, and there will be none.
    pub async fn moved(&mut self) -> bool {
        self.head.changed().await.is_ok()
    }

    /// The database that the chain is in.
    pub fn database(&self) -> &std::path::Path {
        &self.database
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

/// A place in the block queue, reserved: sending on it cannot fail or wait.
#[derive(Debug)]
pub struct BlockPermit(mpsc::OwnedPermit<Write>);

impl BlockPermit {
    /// Queues the block. Where the store is being closed, or the block breaks its own rules (its
    /// terminal has no row, it is empty or too long), `committed` is dropped without a word.
    pub fn send(self, block: Block) {
        self.0.send(Write::Block(block));
    }

    /// Queues a gap instead of a block.
    pub fn send_gap(self, write: GapWrite) {
        self.0.send(Write::Gap(write));
    }

    /// Queues a screen instead of a block, to be kept in place of the one kept before.
    pub fn send_screen(self, id: TerminalId, screen: ScreenCheckpoint) {
        self.0.send(Write::Screen(id, screen));
    }

    /// Queues a command's beginning or end instead of a block.
    pub fn send_command(self, write: CommandWrite) {
        self.0.send(Write::Command(Box::new(write)));
    }
}

impl Store {
    /// Opens the database, creating it (mode 0600) where there is none, and migrates it. A mode
    /// that lets others in is tightened. The directory must be there, and the caller holds the
    /// daemon's lock. Must be called on a tokio runtime, which the writer then runs on.
    ///
    /// Refuses a link, another user's file, another program's, a damaged one and a newer termd's,
    /// and leaves those as they are.
    pub async fn open(path: PathBuf) -> Result<Self, StoreError> {
        Self::open_with(path, Redactor::default()).await
    }

    /// The same; what this finds in command lines, arguments and records is not stored.
    pub async fn open_with(path: PathBuf, redactor: Redactor) -> Result<Self, StoreError> {
        let opened = open::open(&path).await?;
        let files = Arc::new(Files::of(&path));
        let redactor = Arc::new(redactor);
        let (urgent, urgent_queue) = mpsc::channel(URGENT_QUEUE);
        let (writes, write_queue) = mpsc::channel(WRITE_QUEUE);
        let (packed, packed_queue) = mpsc::channel(PACKED_QUEUE);
        let (head_sender, head) = watch::channel(opened.head.clone());
        let closing = CancellationToken::new();
        pack::start_packing(write_queue, packed, Arc::clone(&redactor)).map_err(|source| {
            StoreError::Open {
                path: path.clone(),
                source,
            }
        })?;
        let queues = Queues {
            urgent: urgent_queue,
            writes: packed_queue,
            head: head_sender,
            closing: closing.clone(),
        };
        let guard = Guard::new(Arc::clone(&files), Reserve::beside(&path));
        tokio::spawn(writer::run(opened.writer, opened.head, queues, guard));
        Ok(Self {
            path,
            urgent,
            writes,
            readers: opened.readers,
            head,
            closing,
            redactor,
            files,
        })
    }

    /// Waits for a place in the block queue. Cancel safe.
    pub async fn reserve_block(&self) -> Result<BlockPermit, StoreError> {
        let permit = self.writes.clone().reserve_owned().await;
        permit.map(BlockPermit).map_err(|_| StoreError::Closed)
    }

    /// Writes an audit record; resolves when it is on the disk, with its number. Where it cannot
    /// be written, the error comes at once: what it would have recorded must not be done.
    pub async fn audit(&self, entry: AuditEntry) -> Result<i64, StoreError> {
        let (done, written) = oneshot::channel();
        let detail = self.redacted(entry.detail).await?;
        let entry = AuditEntry { detail, ..entry };
        let urgent = Urgent::Audit(AuditRequest { entry, done });
        let sent = self.urgent.send(urgent).await;
        sent.map_err(|_| StoreError::Closed)?;
        written.await.map_err(|_| StoreError::Closed)?
    }

    /// Writes or replaces a terminal's row (all but `start` and `end`), and its command's row.
    /// Ordered before blocks and updates queued later; resolves when queued.
    pub async fn put_terminal(&self, row: TerminalRow) -> Result<(), StoreError> {
        let sent = self.writes.send(Write::Terminal(Box::new(row))).await;
        sent.map_err(|_| StoreError::Closed)
    }

    /// Keeps a screen in place of the one kept before; resolves when queued.
    pub async fn put_screen(
        &self,
        id: TerminalId,
        screen: ScreenCheckpoint,
    ) -> Result<(), StoreError> {
        let sent = self.writes.send(Write::Screen(id, screen)).await;
        sent.map_err(|_| StoreError::Closed)
    }

    /// The same where there is room in the queue at once; false where there is none, and nothing
    /// was done.
    pub fn try_put_screen(&self, id: TerminalId, screen: ScreenCheckpoint) -> bool {
        self.writes.try_send(Write::Screen(id, screen)).is_ok()
    }

    /// Keeps a size that a terminal was given; false where there is no room in the queue.
    pub fn try_put_size(&self, id: TerminalId, change: SizeChange) -> bool {
        self.writes.try_send(Write::Size(id, change)).is_ok()
    }

    /// The latest screen kept of a terminal.
    pub async fn screen(&self, id: &TerminalId) -> Result<Option<ScreenCheckpoint>, StoreError> {
        screens::screen(&mut *self.reader().await?, id).await
    }

    /// The sizes that a terminal was given from an offset on, in order; the first may be older: the
    /// one that it had there. None: it always had its first.
    pub async fn sizes(
        &self,
        id: &TerminalId,
        from: Offset,
    ) -> Result<Vec<SizeChange>, StoreError> {
        screens::sizes(&mut *self.reader().await?, id, from).await
    }

    /// Writes a command's beginning or end; resolves when queued. Whoever must not wait has
    /// [`BlockPermit::send_command`].
    pub async fn put_command(&self, write: CommandWrite) -> Result<(), StoreError> {
        let sent = self.writes.send(Write::Command(Box::new(write))).await;
        sent.map_err(|_| StoreError::Closed)
    }

    /// Resolves when everything queued before is committed; while the disk takes nothing, waits.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.wait_for(Write::Flush).await
    }

    /// Reads up to `max` bytes of a transcript from `since` on: those before the first gap. Where
    /// nothing is stored from `since` on, the answer is empty.
    pub async fn read_transcript(
        &self,
        id: &TerminalId,
        since: Offset,
        max: u64,
    ) -> Result<StoredBytes, StoreError> {
        let mut reader = self.reader().await?;
        // One snapshot, so that retention cannot come between where to start and what is there.
        let mut snapshot = reader.begin().await?;
        transcript::read(&mut snapshot, id, since, max).await
    }

    /// One terminal's row.
    pub async fn terminal(&self, id: &TerminalId) -> Result<Option<TerminalRow>, StoreError> {
        rows::terminal(&mut *self.reader().await?, id).await
    }

    /// Terminals that are not closed, newest `limit`, newest first.
    pub async fn open_terminals(&self, limit: u32) -> Result<Vec<TerminalRow>, StoreError> {
        rows::open_terminals(&mut *self.reader().await?, limit).await
    }

    /// Terminals of all states, oldest first, after the cursor; with the next page's cursor.
    pub async fn list_terminals(
        &self,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<TerminalRow>, Option<String>), StoreError> {
        rows::list_terminals(&mut *self.reader().await?, cursor, limit).await
    }

    /// Ids that begin with this, at most `limit`.
    pub async fn ids_with_prefix(
        &self,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<TerminalId>, StoreError> {
        rows::ids_with_prefix(&mut *self.reader().await?, prefix, limit).await
    }

    /// One page of commands, newest first.
    pub async fn list_commands(
        &self,
        query: &CommandQuery,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<CommandPage, StoreError> {
        commands::list(&mut *self.reader().await?, query, cursor, limit).await
    }

    /// One command of a terminal; a negative number counts from the newest, which is -1.
    pub async fn command(
        &self,
        terminal: &TerminalId,
        number: i64,
    ) -> Result<Option<CommandInfo>, StoreError> {
        commands::command(&mut *self.reader().await?, terminal, number).await
    }

    /// One page of audit records.
    pub async fn list_audit(
        &self,
        filter: &AuditFilter,
        cursor: Option<&str>,
        limit: u32,
        order: AuditOrder,
    ) -> Result<AuditPage, StoreError> {
        let mut reader = self.reader().await?;
        let mut snapshot = reader.begin().await?;
        audit::list(&mut snapshot, filter, cursor, limit, order).await
    }

    /// The hashes of these records, of those that are there.
    pub async fn audit_hashes(&self, records: &[i64]) -> Result<AuditHashes, StoreError> {
        let mut reader = self.reader().await?;
        let mut snapshot = reader.begin().await?;
        let hashes = audit::hashes(&mut snapshot, records).await?;
        let anchor = audit::anchor(&mut snapshot).await?;
        let head = audit::head(&mut snapshot).await?;
        Ok(AuditHashes {
            records: hashes.into_iter().map(RecordHash::from).collect(),
            dropped_through: anchor.seq,
            head: head.into(),
            database: self.path.to_string_lossy().into_owned(),
        })
    }

    /// The newest record on the disk, and every newer one as it is written. It outlives the store.
    pub fn watch_audit(&self) -> AuditHead {
        AuditHead {
            head: self.head.clone(),
            database: self.path.clone(),
        }
    }

    /// Checks the audit chain, row by row, from where retention left it. Records cut off the end
    /// are missed if this process wrote them; those of an earlier one cannot be.
    pub async fn verify_audit(&self) -> Result<AuditVerdict, StoreError> {
        // Before the snapshot: it then holds at least this much.
        let written = self.head.borrow().clone();
        let mut reader = self.reader().await?;
        let mut snapshot = reader.begin().await?;
        Ok(verify::verify(&mut snapshot, &written).await?)
    }

    /// Drops what is past retention, records what was dropped, and gives the terminals whose
    /// transcripts that were. Cancel safe: the next pass goes on.
    pub async fn apply_retention(
        &self,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        retention::apply(&self.readers, &self.urgent, retention, now_ms).await
    }

    /// Size of the database with its write-ahead log, in bytes.
    pub fn database_bytes(&self) -> u64 {
        let size = |path: PathBuf| path.metadata().map_or(0, |file| file.len());
        size(self.path.clone()) + size(open::beside(&self.path, "-wal"))
    }

    /// Commits what is queued, checkpoints the log and closes. Where the disk takes nothing, says
    /// so and closes all the same.
    pub async fn close(self) -> Result<(), StoreError> {
        self.closing.cancel();
        self.readers.close().await;
        self.wait_for(Write::Close).await
    }

    /// Details without their secrets. Long ones are looked through where nobody waits for it.
    async fn redacted(&self, detail: Map<String, Value>) -> Result<Map<String, Value>, StoreError> {
        if detail.values().map(model::weight).sum::<usize>() <= MAX_AT_ONCE_BYTES {
            return Ok(self.redactor.map(detail));
        }
        let redactor = Arc::clone(&self.redactor);
        let redacted = tokio::task::spawn_blocking(move || redactor.map(detail)).await;
        redacted.map_err(|_| StoreError::Closed)
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        // A new connection would read whatever lies at the path.
        self.files.check()?;
        Ok(self.readers.acquire().await?)
    }

    async fn wait_for(&self, request: fn(queue::Reply<()>) -> Write) -> Result<(), StoreError> {
        let (done, reached) = oneshot::channel();
        let sent = self.writes.send(request(done)).await;
        sent.map_err(|_| StoreError::Closed)?;
        reached.await.map_err(|_| StoreError::Closed)?
    }
}
