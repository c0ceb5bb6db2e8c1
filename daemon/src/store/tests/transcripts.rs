//! Bytes in, the same bytes out.

use std::fmt::Write as _;

use super::*;
use crate::store::StoreError;

#[tokio::test]
async fn random_blocks_read_back_equal() {
    for seed in 1..=12 {
        let mut random = Random(seed * 0x9e37_79b9);
        let place = Place::new();
        let store = place.open().await;
        store.put_terminal(running(1)).await.unwrap();
        let length = random.length_below(400_000);
        let mut bytes = noise(seed, length);
        // Half of it compresses.
        for byte in bytes.iter_mut().take(length / 2) {
            *byte &= 1;
        }
        let (mut start, mut committed) = (0, None);
        while start < length {
            let whole = BLOCK_BYTES.min(length - start);
            // A block grows: it is sent again, longer.
            if random.below(2) == 0 {
                let part = 1 + random.length_below(whole);
                put(&store, 1, start as u64, bytes[start..start + part].to_vec()).await;
                if random.below(2) == 0 {
                    store.flush().await.unwrap();
                }
            }
            committed = Some(
                put(
                    &store,
                    1,
                    start as u64,
                    bytes[start..start + whole].to_vec(),
                )
                .await,
            );
            start += whole;
        }
        store.flush().await.unwrap();
        if let Some(committed) = committed {
            assert_eq!(committed.borrow().0, length as u64, "seed {seed}");
        }
        let row = store.terminal(&id(1)).await.unwrap().unwrap();
        assert_eq!((row.start.0, row.end.0), (0, length as u64));
        assert_eq!(
            read(&store, 1, 0, u64::MAX).await,
            (0, bytes.clone()),
            "seed {seed}"
        );
        for _ in 0..20 {
            let since = random.length_below(length + 2);
            let max = random.length_below(150_000);
            let expected = bytes.get(since..).unwrap_or(&[]);
            let expected = expected[..expected.len().min(max)].to_vec();
            let got = read(&store, 1, since as u64, max as u64).await;
            assert_eq!(got, (since as u64, expected), "seed {seed}, {since}+{max}");
        }
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_longer_block_replaces_a_shorter_one_and_never_the_other_way() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    put(&store, 1, 0, b"hello, world".to_vec()).await;
    put(&store, 1, 0, b"hello".to_vec()).await;
    store.flush().await.unwrap();
    assert_eq!(read(&store, 1, 0, 100).await, (0, b"hello, world".to_vec()));
    assert_eq!(
        place.number("SELECT count(*) FROM transcript_blocks").await,
        1
    );
    assert_eq!(
        store.terminal(&id(1)).await.unwrap().unwrap().end,
        Offset(12)
    );
}

#[tokio::test]
async fn a_gap_is_never_read_over() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    put(&store, 1, 100, vec![b'a'; 50]).await;
    put(&store, 1, 150, vec![b'b'; 50]).await;
    put(&store, 1, 300, vec![b'c'; 50]).await;
    // Overlaps the block before, as after a restart in the middle of a block.
    put(&store, 1, 340, vec![b'd'; 20]).await;
    store.flush().await.unwrap();
    for (since, max, start, expected) in [
        (0, 1_000, 100, "a".repeat(50) + &"b".repeat(50)),
        (0, 10, 100, "a".repeat(10)),
        (140, 20, 140, "a".repeat(10) + &"b".repeat(10)),
        (200, 1_000, 300, "c".repeat(50) + &"d".repeat(10)),
        (345, 1_000, 345, "c".repeat(5) + &"d".repeat(10)),
        (360, 1_000, 360, String::new()),
        (5_000, 1_000, 5_000, String::new()),
        (120, 0, 120, String::new()),
        (u64::MAX, u64::MAX, u64::MAX, String::new()),
    ] {
        assert_eq!(
            read(&store, 1, since, max).await,
            (start, expected.into_bytes()),
            "{since}"
        );
    }
    assert_eq!(
        read(&store, 2, 7, 9).await,
        (7, vec![]),
        "an unknown terminal"
    );
}

#[tokio::test]
async fn a_damaged_block_is_an_error_with_its_place() {
    let bomb = zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap();
    let hex = bomb.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    for damage in [
        "data = x'00112233'".to_owned(),
        "length = length - 1".to_owned(),
        "length = length + 1".to_owned(),
        "encoding = 0".to_owned(),
        "data = substr(data, 1, length(data) - 1)".to_owned(),
        format!("data = x'{hex}'"),
    ] {
        let place = Place::new();
        let store = place.open().await;
        store.put_terminal(running(1)).await.unwrap();
        put(&store, 1, 0, vec![b'x'; 1_000]).await;
        put(&store, 1, 1_000, vec![b'y'; 1_000]).await;
        store.flush().await.unwrap();
        let sql = format!("UPDATE transcript_blocks SET {damage} WHERE start_offset = 1000");
        place.execute(&sql).await;
        assert_eq!(read(&store, 1, 0, 1_000).await.1, vec![b'x'; 1_000]);
        let error = store
            .read_transcript(&id(1), Offset(0), 2_000)
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::DamagedBlock {
                    offset: Offset(1_000),
                    ..
                }
            ),
            "{damage}: {error}"
        );
    }
}

#[tokio::test]
async fn a_block_that_breaks_the_rules_does_not_stop_the_others() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    let strange = [
        put(&store, 2, 0, b"no such terminal".to_vec()).await,
        put(&store, 1, 0, Vec::new()).await,
        put(&store, 1, 0, vec![0; BLOCK_BYTES + 1]).await,
    ];
    // More blocks than one statement takes, with a bad one among them.
    let mut good = Vec::new();
    for block in 0..20 {
        good.push(put(&store, 1, block * 4, b"good".to_vec()).await);
        if block == 11 {
            put(&store, 2, 1 << 40, b"no such terminal".to_vec()).await;
        }
    }
    store.flush().await.unwrap();
    for (block, committed) in (1..).zip(good) {
        assert_eq!(committed.borrow().0, block * 4);
    }
    assert_eq!(
        store.terminal(&id(1)).await.unwrap().unwrap().end,
        Offset(80)
    );
    for committed in strange {
        assert_eq!(committed.borrow().0, 0, "it is not reported as committed");
        assert!(committed.has_changed().is_err(), "the sender is gone");
    }
    assert_eq!(read(&store, 1, 0, 100).await, (0, b"good".repeat(20)));
}

#[tokio::test]
async fn a_block_is_committed_soon_without_a_flush() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    let mut committed = put(&store, 1, 0, b"soon".to_vec()).await;
    let deadline = std::time::Duration::from_secs(10);
    let end = tokio::time::timeout(deadline, committed.wait_for(|end| end.0 == 4)).await;
    assert_eq!(end.unwrap().unwrap().0, 4);
}

#[tokio::test]
async fn what_was_queued_is_written_when_the_store_is_closed_or_dropped() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    put(&store, 1, 0, noise(1, BLOCK_BYTES)).await;
    let other = store.clone();
    store.close().await.unwrap();
    assert!(matches!(
        other.audit(entry("x", 1)).await,
        Err(StoreError::Closed)
    ));
    assert!(matches!(
        other.reserve_block().await,
        Err(StoreError::Closed)
    ));
    assert!(matches!(other.flush().await, Err(StoreError::Closed)));

    let store = place.open().await;
    let mut committed = put(&store, 1, BLOCK_BYTES as u64, b"the end".to_vec()).await;
    drop(store);
    while committed.changed().await.is_ok() {}
    assert_eq!(committed.borrow().0, BLOCK_BYTES as u64 + 7);
    let count = place.number("SELECT count(*) FROM transcript_blocks").await;
    assert_eq!(count, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_read_while_blocks_are_written() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(running(1)).await.unwrap();
    store.flush().await.unwrap();
    let bytes = noise(7, 40 * BLOCK_BYTES);
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (store, bytes) = (store.clone(), bytes.clone());
            tokio::spawn(async move {
                let mut seen = 0;
                while seen < bytes.len() {
                    let (start, new) = read(&store, 1, seen as u64, 300_000).await;
                    assert_eq!(start, seen as u64);
                    assert_eq!(new, bytes[seen..seen + new.len()]);
                    seen += new.len();
                }
            })
        })
        .collect();
    for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
        put(&store, 1, (number * BLOCK_BYTES) as u64, block.to_vec()).await;
    }
    for reader in readers {
        reader.await.unwrap();
    }
}
