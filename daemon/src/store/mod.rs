//! The database: terminals, transcripts, commands and the audit chain, in one SQLite file.
//!
//! One writer task owns the one writing connection; everything else reads through a read-only
//! pool. Writes are queued on bounded channels and committed in batches; an audit record is
//! answered only when it is on the disk.
//!
//! **Invariant:** nothing here knows a PTY, a socket or what a byte of output means.

mod audit;
mod commands;
mod error;
mod file;
mod imports;
mod indexed_document;
mod retention;
mod search_index;
mod sql;
mod terminals;
#[cfg(test)]
mod tests;
mod transcript;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePool;
use sqlx::{Sqlite, Transaction};
use termd_policy::secrets::redact::Redactor;
use termd_proto::audit::{
    AuditFilter, AuditHashes, AuditOrder, AuditPage, AuditVerdict, RecordHash,
};
use termd_proto::command::{CommandInfo, CommandPage};
use termd_proto::terminal::Gap;
use termd_proto::{Label, Offset, Tags, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

pub use self::audit::action::AuditAction;
pub use self::audit::entry::{AuditEntry, own_actor};
pub use self::audit::head::AuditHead;
use self::audit::head::Head;
pub use self::audit::outcome::AuditOutcome;
use self::audit::{chain, list, verify};
pub use self::commands::{CommandChange, CommandEnded, CommandQuery, CommandStarted, CommandWrite};
pub use self::error::StoreError;
use self::file::identity::FileIdentities;
use self::file::{check, open};
pub use self::imports::{ImportedOutput, ImportedTerminal};
pub use self::indexed_document::{
    IndexPlace, IndexProgress, IndexQuestion, IndexedDocument, NewDocument,
};
pub use self::retention::Retention;
pub use self::search_index::{INDEX_NICENESS, SearchIndex};
pub use self::terminals::TerminalRow;
pub use self::transcript::arrivals::{Arrival, ArrivalClock};
pub use self::transcript::blocks::{BLOCK_BYTES, Block, StoredBytes};
use self::transcript::checkpoints::CheckpointUse;
pub use self::transcript::checkpoints::{ScreenCheckpoint, SizeChange};
pub use self::transcript::gaps::GapWrite;
pub use self::transcript::usage::TranscriptSize;
use self::transcript::{arrivals, blocks, checkpoints, gaps, usage};
pub use self::writer::queue::BlockPermit;
use self::writer::queue::{
    AuditRequest, ImportRequest, PACKED_QUEUE, Reply, RowWrite, URGENT_QUEUE, Urgent, WRITE_QUEUE,
    Write,
};
use self::writer::reserve::Reserve;
pub use self::writer::stall::Stall;
use self::writer::{AuditWriter, Writer, start_packing};

/// Details that are redacted on the task itself, in bytes of text: these take a millisecond.
const MAX_INLINE_BYTES: usize = 8 << 10;

/// The database. Cheap to clone. When the last clone is dropped, what is queued is still written;
/// [`Store::close`] waits for it.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    urgent: mpsc::Sender<Urgent>,
    writes: mpsc::Sender<Write>,
    readers: SqlitePool,
    head: watch::Receiver<Head>,
    /// The last head that the server before is known to have written.
    earlier_head: Option<Head>,
    closing: CancellationToken,
    redactor: Arc<Redactor>,
    files: Arc<FileIdentities>,
    stalled: watch::Receiver<Option<Stall>>,
}

impl Store {
    /// Opens the database; creates it (mode 0600) where there is none, and migrates it. A mode that
    /// lets other users in is tightened. The directory exists, and the caller holds the daemon's lock.
    /// The writer runs on the current tokio runtime.
    ///
    /// Refuses a link, another user's file, another program's, a damaged one and a newer termd's,
    /// and leaves those as they are.
    pub async fn open(path: PathBuf) -> Result<Self, StoreError> {
        Self::open_with(path, Redactor::default()).await
    }

    /// Refuses a database that is newer than this binary, without a lock and without a change.
    pub fn refuse_newer(path: &Path) -> Result<(), StoreError> {
        open::refuse_newer(path)
    }

    /// Opens the database. What `redactor` finds in command lines, arguments and records is not
    /// stored.
    pub async fn open_with(path: PathBuf, redactor: Redactor) -> Result<Self, StoreError> {
        let opened = open::open(&path).await?;
        let files = Arc::new(FileIdentities::of(&path));
        let redactor = Arc::new(redactor);
        let (urgent, urgent_queue) = mpsc::channel(URGENT_QUEUE);
        let (writes, write_queue) = mpsc::channel(WRITE_QUEUE);
        let (packed, packed_queue) = mpsc::channel(PACKED_QUEUE);
        let (published, head) = watch::channel(opened.head);
        let closing = CancellationToken::new();
        start_packing(write_queue, packed, Arc::clone(&redactor)).map_err(|source| {
            StoreError::Open {
                path: path.clone(),
                source,
            }
        })?;
        let reserve = Reserve::beside(&path);
        let audits = AuditWriter::new(opened.writer, published, Arc::clone(&files), reserve);
        let (stall, stalled) = watch::channel(None);
        let writer = Writer::new(audits, urgent_queue, packed_queue, closing.clone(), stall);
        tokio::spawn(writer.run());
        Ok(Self {
            path,
            urgent,
            writes,
            readers: opened.readers,
            head,
            earlier_head: None,
            closing,
            redactor,
            files,
            stalled,
        })
    }

    /// The same, with the last head that the server before is known to have written: number and hash.
    #[must_use]
    pub fn with_earlier_head(mut self, head: Option<RecordHash>) -> Self {
        self.earlier_head = head.map(|head| Head {
            seq: head.seq,
            hash: head.hash,
        });
        self
    }

    /// Whether the chain still has the head of the server before, or retention has dropped it.
    pub async fn has_earlier_head(&self) -> Result<bool, StoreError> {
        let Some(earlier) = &self.earlier_head else {
            return Ok(true);
        };
        let mut snapshot = self.snapshot().await?;
        let anchor = chain::anchor(&mut snapshot).await?;
        if anchor.seq >= earlier.seq {
            return Ok(anchor.seq > earlier.seq || anchor.hash == earlier.hash);
        }
        let found = list::hashes(&mut snapshot, &[earlier.seq]).await?;
        Ok(found.iter().any(|record| record.hash == earlier.hash))
    }

    /// Waits for a place in the queue of writes. Cancel safe.
    pub async fn reserve_block(&self) -> Result<BlockPermit, StoreError> {
        Ok(BlockPermit(self.writes.clone().reserve_owned().await?))
    }

    /// The same for a row; an error where writes do not reach the disk, and the wait may be long.
    pub async fn reserve_row(&self) -> Result<BlockPermit, StoreError> {
        tokio::select! {
            biased;
            stall = self.stalled() => Err(match stall {
                Stall::FullForOutput | Stall::Full => StoreError::DiskFull,
                Stall::Failing => StoreError::Stalled,
            }),
            permit = self.reserve_block() => permit,
        }
    }

    /// What keeps writes from the disk, if anything does.
    pub fn stall(&self) -> Option<Stall> {
        *self.stalled.borrow()
    }

    /// Resolves when something keeps writes from the disk. Cancel safe.
    pub async fn stalled(&self) -> Stall {
        let mut stalled = self.stalled.clone();
        let stall = stalled.wait_for(Option::is_some).await;
        match stall.ok().and_then(|stall| *stall) {
            Some(stall) => stall,
            // The writer has ended.
            None => std::future::pending().await,
        }
    }

    /// Writes an audit record. A record that cannot be written is an error at once: what it would have
    /// recorded must not be done. What ends something is done all the same: the record of that is
    /// written as soon as it can be.
    ///
    /// Returns the record's number when it is on the disk; `None`: it will be.
    pub async fn audit(&self, entry: AuditEntry) -> Result<Option<i64>, StoreError> {
        let (done, written) = oneshot::channel();
        let entry = self.redacted(entry).await?;
        let urgent = Urgent::Audit(AuditRequest { entry, done });
        self.urgent.send(urgent).await?;
        written.await?
    }

    /// Queues a terminal's row (all but `start` and `end`) and its command's row, which replace
    /// earlier ones. Ordered before blocks and rows that are queued later.
    pub async fn put_terminal(&self, row: TerminalRow) -> Result<(), StoreError> {
        self.put(Write::Row(RowWrite::Terminal(Box::new(row))))
            .await
    }

    /// Queues a checkpoint, which replaces the terminal's earlier one.
    pub async fn put_screen(
        &self,
        id: TerminalId,
        screen: ScreenCheckpoint,
    ) -> Result<(), StoreError> {
        self.put(Write::Checkpoint(id, CheckpointUse::Latest, screen))
            .await
    }

    /// Queues a checkpoint; false where the queue is full, and nothing was done.
    pub fn try_put_screen(&self, id: TerminalId, screen: ScreenCheckpoint) -> bool {
        let write = Write::Checkpoint(id, CheckpointUse::Latest, screen);
        self.writes.try_send(write).is_ok()
    }

    /// Queues a keyframe beside those before; false where the queue is full, and nothing was done.
    pub fn try_put_keyframe(&self, id: TerminalId, screen: ScreenCheckpoint) -> bool {
        let write = Write::Checkpoint(id, CheckpointUse::Keyframe, screen);
        self.writes.try_send(write).is_ok()
    }

    /// Queues a new size of a terminal; false where the queue is full.
    pub fn try_put_size(&self, id: TerminalId, change: SizeChange) -> bool {
        let write = Write::Row(RowWrite::Size(id, change));
        self.writes.try_send(write).is_ok()
    }

    /// Queues a command's beginning or end. [`BlockPermit::send_command`] does not wait.
    pub async fn put_command(&self, write: CommandWrite) -> Result<(), StoreError> {
        self.put(Write::Row(RowWrite::Command(Box::new(write))))
            .await
    }

    /// Queues the SHA-256, in hexadecimal, of all that a terminal's own command has printed. Its row was
    /// put before.
    pub async fn put_output_hash(&self, id: TerminalId, hash: String) -> Result<(), StoreError> {
        self.put(Write::Row(RowWrite::OutputHash(id, hash))).await
    }

    /// Stores a terminal that was recorded elsewhere, and the record of that: both, or nothing.
    pub async fn import(
        &self,
        terminal: ImportedTerminal,
        entry: AuditEntry,
    ) -> Result<(), StoreError> {
        let entry = self.redacted(entry).await?;
        let redactor = Arc::clone(&self.redactor);
        let packed = tokio::task::spawn_blocking(move || terminal.pack(&redactor));
        let terminal = Box::new(packed.await.map_err(|_| StoreError::Closed)?);
        let (done, stored) = oneshot::channel();
        let import = ImportRequest {
            terminal,
            entry,
            done,
        };
        self.urgent.send(Urgent::Import(Box::new(import))).await?;
        stored.await?
    }

    /// Resolves when everything queued before is committed; waits while the disk takes nothing.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.wait_for(Write::Flush).await
    }

    /// The same for a reader, who waits no longer where writes do not reach the disk: what is committed
    /// can be read.
    pub async fn settle(&self) -> Result<(), StoreError> {
        tokio::select! {
            biased;
            _ = self.stalled() => Ok(()),
            flushed = self.flush() => flushed,
        }
    }

    /// The latest checkpoint of a terminal's screen.
    pub async fn screen(&self, id: &TerminalId) -> Result<Option<ScreenCheckpoint>, StoreError> {
        checkpoints::checkpoint(&mut *self.reader().await?, id).await
    }

    /// The last screen of a terminal that is kept at or before an offset.
    pub async fn keyframe(
        &self,
        id: &TerminalId,
        at: Offset,
    ) -> Result<Option<ScreenCheckpoint>, StoreError> {
        checkpoints::keyframe(&mut *self.reader().await?, id, at).await
    }

    /// The sizes of a terminal from an offset on, in order. The first may be older: the size in force
    /// there. Empty: it always had its first size.
    pub async fn sizes(
        &self,
        id: &TerminalId,
        from: Offset,
    ) -> Result<Vec<SizeChange>, StoreError> {
        checkpoints::sizes(&mut *self.reader().await?, id, from).await
    }

    /// Reads up to `max` bytes of a transcript from `since` to the first gap. The answer is empty
    /// where nothing is stored from `since` on.
    pub async fn read_transcript(
        &self,
        id: &TerminalId,
        since: Offset,
        max: u64,
    ) -> Result<StoredBytes, StoreError> {
        let read = blocks::read_from(&mut *self.reader().await?, id, since, max).await?;
        if !read.bytes.is_empty() {
            return Ok(read);
        }
        // A snapshot, so that retention cannot drop blocks between the two queries.
        blocks::read(&mut *self.snapshot().await?, id, since, max).await
    }

    /// When the output in a range came, as far as it is stored and was noted: parts in order, each with
    /// the offset of its first byte.
    pub async fn arrivals(
        &self,
        id: &TerminalId,
        range: (Offset, Offset),
    ) -> Result<Vec<(Offset, Vec<Arrival>)>, StoreError> {
        arrivals::arrivals(&mut *self.reader().await?, id, range).await
    }

    /// The end of the stored output in a range that had come by a time, in milliseconds since the
    /// terminal's start; `None`: of none is known when it came.
    pub async fn arrived_by(
        &self,
        id: &TerminalId,
        range: (Offset, Offset),
        at_ms: u64,
    ) -> Result<Option<Offset>, StoreError> {
        arrivals::arrived_by(&mut *self.reader().await?, id, range, at_ms).await
    }

    /// A terminal's gaps, in order.
    pub async fn gaps(&self, id: &TerminalId) -> Result<Vec<Gap>, StoreError> {
        gaps::gaps(&mut *self.reader().await?, id).await
    }

    /// Bytes of the database's pages that hold something: never less than the transcripts take,
    /// and cheap to know.
    pub async fn used_bytes(&self) -> Result<u64, StoreError> {
        usage::used_bytes(&mut *self.reader().await?).await
    }

    /// Bytes that all transcripts take, as stored.
    pub async fn transcript_bytes(&self) -> Result<u64, StoreError> {
        usage::transcript_bytes(&mut *self.reader().await?).await
    }

    /// How much each transcript takes whose terminal has not ended.
    pub async fn running_transcripts(&self) -> Result<Vec<TranscriptSize>, StoreError> {
        usage::running_transcripts(&mut *self.reader().await?).await
    }

    /// Size of the database with its write-ahead log, in bytes.
    pub fn database_bytes(&self) -> u64 {
        let size = |path: PathBuf| path.metadata().map_or(0, |file| file.len());
        size(self.path.clone()) + size(open::beside(&self.path, "-wal"))
    }

    /// One terminal's row.
    pub async fn terminal(&self, id: &TerminalId) -> Result<Option<TerminalRow>, StoreError> {
        terminals::terminal(&mut *self.reader().await?, id).await
    }

    /// The newest `limit` terminals that are not closed, newest first.
    pub async fn open_terminals(&self, limit: u32) -> Result<Vec<TerminalRow>, StoreError> {
        terminals::open_terminals(&mut *self.reader().await?, limit).await
    }

    /// Terminals of all states that have one of these tags (none: all) after the cursor, oldest first, and
    /// the next page's cursor.
    pub async fn list_terminals(
        &self,
        tags: &Tags,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<TerminalRow>, Option<String>), StoreError> {
        terminals::list_terminals(&mut *self.reader().await?, tags, cursor, limit).await
    }

    /// At most `limit` terminals of all states whose number is at most `newest`, newest first, with their
    /// numbers: the order of creation.
    pub async fn newest_terminals(
        &self,
        newest: i64,
        limit: u32,
    ) -> Result<Vec<(i64, TerminalRow)>, StoreError> {
        terminals::newest_terminals(&mut *self.reader().await?, newest, limit).await
    }

    /// One terminal's row, with its number: the order of creation.
    pub async fn numbered_terminal(
        &self,
        id: &TerminalId,
    ) -> Result<Option<(i64, TerminalRow)>, StoreError> {
        terminals::numbered_terminal(&mut *self.reader().await?, id).await
    }

    /// The commands of which some output is in a range, the last first: lines of the shell, then the
    /// terminal's own.
    pub async fn commands_between(
        &self,
        terminal: &TerminalId,
        start: Offset,
        end: Offset,
    ) -> Result<Vec<CommandInfo>, StoreError> {
        commands::commands_between(&mut *self.reader().await?, terminal, (start, end)).await
    }

    /// Whether output waits to be written.
    pub fn is_busy(&self) -> bool {
        self.writes.capacity() < self.writes.max_capacity()
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// At most `limit` closed terminals with this label, newest first.
    pub async fn closed_with_label(
        &self,
        label: &Label,
        limit: u32,
    ) -> Result<Vec<TerminalId>, StoreError> {
        terminals::closed_with_label(&mut *self.reader().await?, label, limit).await
    }

    /// At most `limit` ids that begin with this prefix.
    pub async fn ids_with_prefix(
        &self,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<TerminalId>, StoreError> {
        terminals::ids_with_prefix(&mut *self.reader().await?, prefix, limit).await
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
        list::list(&mut *self.snapshot().await?, filter, cursor, limit, order).await
    }

    /// The hashes of those of these records that exist.
    pub async fn audit_hashes(&self, records: &[i64]) -> Result<AuditHashes, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let hashes = list::hashes(&mut snapshot, records).await?;
        let anchor = chain::anchor(&mut snapshot).await?;
        let head = chain::head(&mut snapshot).await?;
        Ok(AuditHashes {
            records: hashes.into_iter().map(RecordHash::from).collect(),
            dropped_through: anchor.seq,
            head: head.into(),
            database: self.path.to_string_lossy().into_owned(),
        })
    }

    /// The newest record on the disk, and every newer one as it is written.
    pub fn watch_audit(&self) -> AuditHead {
        AuditHead::new(self.head.clone(), self.path.clone())
    }

    /// Checks the audit chain, row by row, from its anchor, and whether the database's schema and indexes
    /// are what they should be. Records cut off the end are found missing if this process wrote them, or
    /// if the earlier head is known.
    pub async fn verify_audit(&self) -> Result<AuditVerdict, StoreError> {
        // Taken before the snapshot, which then has at least these records.
        let newest = self.head.borrow().clone();
        let written = [self.earlier_head.clone(), Some(newest)];
        let (done, found) = oneshot::channel();
        self.urgent.send(Urgent::FindForged(done)).await?;
        found.await??;
        let mut snapshot = self.snapshot().await?;
        let written = written.into_iter().flatten().collect();
        let mut verdict = verify::verify(&mut snapshot, written).await?;
        verdict.database_fault = check::fault(&mut snapshot).await?;
        Ok(verdict)
    }

    /// Drops what is past retention, records it, and returns the terminals whose transcripts were
    /// dropped. Cancel safe: the next pass goes on.
    pub async fn apply_retention(
        &self,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let dropped = self.drop_transcripts(retention, now_ms).await?;
        let before_ms = now_ms.saturating_sub(retention.audit_age_ms);
        retention::drop_records(&self.urgent, before_ms, now_ms).await?;
        retention::free_pages(&self.urgent).await?;
        Ok(dropped)
    }

    /// Drops the transcripts of ended terminals, oldest first, until all together take no more than
    /// `bytes` as stored. Records it, and returns the terminals.
    pub async fn shrink_transcripts(
        &self,
        bytes: u64,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let retention = Retention {
            transcript_age_ms: i64::MAX,
            transcript_bytes: bytes,
            audit_age_ms: i64::MAX,
        };
        let dropped = self.drop_transcripts(&retention, now_ms).await?;
        retention::free_pages(&self.urgent).await?;
        Ok(dropped)
    }

    /// How many bytes of a terminal's output are kept.
    pub async fn transcript_length(&self, id: &TerminalId) -> Result<u64, StoreError> {
        usage::transcript_length(&mut *self.reader().await?, id).await
    }

    /// Deletes a closed terminal's output, screen, argv, directory and commands' texts, and overwrites
    /// the pages that held them.
    pub async fn erase_transcript(&self, id: &TerminalId, at_ms: i64) -> Result<(), StoreError> {
        retention::erase_transcript(&self.urgent, id.to_string(), at_ms).await?;
        retention::free_pages(&self.urgent).await
    }

    /// Commits what is queued, empties the log into the database and closes it. A disk that takes
    /// nothing is an error, and the database is closed all the same.
    pub async fn close(self) -> Result<(), StoreError> {
        self.closing.cancel();
        self.readers.close().await;
        self.wait_for(Write::Close).await
    }

    async fn drop_transcripts(
        &self,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let expired = retention::expired(&mut *self.reader().await?, retention, now_ms).await?;
        retention::drop_transcripts(&self.urgent, expired, now_ms).await
    }

    /// The entry without secrets in its details. Long details are redacted on a blocking thread.
    async fn redacted(&self, entry: AuditEntry) -> Result<AuditEntry, StoreError> {
        let redactor = Arc::clone(&self.redactor);
        let is_short = entry.detail_weight() <= MAX_INLINE_BYTES;
        let redact = move || AuditEntry {
            detail: redactor.map(entry.detail),
            ..entry
        };
        if is_short {
            return Ok(redact());
        }
        let redacted = tokio::task::spawn_blocking(redact).await;
        redacted.map_err(|_| StoreError::Closed)
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        // A new connection would read the file that is at the path now.
        self.files.check()?;
        Ok(self.readers.acquire().await?)
    }

    async fn snapshot(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        self.files.check()?;
        Ok(self.readers.begin().await?)
    }

    async fn put(&self, write: Write) -> Result<(), StoreError> {
        Ok(self.writes.send(write).await?)
    }

    async fn wait_for(&self, request: fn(Reply<()>) -> Write) -> Result<(), StoreError> {
        let (done, reached) = oneshot::channel();
        self.put(request(done)).await?;
        reached.await?
    }
}
