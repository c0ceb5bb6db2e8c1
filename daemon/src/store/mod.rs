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
use termd_proto::audit::RecordHash;
use termd_proto::command::{CommandInfo, CommandPage};
use termd_proto::{Label, Offset, Tags, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

pub use self::audit::action::AuditAction;
pub use self::audit::entry::{AuditEntry, own_actor};
pub use self::audit::head::AuditHead;
use self::audit::head::Head;
pub use self::audit::outcome::AuditOutcome;
pub use self::commands::{CommandChange, CommandEnded, CommandQuery, CommandStarted, CommandWrite};
pub use self::error::StoreError;
use self::file::identity::FileIdentities;
use self::file::open;
pub use self::imports::{ImportedOutput, ImportedTerminal};
pub use self::indexed_document::{
    IndexPlace, IndexProgress, IndexQuestion, IndexedDocument, NewDocument,
};
pub use self::retention::Retention;
pub use self::search_index::{INDEX_NICENESS, SearchIndex};
pub use self::terminals::TerminalRow;
pub use self::transcript::arrivals::{Arrival, ArrivalClock};
pub use self::transcript::blocks::{BLOCK_BYTES, Block, StoredBytes};
pub use self::transcript::checkpoints::{ScreenCheckpoint, SizeChange};
pub use self::transcript::gaps::GapWrite;
use self::transcript::usage;
pub use self::transcript::usage::TranscriptSize;
pub use self::writer::queue::BlockPermit;
use self::writer::queue::{
    PACKED_QUEUE, Reply, RowWrite, URGENT_QUEUE, Urgent, WRITE_QUEUE, Write,
};
use self::writer::reserve::Reserve;
pub use self::writer::stall::Stall;
use self::writer::{AuditWriter, Writer, start_packing};

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

    /// Queues a terminal's row (all but `start` and `end`) and its command's row, which replace
    /// earlier ones. Ordered before blocks and rows that are queued later.
    pub async fn put_terminal(&self, row: TerminalRow) -> Result<(), StoreError> {
        self.put(Write::Row(RowWrite::Terminal(Box::new(row))))
            .await
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

    /// Bytes of the database's pages that hold something: never less than the transcripts take,
    /// and cheap to know.
    pub async fn used_bytes(&self) -> Result<u64, StoreError> {
        usage::used_bytes(&mut *self.reader().await?).await
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

    /// Commits what is queued, empties the log into the database and closes it. A disk that takes
    /// nothing is an error, and the database is closed all the same.
    pub async fn close(self) -> Result<(), StoreError> {
        self.closing.cancel();
        self.readers.close().await;
        self.wait_for(Write::Close).await
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
