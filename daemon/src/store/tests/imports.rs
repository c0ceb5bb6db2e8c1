//! Terminals that were recorded elsewhere: stored whole, or not at all.

use super::full_disk::limit_pages;
use super::*;
use crate::store::{
    CommandChange, CommandQuery, CommandStarted, ImportedOutput, ImportedTerminal, Retention,
    ScreenCheckpoint, SizeChange, StoreError,
};

/// A recording of 1970 that was imported at this time.
fn imported(number: u64, output: &[u8], imported_at_ms: i64) -> ImportedTerminal {
    let mut imported = ImportedOutput::of(id(number)).unwrap();
    for (at_ms, part) in (0..).zip(output.chunks(1_000)) {
        imported.add(part, at_ms);
    }
    let end = imported.end();
    ImportedTerminal {
        row: TerminalRow {
            imported_at_ms: Some(imported_at_ms),
            closed_at_ms: Some(imported_at_ms),
            ..ended(number, 2_000)
        },
        output: imported,
        sizes: vec![SizeChange {
            at: Offset(5),
            cols: 90,
            rows: 30,
            at_ms: Some(7),
        }],
        commands: vec![CommandChange::Started(CommandStarted {
            number: 1,
            text: "make --password hunter22".to_owned(),
            cwd: None,
            at_ms: 1_500,
            start_offset: Offset(5),
        })],
        screen: ScreenCheckpoint {
            at: end,
            dump: b"dump".to_vec(),
        },
        keyframes: vec![ScreenCheckpoint {
            at: Offset(5),
            dump: b"early".to_vec(),
        }],
    }
}

#[tokio::test]
async fn all_of_a_recording_is_there_with_its_record() {
    let place = Place::new();
    let store = place.open().await;
    let output = noise(7, 3 * BLOCK_BYTES + 17);
    let import = imported(1, &output, 9_000);
    store.import(import, entry("x", 9_000)).await.unwrap();
    assert_eq!(read(&store, 1, 0, 1 << 20).await, (0, output.clone()));
    let row = store.terminal(&id(1)).await.unwrap().unwrap();
    assert_eq!(
        (row.end, row.imported_at_ms),
        (Offset(output.len() as u64), Some(9_000))
    );
    let parts = store
        .arrivals(&id(1), (Offset::ZERO, row.end))
        .await
        .unwrap();
    let all: Vec<_> = parts
        .into_iter()
        .flat_map(|(_, arrivals)| arrivals)
        .collect();
    assert_eq!(all.iter().map(|arrival| arrival.at_ms).max(), Some(196));
    assert_eq!(store.sizes(&id(1), Offset::ZERO).await.unwrap().len(), 1);
    assert_eq!(store.screen(&id(1)).await.unwrap().unwrap().dump, b"dump");
    let early = store.keyframe(&id(1), Offset(6)).await.unwrap().unwrap();
    assert_eq!(early.dump, b"early");
    let of = |terminal| CommandQuery {
        terminal,
        ..CommandQuery::default()
    };
    let own = store
        .list_commands(&of(Some(id(1))), None, 10)
        .await
        .unwrap();
    assert_eq!(own.commands.len(), 2);
    assert!(!own.commands[0].text.contains("hunter22"), "{own:?}");
    let history = store.list_commands(&of(None), None, 10).await.unwrap();
    assert_eq!(history.commands, []);
    assert_eq!(place.number("SELECT count(*) FROM audit").await, 1);
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
}

#[tokio::test]
async fn what_does_not_fit_the_disk_leaves_nothing() {
    let place = Place::new();
    let store = place.open().await;
    store.audit(entry("before", 1)).await.unwrap();
    limit_pages(&store, 1).await;
    let import = imported(1, &noise(7, 4 << 20), 9_000);
    let refused = store.import(import, entry("x", 9_000)).await;
    assert!(matches!(refused, Err(StoreError::DiskFull)), "{refused:?}");
    for table in [
        "terminals",
        "transcript_blocks",
        "commands",
        "terminal_sizes",
        "screens",
    ] {
        let rows = place.number(&format!("SELECT count(*) FROM {table}")).await;
        assert_eq!(rows, 0, "{table}");
    }
    assert_eq!(place.number("SELECT count(*) FROM audit").await, 1);
    limit_pages(&store, 1 << 30).await;
    let import = imported(1, b"there is room", 9_000);
    store.import(import, entry("x", 9_000)).await.unwrap();
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
}

#[tokio::test]
async fn its_age_counts_from_the_import() {
    let place = Place::new();
    let store = place.open().await;
    let import = imported(1, b"old", 50_000);
    store.import(import, entry("x", 50_000)).await.unwrap();
    let retention = Retention {
        transcript_age_ms: 10_000,
        transcript_bytes: u64::MAX,
        audit_age_ms: i64::MAX,
    };
    let dropped = store.apply_retention(&retention, 59_000).await.unwrap();
    assert_eq!(dropped, [""; 0]);
    let dropped = store.apply_retention(&retention, 61_000).await.unwrap();
    assert_eq!(dropped, [id(1).to_string()]);
}
