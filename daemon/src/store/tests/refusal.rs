//! When nothing is written: a locked database, one that was swapped, a full disk; and what is never
//! written at all.

use std::time::{Duration, Instant};

use sqlx::Row;
use termd_proto::audit::AuditFilter;

use super::*;
use crate::store::StoreError;
use crate::store::writer::reserve;
use crate::store::{CommandChange, CommandStarted, CommandWrite};

async fn actions(store: &Store) -> Vec<String> {
    let page = store
        .list_audit(&AuditFilter::default(), None, 100, AuditOrder::Newest)
        .await;
    let records = page.unwrap().records.into_iter();
    records.map(|record| record.action).collect()
}

#[tokio::test]
async fn a_locked_database_refuses_all_who_wait_together_and_recovers() {
    let place = Place::new();
    let store = place.open().await;
    store.audit(entry("terminal.create", 1)).await.unwrap();
    let mut other = place.connection().await;
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    let begun = Instant::now();
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.audit(entry("terminal.create", 2)).await })
        })
        .collect();
    for refused in waiting {
        let refused = refused.await.unwrap();
        assert!(matches!(refused, Err(StoreError::Locked)), "{refused:?}");
    }
    // The first waits for the lock alone, the rest together.
    assert!(
        begun.elapsed() < Duration::from_secs(25),
        "{:?}",
        begun.elapsed()
    );
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    assert_eq!(
        store.audit(entry("terminal.create", 3)).await.unwrap(),
        Some(2)
    );
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
}

#[tokio::test]
async fn a_swapped_or_removed_database_is_neither_written_nor_read() {
    for suffix in ["", "-wal"] {
        let place = Place::new();
        let store = place.open().await;
        store.audit(entry("terminal.create", 1)).await.unwrap();
        let path = place.0.path().join(format!("termd.db{suffix}"));
        let aside = place.0.path().join("aside");
        std::fs::rename(&path, &aside).unwrap();
        let refused = store.audit(entry("terminal.create", 2)).await;
        assert!(
            matches!(refused, Err(StoreError::Replaced { .. })),
            "{refused:?}"
        );
        std::fs::copy(&aside, &path).unwrap();
        let before = std::fs::read(&path).unwrap();
        let refused = store.audit(entry("terminal.create", 2)).await;
        assert!(
            matches!(refused, Err(StoreError::Replaced { .. })),
            "{refused:?}"
        );
        let read = store.verify_audit().await;
        assert!(matches!(read, Err(StoreError::Replaced { .. })), "{read:?}");
        assert!(std::fs::read(&path).unwrap() == before, "it was written");
        std::fs::rename(&aside, &path).unwrap();
        assert_eq!(
            store.audit(entry("terminal.create", 2)).await.unwrap(),
            Some(2)
        );
        assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
    }
}

/// The reserve is there, private, and has its blocks; one that is not whole is made again.
#[tokio::test]
async fn room_is_kept_for_saying_that_there_is_none() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    place.open().await.close().await.unwrap();
    let path = place.0.path().join("termd.db-reserve");
    let file = path.metadata().unwrap();
    assert_eq!(file.len(), reserve::RESERVE_BYTES);
    assert!(file.blocks() * 512 >= reserve::RESERVE_BYTES);
    assert_eq!(file.mode() & 0o777, 0o600);
    std::fs::write(&path, b"short").unwrap();
    place.open().await.close().await.unwrap();
    assert_eq!(path.metadata().unwrap().len(), reserve::RESERVE_BYTES);
}

#[tokio::test]
async fn secrets_are_not_stored() {
    let place = Place::new();
    let store = place.open().await;
    let mut row = running(1);
    row.argv = vec!["mysql".to_owned(), "-phunter2".to_owned()];
    row.agent_line = Some("mysql -phunter2".to_owned());
    row.meta = Some(Map::from_iter([("api_key".to_owned(), "hunter2".into())]));
    store.put_terminal(row).await.unwrap();
    let change = CommandChange::Started(CommandStarted {
        number: 1,
        text: "deploy --password hunter2".to_owned(),
        cwd: None,
        at_ms: 1,
        start_offset: Offset::ZERO,
    });
    let terminal = id(1);
    store
        .put_command(CommandWrite { terminal, change })
        .await
        .unwrap();
    let mut record = entry("terminal.create", 1);
    record
        .detail
        .insert("command".to_owned(), "A_TOKEN=hunter2 x".into());
    store.audit(record).await.unwrap();
    store.flush().await.unwrap();
    assert_eq!(actions(&store).await, ["terminal.create"]);
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
    let mut connection = place.connection().await;
    let texts = sqlx::query("SELECT text FROM commands ORDER BY number")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let texts: Vec<String> = texts.iter().map(|row| row.get(0)).collect();
    let begins = [
        "mysql '-p[redacted 7 bytes ",
        "deploy --password [redacted 7 bytes ",
    ];
    assert!(
        texts.len() == 2
            && texts
                .iter()
                .zip(begins)
                .all(|(text, begin)| text.starts_with(begin)),
        "{texts:?}"
    );
    let line: String = sqlx::query_scalar("SELECT agent_line FROM commands WHERE number = 0")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(line.starts_with("mysql -p[redacted 7 bytes "), "{line}");
    store.close().await.unwrap();
    for (name, bytes) in place.contents() {
        let held = bytes.windows(7).any(|window| window == b"hunter2");
        assert!(!held, "{name} holds a secret");
    }
}
