//! Which files are opened, and that the others are left as they are.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;
use crate::store::StoreError;
use crate::store::file::migrations::SCHEMA_VERSION;
use crate::store::file::open::APPLICATION_ID;

#[tokio::test]
async fn the_sqlite_has_the_wal_fix() {
    let place = Place::new();
    let mut connection = place.0.path().join("x.db");
    connection.set_extension("other");
    let mut connection = SqliteConnectOptions::new()
        .filename(connection)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    let version: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let numbers: Vec<u32> = version
        .split('.')
        .map(|part| part.parse().unwrap())
        .collect();
    assert!(numbers >= vec![3, 51, 3], "{version}");
}

#[tokio::test]
async fn a_new_database_is_private_ours_and_set_up() {
    let place = Place::new();
    let store = place.open().await;
    store.audit(entry("terminal.create", 1)).await.unwrap();
    for (name, _) in place.contents() {
        let mode = place.0.path().join(&name).metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    store.close().await.unwrap();
    assert_eq!(place.contents().len(), 1, "no log is left after a close");
    for (pragma, expected) in [
        ("application_id", i64::from(APPLICATION_ID)),
        ("user_version", SCHEMA_VERSION),
        ("auto_vacuum", 2),
        ("page_size", 4096),
    ] {
        assert_eq!(
            place.number(&format!("PRAGMA {pragma}")).await,
            expected,
            "{pragma}"
        );
    }
}

#[tokio::test]
async fn opening_again_migrates_nothing_and_keeps_everything() {
    let place = Place::new();
    for round in 1..=3 {
        let store = place.open().await;
        assert_eq!(
            store.audit(entry("terminal.create", round)).await.unwrap(),
            Some(round)
        );
        store.put_terminal(running(1)).await.unwrap();
        store.close().await.unwrap();
    }
    assert_eq!(
        place.number("SELECT count(*) FROM _sqlx_migrations").await,
        SCHEMA_VERSION
    );
    assert_eq!(place.number("SELECT count(*) FROM terminals").await, 1);
}

#[tokio::test]
async fn a_database_that_was_not_closed_is_opened() {
    let place = Place::new();
    let copy = Place::new();
    let store = place.open().await;
    store.audit(entry("terminal.create", 1)).await.unwrap();
    // What a kill -9 leaves: the files as they are while the store is open.
    for (name, bytes) in place.contents() {
        std::fs::write(copy.0.path().join(name), bytes).unwrap();
    }
    let reopened = copy.open().await;
    assert_eq!(
        reopened.audit(entry("terminal.create", 2)).await.unwrap(),
        Some(2)
    );
    assert_eq!(reopened.verify_audit().await.unwrap().first_bad, None);
}

#[tokio::test]
async fn an_open_mode_is_tightened() {
    let place = Place::new();
    place.open().await.close().await.unwrap();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o644)).unwrap();
    place.open().await.close().await.unwrap();
    assert_eq!(place.path().metadata().unwrap().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn links_directories_and_fifos_are_refused() {
    let place = Place::new();
    let elsewhere = place.0.path().join("elsewhere");
    std::fs::write(&elsewhere, "").unwrap();
    let link = place.0.path().join("link.db");
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    let dangling = place.0.path().join("dangling.db");
    std::os::unix::fs::symlink(place.0.path().join("nowhere"), &dangling).unwrap();
    let directory = place.0.path().join("directory.db");
    std::fs::create_dir(&directory).unwrap();
    let fifo = place.0.path().join("fifo.db");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for path in [link, dangling, directory, fifo] {
        let error = Store::open(path.clone()).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Open { .. }),
            "{}: {error}",
            path.display()
        );
    }
    assert_eq!(
        elsewhere.metadata().unwrap().len(),
        0,
        "written through a link"
    );
    assert!(
        !place.0.path().join("nowhere").exists(),
        "made through a link"
    );
}

#[tokio::test]
async fn another_users_database_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can give a file away.
    }
    let place = Place::new();
    place.open().await.close().await.unwrap();
    std::os::unix::fs::chown(place.path(), Some(4321), None).unwrap();
    let error = Store::open(place.path()).await.unwrap_err();
    assert!(error.to_string().contains("another user"), "{error}");
}

#[tokio::test]
async fn a_database_from_the_future_is_refused_and_untouched() {
    let place = Place::new();
    place.open().await.close().await.unwrap();
    let future = SCHEMA_VERSION + 1;
    let newer = format!("PRAGMA user_version = {future}");
    place.execute(&newer).await;
    let before = place.contents();
    let error = Store::open(place.path()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::FromTheFuture { found, known, .. }
            if found == future && known == SCHEMA_VERSION),
        "{error}"
    );
    assert_eq!(place.contents(), before);
}

#[tokio::test]
async fn a_future_that_is_only_in_the_log_is_refused_and_untouched() {
    let place = Place::new();
    place.open().await.close().await.unwrap();
    let mut newer = place.connection().await;
    let future = SCHEMA_VERSION + 1;
    sqlx::raw_sql("PRAGMA wal_autocheckpoint = 0; CREATE TABLE later (x)")
        .execute(&mut newer)
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("PRAGMA user_version = {future}")))
        .execute(&mut newer)
        .await
        .unwrap();
    let crashed = Place::new();
    for (name, bytes) in place.contents() {
        std::fs::write(crashed.0.path().join(name), bytes).unwrap();
    }
    assert_eq!(
        crashed.contents().len(),
        3,
        "database, log and shared memory"
    );
    let before = crashed.contents();
    let error = Store::open(crashed.path()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::FromTheFuture { found, .. } if found == future),
        "{error}"
    );
    assert_eq!(crashed.contents(), before);

    // A torn last commit does not count, as in SQLite's own recovery of the log.
    let log = std::fs::OpenOptions::new()
        .write(true)
        .open(crashed.0.path().join("termd.db-wal"))
        .unwrap();
    log.set_len(log.metadata().unwrap().len() - 1).unwrap();
    crashed.open().await.close().await.unwrap();
    assert_eq!(crashed.number("PRAGMA user_version").await, SCHEMA_VERSION);
    assert_eq!(crashed.number("SELECT count(*) FROM later").await, 0);
}

#[tokio::test]
async fn damaged_and_foreign_files_are_refused_and_untouched() {
    let original = Place::new();
    original.open().await.close().await.unwrap();
    let whole = std::fs::read(original.path()).unwrap();

    let mut no_schema = whole.clone();
    no_schema[100..4096].fill(0xa5);
    let mut no_magic = whole.clone();
    no_magic[..16].fill(b'x');
    let mut table = vec![
        ("text", b"these are my notes, not a database\n".to_vec()),
        ("magic overwritten", no_magic),
        ("first page overwritten", no_schema),
        ("cut short", whole[..whole.len() - 4096].to_vec()),
        ("cut inside the header", whole[..50].to_vec()),
    ];
    let foreign = Place::new();
    let mut connection = SqliteConnectOptions::new()
        .filename(foreign.path())
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("CREATE TABLE bookmarks (x)")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    table.push(("another program's", std::fs::read(foreign.path()).unwrap()));

    for (what, bytes) in table {
        let place = Place::new();
        std::fs::write(place.path(), bytes).unwrap();
        let before = place.contents();
        let error = Store::open(place.path()).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Damaged { .. }),
            "{what}: {error}"
        );
        assert_eq!(place.contents(), before, "{what}");
    }
}

#[tokio::test]
async fn after_a_crash_the_small_tables_are_checked() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    store.flush().await.unwrap();
    store.close().await.unwrap();
    let root = place
        .number("SELECT rootpage FROM sqlite_schema WHERE name = 'terminals'")
        .await;
    let mut connection = place.connection().await;
    sqlx::query("UPDATE audit_anchor SET hash = 'x'")
        .execute(&mut connection)
        .await
        .unwrap();
    let crashed = Place::new();
    for (name, mut bytes) in place.contents() {
        if name == "termd.db" {
            let start = usize::try_from(root - 1).unwrap() * 4096;
            bytes[start..start + 4096].fill(0xa5);
        }
        if name != "termd.db-shm" {
            std::fs::write(crashed.0.path().join(name), bytes).unwrap();
        }
    }
    let before = crashed.contents();
    assert_eq!(before.len(), 2, "a database and its log");
    let error = Store::open(crashed.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(crashed.contents(), before);
}

#[tokio::test]
async fn a_database_that_was_just_being_made_is_finished() {
    let place = Place::new();
    std::fs::write(place.path(), "").unwrap();
    place.open().await.close().await.unwrap();
    let place = Place::new();
    let unfinished = SqliteConnectOptions::new()
        .filename(place.path())
        .create_if_missing(true)
        .pragma("application_id", APPLICATION_ID.to_string());
    let mut unfinished = unfinished.connect().await.unwrap();
    sqlx::raw_sql("CREATE TABLE x (x); DROP TABLE x")
        .execute(&mut unfinished)
        .await
        .unwrap();
    unfinished.close().await.unwrap();
    let store = place.open().await;
    assert_eq!(
        store.audit(entry("terminal.create", 1)).await.unwrap(),
        Some(1)
    );
}
