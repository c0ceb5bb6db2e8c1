//! A database that takes nothing more: audit fails at once, blocks wait.

use std::time::Duration;

use termd_proto::audit::AuditFilter;
use tokio::sync::oneshot;

use super::*;
use crate::store::writer::queue::Urgent;
use crate::store::{Stall, StoreError};

/// Bounds the database at this number of pages (`SQLITE_FULL` beyond); never shrinks it.
pub(super) async fn limit_pages(store: &Store, pages: i64) {
    let (done, limited) = oneshot::channel();
    store
        .urgent
        .send(Urgent::LimitPages(pages, done))
        .await
        .unwrap();
    limited.await.unwrap().unwrap();
}

/// An audit record that does not fit into a page that exists.
fn large_entry() -> AuditEntry {
    large(entry("terminal.create", 1))
}

/// The record of an ending, as large.
fn large_kill(at_ms: i64) -> AuditEntry {
    large(AuditEntry {
        action: AuditAction::TerminalKill,
        ..entry("terminal.kill", at_ms)
    })
}

fn large(mut large: AuditEntry) -> AuditEntry {
    large
        .detail
        .insert("argv".to_owned(), Value::from("x".repeat(20_000)));
    large
}

#[tokio::test]
async fn audit_fails_at_once_blocks_wait_and_nothing_is_lost() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    store.audit(entry("terminal.create", 1)).await.unwrap();
    store.flush().await.unwrap();
    limit_pages(&store, 1).await;

    let bytes = noise(3, 10 * BLOCK_BYTES);
    let mut committed = Vec::new();
    for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
        committed.push(put(&store, 1, (number * BLOCK_BYTES) as u64, block.to_vec()).await);
    }
    let deadline = Duration::from_secs(5);
    for _ in 0..20 {
        let refused = tokio::time::timeout(deadline, store.audit(large_entry()))
            .await
            .unwrap();
        assert!(matches!(refused, Err(StoreError::DiskFull)), "{refused:?}");
    }
    let flushing = tokio::spawn({
        let store = store.clone();
        async move { store.flush().await }
    });
    assert!(
        committed.iter().all(|committed| committed.borrow().0 == 0),
        "nothing is committed"
    );

    limit_pages(&store, 1_000_000).await;
    tokio::time::timeout(deadline, flushing)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(
        committed.iter().all(|committed| committed.borrow().0 > 0),
        "all is committed"
    );
    assert_eq!(read(&store, 1, 0, u64::MAX).await, (0, bytes));
    // A refused record is not in the chain. Its refusal is, as far as there was space.
    store.audit(large_entry()).await.unwrap();
    let large = place
        .number("SELECT count(*) FROM audit WHERE length(detail) > 20000")
        .await;
    assert_eq!(large, 1);
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
}

#[tokio::test]
async fn many_waiting_records_are_all_refused_and_the_queue_is_bounded() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    store.flush().await.unwrap();
    limit_pages(&store, 1).await;
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.audit(large_entry()).await })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap().is_err());
    }
    // The queue fills and then makes callers wait.
    let mut queued = 0_u64;
    let patience = Duration::from_millis(300);
    while let Ok(permit) = tokio::time::timeout(patience, store.reserve_block()).await {
        let (committed, _) = watch::channel(Offset::ZERO);
        permit.unwrap().send(Block {
            terminal: id(1),
            start: Offset(queued * BLOCK_BYTES as u64),
            bytes: noise(queued, BLOCK_BYTES),
            origins: None,
            arrivals: Vec::new(),
            committed,
        });
        queued += 1;
        assert!(queued < 1_000, "the queue has no bound");
    }
    limit_pages(&store, 1_000_000).await;
    store.flush().await.unwrap();
    let count = place.number("SELECT count(*) FROM transcript_blocks").await;
    assert_eq!(count, queued.cast_signed());
}

#[tokio::test]
async fn closing_a_full_database_says_so_and_does_not_hang() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    store.flush().await.unwrap();
    limit_pages(&store, 1).await;
    put(&store, 1, 0, noise(1, BLOCK_BYTES)).await;
    let deadline = Duration::from_secs(10);
    let closed = tokio::time::timeout(deadline, store.close()).await.unwrap();
    assert!(closed.is_err());
    place.open().await.close().await.unwrap();
}

/// All records, oldest first: action and details.
async fn records(store: &Store) -> Vec<(String, Map<String, Value>)> {
    let filter = AuditFilter::default();
    let page = store.list_audit(&filter, None, 100, AuditOrder::Oldest);
    let records = page.await.unwrap().records.into_iter();
    let records = records.map(|record| (record.action, record.detail));
    records.collect()
}

/// A store that has no space for any record, and two endings that it could not record.
async fn with_deferred_kills(place: &Place) -> Store {
    let store = place.open().await;
    store.audit(entry("terminal.create", 1)).await.unwrap();
    limit_pages(&store, 1).await;
    for at_ms in [7, 8] {
        assert_eq!(store.audit(large_kill(at_ms)).await.unwrap(), None);
    }
    store
}

#[tokio::test]
async fn what_ends_something_is_done_and_recorded_when_there_is_space() {
    let place = Place::new();
    let store = with_deferred_kills(&place).await;
    assert_eq!(store.stalled().await, Stall::Full);
    let refused = store.audit(large_entry()).await;
    assert!(matches!(refused, Err(StoreError::DiskFull)), "{refused:?}");
    // A reader does not wait.
    store.put_terminal(running(1)).await.unwrap();
    store.settle().await.unwrap();
    assert!(matches!(
        store.reserve_row().await,
        Err(StoreError::DiskFull)
    ));

    limit_pages(&store, 1_000_000).await;
    // Nobody has to ask for it.
    let mut head = store.watch_audit();
    while head.newest().seq < 5 {
        assert!(head.moved().await);
    }
    store.flush().await.unwrap();
    let records = records(&store).await;
    let actions: Vec<&str> = records.iter().map(|record| record.0.as_str()).collect();
    assert_eq!(
        actions,
        [
            "terminal.create",
            // Small enough for a page that exists.
            "audit.refused",
            "terminal.kill",
            "terminal.kill",
            "audit.recovered"
        ]
    );
    assert_eq!(records[2].1["done_at_ms"], 7);
    assert_eq!(records[3].1["done_at_ms"], 8);
    let recovered = &records[4].1;
    assert_eq!(recovered["refused"], 1, "{recovered:?}");
    assert_eq!(recovered["deferred"], 2, "{recovered:?}");
    assert_eq!(recovered["deferred_recorded"], 2, "{recovered:?}");
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
    // It is said once.
    store.close().await.unwrap();
    let store = place.open().await;
    let next = store.audit(entry("terminal.create", 9)).await.unwrap();
    assert_eq!(next, Some(6));
}

#[tokio::test]
async fn a_killed_server_leaves_word_of_what_was_not_recorded() {
    let place = Place::new();
    let _store = with_deferred_kills(&place).await;
    let copy = Place::new();
    // What a kill -9 leaves: the files as they are while the store is open.
    for file in std::fs::read_dir(place.0.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.0.path().join(file.file_name())).unwrap();
    }
    let store = copy.open().await;
    store.audit(entry("daemon.start", 9)).await.unwrap();
    let records = records(&store).await;
    let (action, detail) = &records[1];
    assert_eq!(action, "audit.recovered");
    assert_eq!(
        (&detail["deferred"], &detail["deferred_recorded"]),
        (&2.into(), &0.into())
    );
    assert_eq!(detail["first_deferred_ms"], 7);
    assert_eq!(detail["last_deferred_ms"], 8);
    assert_eq!(records.len(), 3);
}
