//! Opening the database: whose file it is, whether it is termd's, and the migrations.
//!
//! A refused file stays as it was, byte for byte, with nothing beside it. So the order is: look at
//! the file, then at its header without SQLite, then through a connection that cannot write. Only
//! then is it opened for writing.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fchmod};
use sqlx::error::DatabaseError;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool,
    SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection};

use super::header::{self, Header};
use super::migrations::{SCHEMA_VERSION, migrator};
use crate::store::audit::chain;
use crate::store::audit::head::Head;
use crate::store::error::{StoreError, result_code};

/// `trmd`: the application id in the header, as `0001_init.sql` sets it.
pub(crate) const APPLICATION_ID: u32 = 0x7472_6d64;

/// How long a statement waits for a lock. Only a checkpoint or a backup tool holds one.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// SQLite's page cache for each connection: KiB, where a positive number would be pages. A block
/// passes through it once.
const CACHE_KIB: &str = "-512";
/// Connections that read. More would wait for the same disk.
const READERS: u32 = 2;
/// How long an unused reader stays open. Its cache and its thread are what an idle termd saves.
const READER_IDLE: Duration = Duration::from_secs(10);
/// Rows that a reader fetches ahead of its consumer. Each may be a block of 64 KiB.
const ROWS_AHEAD: usize = 4;
/// The length to which a longer log is cut back, in bytes.
const LOG_BYTES: &str = "4194304";

/// An open database.
pub(crate) struct Opened {
    pub(crate) writer: SqliteConnection,
    pub(crate) readers: SqlitePool,
    pub(crate) head: Head,
}

/// Opens the database for writing; creates or migrates it first where needed.
pub(crate) async fn open(path: &Path) -> Result<Opened, StoreError> {
    let found = inspect(path)?;
    if found == Found::Database {
        probe(path).await?;
    }
    let mut writer = writer_options(path, found).connect().await?;
    if found == Found::Nothing {
        // Set before the first table, so that an unfinished database is known as termd's.
        sqlx::query("PRAGMA application_id = 0x74726d64")
            .execute(&mut writer)
            .await?;
    }
    migrator()
        .run(&mut writer)
        .await
        .map_err(sqlx::Error::from)?;
    let head = chain::head(&mut writer).await?;
    Ok(Opened {
        writer,
        readers: reader_pool(path),
        head,
    })
}

/// Refuses a database that is newer than this binary, without a lock and without a change. What else
/// may be wrong with it, [`open`] says.
pub(crate) fn refuse_newer(path: &Path) -> Result<(), StoreError> {
    let header = existing(path).and_then(|mut file| {
        let mut log = existing(&beside(path, "-wal")).ok();
        header::newest(&mut file, log.as_mut())
    });
    match header {
        Ok(Some(header)) if header.application_id == APPLICATION_ID => known(path, &header),
        _ => Ok(()),
    }
}

/// Whether this binary knows the schema.
fn known(path: &Path, header: &Header) -> Result<(), StoreError> {
    let found = i64::from(header.user_version);
    if found <= SCHEMA_VERSION {
        return Ok(());
    }
    Err(StoreError::FromTheFuture {
        path: path.to_owned(),
        found,
        known: SCHEMA_VERSION,
    })
}

/// What lies at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A file without a table in it, perhaps just created.
    Nothing,
    /// A database of termd's.
    Database,
}

/// Creates the file where there is none; else checks whether it is termd's. Writes nothing into a file
/// that exists.
fn inspect(path: &Path) -> Result<Found, StoreError> {
    let open_error = |source| StoreError::Open {
        path: path.to_owned(),
        source,
    };
    let mut file = match existing(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(path).map_err(open_error)?;
            return Ok(Found::Nothing);
        }
        Err(error) => return Err(open_error(error)),
    };
    let size = file.metadata().map_err(open_error)?.len();
    let mut log = match existing(&beside(path, "-wal")) {
        Ok(log) => Some(log),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(open_error(error)),
    };
    let log_bytes = match &log {
        Some(log) => log.metadata().map_err(open_error)?.len(),
        None => 0,
    };
    let header = header::newest(&mut file, log.as_mut()).map_err(open_error)?;
    if size > 0 || log_bytes > 0 {
        judge(path, header, size, log_bytes)?;
    }
    let mode = Mode::RUSR | Mode::WUSR;
    if file.metadata().map_err(open_error)?.mode() & 0o077 != 0 {
        fchmod(&file, mode).map_err(|errno| open_error(errno.into()))?;
    }
    Ok(match header {
        Some(header) if !header.is_empty => Found::Database,
        _ => Found::Nothing,
    })
}

/// Whether a file with this header is termd's, whole, and no newer than this binary.
fn judge(path: &Path, header: Option<Header>, size: u64, log_bytes: u64) -> Result<(), StoreError> {
    let damaged = |detail: &str| damaged(path, detail.to_owned());
    let header = header.ok_or_else(|| damaged("it is not a SQLite database"))?;
    if header.application_id != APPLICATION_ID && !header.is_empty {
        return Err(damaged("it is another program's database"));
    }
    known(path, &header)?;
    // The log may hold the rest; without one, the file must hold every page that it counts.
    let whole = header
        .pages
        .map(|pages| u64::from(pages) * u64::from(header.page_size));
    if log_bytes == 0 && whole.is_some_and(|whole| size < whole) {
        return Err(damaged("its end is missing"));
    }
    Ok(())
}

/// Opens a file that must be a regular one of this user, and no link.
fn existing(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !metadata.is_file() {
        return refuse("it is not a regular file");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user");
    }
    Ok(file)
}

/// Creates an empty file that only this user may read. SQLite gives its log the same mode.
fn create(path: &Path) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map(|_closed| ())
}

/// The name of a file that SQLite keeps beside the database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Reads what opening depends on through a connection that cannot write. After a crash it also checks
/// the small tables page by page (docs/decisions/0032). The whole file would keep every client waiting.
/// SQLite recovers by its log, a block is checked when it is read, and the audit chain by `verify`.
async fn probe(path: &Path) -> Result<(), StoreError> {
    let log = beside(path, "-wal");
    let shared = beside(path, "-shm");
    let crashed = log.metadata().is_ok_and(|log| log.len() > 0);
    let shared_was_there = shared.exists();
    let options = base_options(path).read_only(true).immutable(!crashed);
    let probed = async {
        let mut connection = options.connect().await?;
        let looked = look(&mut connection, crashed).await;
        connection.close().await?;
        looked
    };
    let outcome = match probed.await {
        Ok(None) => Ok(()),
        Ok(Some(detail)) => Err(damaged(path, detail)),
        Err(sqlx::Error::Database(error)) if is_damage(error.as_ref()) => {
            Err(damaged(path, error.message().to_owned()))
        }
        Err(error) => Err(error.into()),
    };
    if outcome.is_err() && !shared_was_there {
        // The index of the log, which reading needs. The next process that opens the database makes
        // another.
        let _ = std::fs::remove_file(shared);
    }
    outcome
}

/// What is wrong with the database, if something is.
async fn look(
    connection: &mut SqliteConnection,
    crashed: bool,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await?;
    if version == 0 {
        return Ok(None);
    }
    chain::head(&mut *connection).await?;
    if crashed {
        for check in [
            "PRAGMA quick_check('terminals')",
            "PRAGMA quick_check('commands')",
            "PRAGMA quick_check('transcript_dropped')",
        ] {
            let found: String = sqlx::query_scalar(check)
                .fetch_one(&mut *connection)
                .await?;
            if found != "ok" {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

fn damaged(path: &Path, detail: String) -> StoreError {
    StoreError::Damaged {
        path: path.to_owned(),
        detail,
    }
}

/// `SQLITE_CORRUPT` (11), `SQLITE_NOTADB` (26), and `SQLITE_ERROR` (1): a statement that does not
/// compile, because the schema is not termd's. <https://www.sqlite.org/rescode.html>
fn is_damage(error: &dyn DatabaseError) -> bool {
    matches!(
        result_code(error).map(|code| code & 0xff),
        Some(1 | 11 | 26)
    )
}

fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", CACHE_KIB)
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging()
}

/// FULL: every commit is on the disk before it is answered. The audit chain promises this, and batches
/// make it cheap for everything else. SQLite empties the log into the database every 1,000 pages
/// (4 MiB, the default): often enough that no commit does much of it.
///
/// The mode of vacuuming is a new database's: to set it again is a write, for which a full disk has no
/// space.
fn writer_options(path: &Path, found: Found) -> SqliteConnectOptions {
    let options = match found {
        Found::Nothing => base_options(path).auto_vacuum(SqliteAutoVacuum::Incremental),
        Found::Database => base_options(path),
    };
    options
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("journal_size_limit", LOG_BYTES)
        .thread_name(|_| "termd-store".to_owned())
}

fn reader_pool(path: &Path) -> SqlitePool {
    let options = base_options(path)
        .read_only(true)
        .thread_name(|_| "termd-reader".to_owned());
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .min_connections(0)
        .idle_timeout(READER_IDLE)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(options)
}
