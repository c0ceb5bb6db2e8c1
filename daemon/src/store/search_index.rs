//! The index of the search: which trigrams stand in which part of a terminal's plain text.
//!
//! It is a database of its own beside the other, `search.sqlite`. It holds nothing that cannot be made again,
//! so it is written without waiting for the disk, and removed where it is damaged or another termd's
//! (docs/decisions/0150). Nothing here knows what plain text is.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool,
    SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use termd_proto::Offset;
use tokio::sync::Mutex as AsyncMutex;

use super::error::StoreError;
use super::file::open::beside;
use super::indexed_document::{
    DOCUMENT_BITS, IndexPlace, IndexProgress, IndexQuestion, IndexedDocument, NewDocument, key,
};
use super::sql::integer;
use super::transcript::encoding::{Packer, unpack_tagged};

/// The layout of the tables and of the states in them. An index of another one is made anew.
const VERSION: i64 = 2;
/// The longest state of a resolver: 64 rows of a wide screen with marks on each character.
const MAX_STATE_BYTES: usize = 8 << 20;
/// Connections that read. Searches are few.
const READERS: u32 = 2;
/// How long an unused reader stays open.
const READER_IDLE: Duration = Duration::from_secs(10);
/// How long a statement waits for a lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The length to which a longer log is cut back, in bytes.
const LOG_BYTES: &str = "4194304";
/// The niceness of the threads that resolve text and write the index: the lowest (setpriority(2)).
pub const INDEX_NICENESS: i32 = 19;
/// Instructions of SQLite between two looks whether the thread has its niceness; the first is early.
const NICENESS_STEPS: i32 = 100;

const SCHEMA: [&str; 5] = [
    "CREATE TABLE source (database TEXT NOT NULL) STRICT",
    "CREATE TABLE progress (terminal INTEGER PRIMARY KEY, documents INTEGER NOT NULL, \
     next_offset INTEGER NOT NULL, is_done INTEGER NOT NULL, state BLOB NOT NULL) STRICT",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, start_offset INTEGER NOT NULL, \
     end_offset INTEGER NOT NULL, is_ended INTEGER NOT NULL, state BLOB NOT NULL) STRICT",
    // Case is folded before it comes here.
    "CREATE VIRTUAL TABLE trigrams USING fts5 (text, content = '', contentless_delete = 1, \
     detail = none, tokenize = 'trigram case_sensitive 1')",
    "CREATE VIRTUAL TABLE numbers USING fts5 (parts, content = '', contentless_delete = 1, \
     detail = none, tokenize = 'ascii')",
];

const ALL: &str = "SELECT id FROM documents WHERE id <= ?1 AND id >= ?2";
const BY_TRIGRAMS: &str =
    "SELECT rowid AS id FROM trigrams WHERE trigrams MATCH ?4 AND rowid <= ?1 AND rowid >= ?2";
const BY_NUMBERS: &str =
    "SELECT rowid AS id FROM numbers WHERE numbers MATCH ?5 AND rowid <= ?1 AND rowid >= ?2";
/// Both give keys in order, so SQLite merges them, and stops at the limit.
const BY_BOTH: &str = "SELECT rowid AS id FROM trigrams WHERE trigrams MATCH ?4 AND rowid <= ?1 AND rowid >= ?2 \
     INTERSECT \
     SELECT rowid FROM numbers WHERE numbers MATCH ?5 AND rowid <= ?1 AND rowid >= ?2";

/// The index.
#[derive(Debug)]
pub struct SearchIndex {
    writer: AsyncMutex<SqliteConnection>,
    readers: SqlitePool,
    progress: Mutex<HashMap<i64, IndexProgress>>,
}

impl SearchIndex {
    /// Where the index of a database is.
    pub fn path_of(database: &Path) -> PathBuf {
        database.with_file_name("search.sqlite")
    }

    /// Removes the index of a database, if there is one.
    pub fn remove(database: &Path) -> Result<(), StoreError> {
        let path = Self::path_of(database);
        for path in [beside(&path, "-wal"), beside(&path, "-shm"), path] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                removed => removed.map_err(|source| StoreError::Open { path, source })?,
            }
        }
        Ok(())
    }

    /// Opens the index of a database. One that is damaged, of another database or of another termd is
    /// made anew. The caller holds the daemon's lock.
    pub async fn open(database: &Path) -> Result<Self, StoreError> {
        let metadata = fs::metadata(database).map_err(|source| StoreError::Open {
            path: database.to_owned(),
            source,
        })?;
        let source = format!("{}:{}", metadata.dev(), metadata.ino());
        match Self::open_existing(database, &source).await {
            Ok(Some(index)) => return Ok(index),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the index of the search is made anew"),
        }
        let path = Self::path_of(database);
        let failed = |source| StoreError::Open {
            path: path.clone(),
            source,
        };
        Self::remove(database)?;
        let options = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .clone();
        options.open(&path).map_err(failed)?;
        let mut writer = connect(&path).await?;
        for statement in SCHEMA {
            sqlx::query(statement).execute(&mut writer).await?;
        }
        sqlx::query("INSERT INTO source (database) VALUES (?1)")
            .bind(source)
            .execute(&mut writer)
            .await?;
        // Last: an index that was begun and not finished is none.
        sqlx::query(AssertSqlSafe(format!("PRAGMA user_version = {VERSION}")))
            .execute(&mut writer)
            .await?;
        Ok(Self::of(&path, writer, HashMap::new()))
    }

    async fn open_existing(database: &Path, source: &str) -> Result<Option<Self>, StoreError> {
        let path = Self::path_of(database);
        if !fs::symlink_metadata(&path).is_ok_and(|file| file.is_file()) {
            return Ok(None);
        }
        let mut writer = connect(&path).await?;
        let version: i64 = sqlx::query_scalar("PRAGMA user_version")
            .fetch_one(&mut writer)
            .await?;
        let is_same = version == VERSION && {
            let found: Option<String> = sqlx::query_scalar("SELECT database FROM source")
                .fetch_optional(&mut writer)
                .await?;
            found.as_deref() == Some(source)
        };
        if !is_same {
            writer.close().await?;
            return Ok(None);
        }
        let rows = sqlx::query("SELECT terminal, documents, next_offset, is_done FROM progress")
            .fetch_all(&mut writer)
            .await?;
        let progress = rows.iter().map(|row| {
            let progress = IndexProgress {
                documents: row.try_get(1)?,
                next: Offset(row.try_get(2)?),
                is_done: row.try_get(3)?,
            };
            Ok((row.try_get(0)?, progress))
        });
        let progress = progress.collect::<Result<_, sqlx::Error>>()?;
        Ok(Some(Self::of(&path, writer, progress)))
    }

    fn of(path: &Path, writer: SqliteConnection, progress: HashMap<i64, IndexProgress>) -> Self {
        let options = base_options(path)
            .read_only(true)
            .thread_name(|_| "termd-find".to_owned());
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .min_connections(0)
            .idle_timeout(READER_IDLE)
            .test_before_acquire(false)
            .connect_lazy_with(options);
        Self {
            writer: AsyncMutex::new(writer),
            readers,
            progress: Mutex::new(progress),
        }
    }

    /// How far a terminal is indexed; `None`: nothing of it is.
    pub fn progress(&self, terminal: i64) -> Option<IndexProgress> {
        self.all_progress().get(&terminal).copied()
    }

    /// The terminals of which something is indexed.
    pub fn terminals(&self) -> Vec<i64> {
        self.all_progress().keys().copied().collect()
    }

    fn all_progress(&self) -> std::sync::MutexGuard<'_, HashMap<i64, IndexProgress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far a terminal is indexed, and the state of the resolver there.
    pub async fn state(
        &self,
        terminal: i64,
    ) -> Result<Option<(IndexProgress, Vec<u8>)>, StoreError> {
        let row = sqlx::query(
            "SELECT documents, next_offset, is_done, state FROM progress WHERE terminal = ?1",
        )
        .bind(terminal)
        .fetch_optional(&self.readers)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let progress = IndexProgress {
            documents: row.try_get(0)?,
            next: Offset(row.try_get(1)?),
            is_done: row.try_get(2)?,
        };
        Ok(Some((progress, state_of(row.try_get(3)?)?)))
    }

    /// Adds the next documents of a terminal. `next_state` is the state of the resolver behind them, for
    /// what comes; `is_done`: nothing does.
    pub async fn put(
        &self,
        terminal: i64,
        documents: &[NewDocument],
        next_state: &[u8],
        is_done: bool,
    ) -> Result<(), StoreError> {
        let Some(last) = documents.last() else {
            return Ok(());
        };
        let mut packer = Packer::new().map_err(sqlx::Error::Io)?;
        let before = self.progress(terminal);
        let mut progress = IndexProgress {
            documents: before.map_or(0, |progress| progress.documents),
            next: last.range.1,
            is_done,
        };
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin().await?;
        for document in documents {
            if document.text.is_empty() || progress.documents >= 1 << DOCUMENT_BITS {
                continue;
            }
            let key = key(terminal, progress.documents);
            progress.documents += 1;
            sqlx::query("INSERT INTO trigrams (rowid, text) VALUES (?1, ?2)")
                .bind(key)
                .bind(document.text.as_str())
                .execute(&mut *transaction)
                .await?;
            if !document.numbers.is_empty() {
                sqlx::query("INSERT INTO numbers (rowid, parts) VALUES (?1, ?2)")
                    .bind(key)
                    .bind(document.numbers.as_str())
                    .execute(&mut *transaction)
                    .await?;
            }
            sqlx::query("INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5)")
                .bind(key)
                .bind(integer(document.range.0.0))
                .bind(integer(document.range.1.0))
                .bind(document.is_ended)
                .bind(packer.pack_tagged(document.state.clone()))
                .execute(&mut *transaction)
                .await?;
        }
        sqlx::query("INSERT OR REPLACE INTO progress VALUES (?1, ?2, ?3, ?4, ?5)")
            .bind(terminal)
            .bind(progress.documents)
            .bind(integer(progress.next.0))
            .bind(progress.is_done)
            .bind(packer.pack_tagged(next_state.to_vec()))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.all_progress().insert(terminal, progress);
        Ok(())
    }

    /// Forgets all that is indexed of a terminal.
    pub async fn forget(&self, terminal: i64) -> Result<(), StoreError> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin().await?;
        for statement in [
            "DELETE FROM trigrams WHERE rowid IN (SELECT id FROM documents WHERE id BETWEEN ?1 AND ?2)",
            "DELETE FROM numbers WHERE rowid IN (SELECT id FROM documents WHERE id BETWEEN ?1 AND ?2)",
            "DELETE FROM documents WHERE id BETWEEN ?1 AND ?2",
            "DELETE FROM progress WHERE terminal = ?3 AND ?1 <= ?2",
        ] {
            sqlx::query(statement)
                .bind(key(terminal, 0))
                .bind(IndexPlace::newest_of(terminal).0)
                .bind(terminal)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        self.all_progress().remove(&terminal);
        Ok(())
    }

    /// Overwrites what was forgotten: the index only marks it, until it merges its parts.
    pub async fn purge(&self) -> Result<(), StoreError> {
        let mut writer = self.writer.lock().await;
        for statement in [
            "INSERT INTO trigrams (trigrams) VALUES ('optimize')",
            "INSERT INTO numbers (numbers) VALUES ('optimize')",
            "PRAGMA incremental_vacuum",
            "PRAGMA wal_checkpoint(TRUNCATE)",
        ] {
            sqlx::query(statement).fetch_all(&mut *writer).await?;
        }
        Ok(())
    }

    /// The documents before a document and behind it.
    pub async fn neighbours(
        &self,
        document: &IndexedDocument,
    ) -> Result<[Option<IndexedDocument>; 2], StoreError> {
        let mut found = [None, None];
        for (found, key) in found.iter_mut().zip([document.key - 1, document.key + 1]) {
            let row = sqlx::query(
                "SELECT id, start_offset, end_offset, is_ended, state FROM documents WHERE id = ?1",
            )
            .bind(key)
            .fetch_optional(&self.readers)
            .await?;
            let neighbour = row.as_ref().map(document_of).transpose()?;
            *found = neighbour.filter(|neighbour| neighbour.terminal == document.terminal);
        }
        Ok(found)
    }

    /// At most `limit` documents from a place on, newest first: those that a question finds, or all.
    pub async fn documents(
        &self,
        question: Option<&IndexQuestion>,
        from: IndexPlace,
        oldest: i64,
        limit: u32,
    ) -> Result<Vec<IndexedDocument>, StoreError> {
        let (found, queries) = question.map_or((ALL, [None, None]), |question| {
            let IndexQuestion { trigrams, numbers } = question;
            let found = match (trigrams, numbers) {
                (None, None) => ALL,
                (Some(_), None) => BY_TRIGRAMS,
                (None, Some(_)) => BY_NUMBERS,
                (Some(_), Some(_)) => BY_BOTH,
            };
            (found, [trigrams.clone(), numbers.clone()])
        });
        let [trigrams, numbers] = queries;
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT d.id, d.start_offset, d.end_offset, d.is_ended, d.state FROM ({found} \
             ORDER BY 1 DESC LIMIT ?3) AS found JOIN documents d ON d.id = found.id \
             ORDER BY d.id DESC"
        )))
        .bind(from.0)
        .bind(key(oldest, 0))
        .bind(limit)
        .bind(trigrams)
        .bind(numbers)
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(document_of).collect()
    }
}

fn document_of(row: &SqliteRow) -> Result<IndexedDocument, StoreError> {
    let key: i64 = row.try_get(0)?;
    Ok(IndexedDocument {
        terminal: key >> DOCUMENT_BITS,
        start: Offset(row.try_get(1)?),
        end: Offset(row.try_get(2)?),
        is_ended: row.try_get(3)?,
        state: state_of(row.try_get(4)?)?,
        key,
    })
}

fn state_of(packed: &[u8]) -> Result<Vec<u8>, sqlx::Error> {
    let state = unpack_tagged(packed, MAX_STATE_BYTES);
    state.ok_or_else(|| sqlx::Error::Decode("a damaged state in the index of the search".into()))
}

fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(BUSY_TIMEOUT)
        .disable_statement_logging()
}

/// The writing connection, whose thread gives way to all others.
async fn connect(path: &Path) -> Result<SqliteConnection, StoreError> {
    let mut connection = base_options(path)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Off)
        .pragma("journal_size_limit", LOG_BYTES)
        // States hold lines of output: what is forgotten is overwritten.
        .pragma("secure_delete", "ON")
        .thread_name(|_| "termd-index".to_owned())
        .connect()
        .await?;
    let once = Once::new();
    // The one callback that runs on the connection's own thread.
    connection
        .lock_handle()
        .await?
        .set_progress_handler(NICENESS_STEPS, move || {
            once.call_once(|| {
                let _ = rustix::process::setpriority_process(None, INDEX_NICENESS);
            });
            true
        });
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn put(index: &SearchIndex, terminal: i64, documents: &[(u64, &str)]) {
        let documents = documents.iter().map(|(start, text)| NewDocument {
            range: (Offset(*start), Offset(start + text.len() as u64)),
            is_ended: false,
            state: b"state".to_vec(),
            text: (*text).to_owned(),
            numbers: text.replace(|c: char| !c.is_ascii_digit(), " "),
        });
        let documents: Vec<_> = documents.collect();
        let put = index.put(terminal, &documents, b"next", false);
        put.await.unwrap();
    }

    async fn found(index: &SearchIndex, queries: [Option<&str>; 2]) -> Vec<(i64, u64)> {
        let [trigrams, numbers] = queries.map(|query| query.map(str::to_owned));
        let question = IndexQuestion { trigrams, numbers };
        let found = index
            .documents(Some(&question), IndexPlace::newest_of(99), 0, 10)
            .await
            .unwrap();
        found
            .iter()
            .map(|found| (found.terminal, found.start.0))
            .collect()
    }

    #[tokio::test]
    async fn documents_are_found_newest_first_and_forgotten_with_their_terminal() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("termd.db");
        fs::write(&database, "").unwrap();
        let index = SearchIndex::open(&database).await.unwrap();
        put(&index, 1, &[(0, "beta gamma")]).await;
        put(&index, 2, &[(0, "alpha beta"), (10, "gamma delta")]).await;
        put(&index, 3, &[(0, "beta 12345 gamma"), (10, "12345 678")]).await;
        let (gamma, number) = (Some("\"gam\""), Some("\"12345\""));
        assert_eq!(found(&index, [None, number]).await, [(3, 10), (3, 0)]);
        assert_eq!(found(&index, [gamma, number]).await, [(3, 0)]);
        index.forget(3).await.unwrap();
        assert_eq!(found(&index, [None, number]).await, []);
        assert_eq!(
            found(&index, [Some("\"gam\" AND \"mma\""), None]).await,
            [(2, 10), (1, 0)]
        );
        assert_eq!(
            found(&index, [Some("\"bet\""), None]).await,
            [(2, 0), (1, 0)]
        );
        assert_eq!(found(&index, [None, None]).await, [(2, 10), (2, 0), (1, 0)]);
        drop(index);
        let index = SearchIndex::open(&database).await.unwrap();
        let next = index.progress(2).unwrap();
        assert_eq!((next.documents, next.next), (2, Offset(21)));
        assert_eq!(
            index.state(2).await.unwrap(),
            Some((next, b"next".to_vec()))
        );
        index.forget(2).await.unwrap();
        index.purge().await.unwrap();
        assert_eq!(found(&index, [Some("\"gam\""), None]).await, [(1, 0)]);
        assert_eq!(found(&index, [None, None]).await, [(1, 0)]);
        assert_eq!(index.progress(2), None);
        drop(index);
        let bytes = fs::read(SearchIndex::path_of(&database)).unwrap();
        assert!(
            !bytes.windows(3).any(|bytes| bytes == b"lta"),
            "the index still has it"
        );
    }

    #[tokio::test]
    async fn a_damaged_index_and_one_of_another_database_are_made_anew() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("termd.db");
        fs::write(&database, "").unwrap();
        let path = SearchIndex::path_of(&database);
        fs::write(&path, "no database at all, but long enough to be looked at").unwrap();
        let index = SearchIndex::open(&database).await.unwrap();
        put(&index, 1, &[(0, "alpha")]).await;
        drop(index);
        fs::copy(&database, directory.path().join("other")).unwrap();
        fs::rename(directory.path().join("other"), &database).unwrap();
        let index = SearchIndex::open(&database).await.unwrap();
        assert_eq!(found(&index, [None, None]).await, []);
    }

    #[tokio::test]
    async fn an_index_of_an_older_layout_is_made_anew() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("termd.db");
        fs::write(&database, "").unwrap();
        let index = SearchIndex::open(&database).await.unwrap();
        put(&index, 1, &[(0, "alpha 12345")]).await;
        {
            let mut writer = index.writer.lock().await;
            for statement in ["DROP TABLE numbers", "PRAGMA user_version = 1"] {
                sqlx::query(statement).execute(&mut *writer).await.unwrap();
            }
        }
        drop(index);
        let index = SearchIndex::open(&database).await.unwrap();
        assert_eq!(index.progress(1), None);
        put(&index, 1, &[(0, "alpha 12345")]).await;
        assert_eq!(found(&index, [None, Some("\"12345\"")]).await, [(1, 0)]);
    }
}
