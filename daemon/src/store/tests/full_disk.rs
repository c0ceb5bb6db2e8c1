//! A database that takes nothing more: audit fails at once, blocks wait.

use tokio::sync::oneshot;

use super::*;
use crate::store::StoreError;
use crate::store::writer::queue::Urgent;

/// Bounds the database at this number of pages (`SQLITE_FULL` beyond); never shrinks it.
async fn limit_pages(store: &Store, pages: i64) {
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
    let mut large = entry("terminal.create", 1);
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
    let deadline = std::time::Duration::from_secs(5);
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
    let patience = std::time::Duration::from_millis(300);
    while let Ok(permit) = tokio::time::timeout(patience, store.reserve_block()).await {
        let (committed, _) = watch::channel(Offset::ZERO);
        permit.unwrap().send(Block {
            terminal: id(1),
            start: Offset(queued * BLOCK_BYTES as u64),
            bytes: noise(queued, BLOCK_BYTES),
            origins: None,
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
    let deadline = std::time::Duration::from_secs(10);
    let closed = tokio::time::timeout(deadline, store.close()).await.unwrap();
    assert!(closed.is_err());
    place.open().await.close().await.unwrap();
}
