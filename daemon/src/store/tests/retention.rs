//! What is dropped, what is kept, and the record of it.

use termd_proto::audit::AuditFilter;
use termd_proto::terminal::{Gap, GapCause};

use super::*;
use crate::store::{GapWrite, Retention, ScreenCheckpoint};

const KEEP_ALL: Retention = Retention {
    transcript_age_ms: i64::MAX,
    transcript_bytes: u64::MAX,
    audit_age_ms: i64::MAX,
};

/// Terminals 1 (ended at 100), 2 (ended at 200) and 3 (running) with 100 blocks' worth each.
async fn three_terminals() -> (Place, Store) {
    let place = Place::new();
    let store = place.open().await;
    for row in [ended(1, 100), ended(2, 200), running(3)] {
        store.put_terminal(row).await.unwrap();
    }
    for terminal in 1..=3 {
        for block in 0..100 {
            put(&store, terminal, block * 1_000, noise(block, 1_000)).await;
        }
    }
    store.flush().await.unwrap();
    (place, store)
}

async fn starts(store: &Store) -> Vec<u64> {
    let mut starts = Vec::new();
    for terminal in 1..=3 {
        let row = store.terminal(&id(terminal)).await.unwrap().unwrap();
        assert_eq!(row.end.0, 100_000, "the end stays");
        let (start, bytes) = read(&store.clone(), terminal, 0, u64::MAX).await;
        assert_eq!(start, row.start.0);
        assert_eq!(start + bytes.len() as u64, 100_000);
        starts.push(start);
    }
    starts
}

#[tokio::test]
async fn transcripts_go_by_age_and_by_size_oldest_first_and_never_a_running_ones() {
    let by_age = |transcript_age_ms| Retention {
        transcript_age_ms,
        ..KEEP_ALL
    };
    let by_size = |transcript_bytes| Retention {
        transcript_bytes,
        ..KEEP_ALL
    };
    for (retention, expected, reason) in [
        (KEEP_ALL, [0, 0, 0], ""),
        (by_age(1_000), [0, 0, 0], ""),
        (by_age(850), [100_000, 0, 0], "age"),
        (by_age(0), [100_000, 100_000, 0], "age"),
        (by_size(300_000), [0, 0, 0], ""),
        (by_size(299_999), [100_000, 0, 0], "size"),
        (by_size(0), [100_000, 100_000, 0], "size"),
    ] {
        let (place, store) = three_terminals().await;
        // Twice: the second pass finds nothing.
        for _ in 0..2 {
            store.apply_retention(&retention, 1_000).await.unwrap();
        }
        assert_eq!(starts(&store).await, expected, "{retention:?}");
        let dropped = expected
            .iter()
            .map(|start| i64::from(*start > 0))
            .sum::<i64>();
        let recorded = format!(
            "SELECT count(*) FROM transcript_dropped WHERE from_offset = 0 \
             AND to_offset = 100000 AND at_ms = 1000 AND reason = '{reason}'"
        );
        assert_eq!(place.number(&recorded).await, dropped);
        let all = place
            .number("SELECT count(*) FROM transcript_dropped")
            .await;
        assert_eq!(all, dropped);
    }
}

#[tokio::test]
async fn old_audit_records_go_in_a_recorded_way_and_the_chain_still_verifies() {
    let place = Place::new();
    let store = place.open().await;
    for at_ms in 1..=600 {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    let retention = Retention {
        audit_age_ms: 500,
        ..KEEP_ALL
    };
    store.apply_retention(&retention, 1_050).await.unwrap();
    // Records 1 to 549 are older than 550. 550 to 600 and the `audit.pruned` record stay.
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (52, None));
    assert_eq!(place.number("SELECT min(seq) FROM audit").await, 550);
    let filter = AuditFilter {
        action: Some("audit.pruned".to_owned()),
        ..AuditFilter::default()
    };
    let pruned = store
        .list_audit(&filter, None, 10, AuditOrder::Newest)
        .await
        .unwrap()
        .records;
    assert_eq!(pruned.len(), 1);
    assert_eq!(
        (
            pruned[0].detail["from"].as_i64(),
            pruned[0].detail["through"].as_i64()
        ),
        (Some(1), Some(549))
    );

    // All records go, the `audit.pruned` record too. The chain goes on after a restart.
    store.apply_retention(&retention, 9_000).await.unwrap();
    assert_eq!(place.number("SELECT count(*) FROM audit").await, 1);
    store.close().await.unwrap();
    let store = place.open().await;
    assert_eq!(
        store.audit(entry("terminal.create", 9_001)).await.unwrap(),
        Some(603)
    );
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (2, None));
}

#[tokio::test]
async fn freed_pages_go_back_to_the_file_system() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(ended(1, 100)).await.unwrap();
    for block in 0..200 {
        put(
            &store,
            1,
            block * BLOCK_BYTES as u64,
            noise(block + 1, BLOCK_BYTES),
        )
        .await;
    }
    store.flush().await.unwrap();
    let full = place.number("PRAGMA page_count").await;
    let retention = Retention {
        transcript_bytes: 0,
        ..KEEP_ALL
    };
    store.apply_retention(&retention, 1_000).await.unwrap();
    let left = place.number("PRAGMA page_count").await;
    assert!(full > 3_200 && left < 1_400, "{full} pages, then {left}");
    store.close().await.unwrap();
    assert!(place.path().metadata().unwrap().len() < 1_400 * 4_096);
}

/// The offset of the last keyframe at or before an offset.
async fn keyframe(store: &Store, terminal: u64, at: u64) -> Option<u64> {
    let kept = store.keyframe(&id(terminal), Offset(at)).await.unwrap();
    kept.map(|kept| {
        assert_eq!(kept.dump, kept.at.0.to_string().into_bytes());
        kept.at.0
    })
}

#[tokio::test]
async fn keyframes_are_found_by_offset_and_go_with_what_they_show() {
    let (_place, store) = three_terminals().await;
    let screen = |at: u64| ScreenCheckpoint {
        at: Offset(at),
        dump: at.to_string().into_bytes(),
    };
    for terminal in [1, 3] {
        for at in [10_000, 20_000, 30_000, 40_000, 50_000] {
            assert!(store.try_put_keyframe(id(terminal), screen(at)));
        }
        assert!(store.try_put_screen(id(terminal), screen(45_000)));
    }
    store.flush().await.unwrap();
    for (at, want) in [
        (9_999, None),
        (10_000, Some(10_000)),
        (44_999, Some(40_000)),
        (49_999, Some(45_000)),
        (u64::MAX, Some(50_000)),
    ] {
        assert_eq!(keyframe(&store, 3, at).await, want, "{at}");
        assert_eq!(keyframe(&store, 2, at).await, None);
    }
    // The last one of a gap is where the output behind it is played from.
    let gap = Gap {
        start: Offset(15_000),
        end: Offset(42_000),
        cause: GapCause::TerminalQuota,
    };
    store.reserve_block().await.unwrap().send_gap(GapWrite {
        terminal: id(3),
        gap,
        at_ms: 0,
        committed: None,
    });
    store.flush().await.unwrap();
    for (at, want) in [(39_999, Some(10_000)), (42_000, Some(40_000))] {
        assert_eq!(keyframe(&store, 3, at).await, want, "{at}");
    }
    let retention = Retention {
        transcript_age_ms: 0,
        ..KEEP_ALL
    };
    store.apply_retention(&retention, 1_000).await.unwrap();
    assert_eq!(keyframe(&store, 1, u64::MAX).await, None);
    assert_eq!(keyframe(&store, 3, u64::MAX).await, Some(50_000));
}
