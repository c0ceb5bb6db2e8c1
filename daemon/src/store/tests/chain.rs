//! The audit chain: kept under load, and every kind of tampering found.

use termd_proto::audit::{AuditFilter, AuditVerdict, MAX_BAD_RECORDS};

use super::*;

/// A closed database with this many records.
async fn chain_of(records: i64) -> Place {
    let place = Place::new();
    let store = place.open().await;
    for at_ms in 1..=records {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    store.close().await.unwrap();
    place
}

/// Drops the triggers and runs statements, as any process that may write the file can.
async fn tamper(place: &Place, sql: &str) {
    let all = format!(
        "DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_dropped_by_retention_alone; {sql}"
    );
    place.execute(&all).await;
}

#[tokio::test]
async fn a_whole_chain_verifies_and_its_head_is_its_last_hash() {
    let place = chain_of(5).await;
    let store = place.open().await;
    let verdict = store.verify_audit().await.unwrap();
    let page = store
        .list_audit(&AuditFilter::default(), None, 1, AuditOrder::Newest)
        .await
        .unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (5, None));
    assert_eq!(verdict.head.as_ref(), Some(&page.records[0].hash));
}

/// An index without some rows hides them from a listing, and leaves the chain whole.
#[tokio::test]
async fn rows_hidden_by_the_schema_are_found() {
    let index = "CREATE INDEX audit_terminal ON audit (terminal, seq) WHERE terminal IS NOT NULL";
    let rewrite = |sql: &str, version: i64| {
        format!(
            "PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = '{sql}' WHERE name = 'audit_terminal'; \
             PRAGMA schema_version = {version};"
        )
    };
    let place = chain_of(6).await;
    let version = place.number("PRAGMA schema_version").await;
    place
        .execute(&rewrite(&format!("{index} AND seq <> 3"), version + 1))
        .await;
    place.execute("REINDEX audit_terminal").await;
    let found = place.open().await.verify_audit().await.unwrap();
    let fault = found.database_fault.unwrap();
    assert_eq!(fault, "the index audit_terminal is not termd's");
    place.execute(&rewrite(index, version + 2)).await;
    let found = place.open().await.verify_audit().await.unwrap();
    let fault = found.database_fault.unwrap();
    assert!(fault.contains("audit_terminal"), "{fault}");
    assert_eq!(found.first_bad, None);
    place.execute("REINDEX audit_terminal").await;
    let found = place.open().await.verify_audit().await.unwrap();
    assert_eq!(found.database_fault, None);
}

#[tokio::test]
async fn a_schema_that_is_not_termds_is_found() {
    for (sql, fault) in [
        ("CREATE VIEW x AS SELECT 1", "the view x is not termd's"),
        ("DROP INDEX audit_time", "the index audit_time is missing"),
        (
            "DROP TRIGGER audit_is_never_changed",
            "the trigger audit_is_never_changed is missing",
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON audit BEGIN DELETE FROM commands; END",
            "the trigger t is not termd's",
        ),
    ] {
        let place = chain_of(2).await;
        place.execute(sql).await;
        let verdict = place.open().await.verify_audit().await.unwrap();
        assert_eq!(verdict.database_fault.as_deref(), Some(fault));
    }
}

/// The next server is given the head that the one before wrote last.
#[tokio::test]
async fn a_chain_computed_anew_does_not_have_the_earlier_head() {
    let place = chain_of(6).await;
    let store = place.open().await;
    let head = store.watch_audit().newest();
    store.close().await.unwrap();
    let store = place.open().await.with_earlier_head(Some(head.clone()));
    assert!(store.has_earlier_head().await.unwrap());
    store.audit(entry("terminal.create", 7)).await.unwrap();
    assert_eq!(store.verify_audit().await.unwrap().first_bad, None);
    store.close().await.unwrap();
    let other = chain_of(5).await;
    let store = other.open().await;
    store.audit(entry("terminal.create", 99)).await.unwrap();
    store.audit(entry("terminal.create", 100)).await.unwrap();
    store.close().await.unwrap();
    let store = other.open().await.with_earlier_head(Some(head.clone()));
    assert!(!store.has_earlier_head().await.unwrap());
    let bad = store.verify_audit().await.unwrap().first_bad.unwrap();
    assert_eq!(bad.seq, 6, "{}", bad.reason);
    store.close().await.unwrap();
    let other = chain_of(4).await;
    let shorter = other.open().await.with_earlier_head(Some(head));
    let bad = shorter.verify_audit().await.unwrap().first_bad.unwrap();
    assert_eq!(bad.seq, 5, "{}", bad.reason);
}

#[tokio::test]
async fn an_empty_chain_verifies() {
    let verdict = Place::new().open().await.verify_audit().await.unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (0, None));
}

#[tokio::test]
async fn every_kind_of_tampering_names_the_first_bad_record() {
    let fields = [
        "at_ms = 99",
        "action = 'terminal.kill'",
        "outcome = 'denied'",
        "front = 'cli'",
        "uid = 0",
        "pid = 1",
        "exe = NULL",
        "session = ''",
        "client = 'zed,'",
        "terminal = NULL",
        "detail = '{}'",
        "hash = prev_hash",
        "prev_hash = hash",
        "action = CAST(x'ff' AS TEXT)",
    ];
    let mut table: Vec<(String, i64)> = fields
        .iter()
        .map(|field| (format!("UPDATE audit SET {field} WHERE seq = 3"), 3))
        .collect();
    for (sql, bad) in [
        ("DELETE FROM audit WHERE seq = 3", 4),
        ("DELETE FROM audit WHERE seq IN (1, 2)", 3),
        (
            "DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3",
            3,
        ),
        (
            "UPDATE audit SET seq = -1 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4; \
             UPDATE audit SET seq = 4 WHERE seq = -1",
            3,
        ),
        (
            "INSERT INTO audit SELECT 7, at_ms, action, outcome, front, uid, pid, exe, session, \
             client, terminal, detail, hash, hash FROM audit WHERE seq = 6",
            7,
        ),
        // A moved anchor hides records. The missing `audit.pruned` record reveals it.
        (
            "UPDATE audit_anchor SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2); \
             DELETE FROM audit WHERE seq <= 2",
            3,
        ),
    ] {
        table.push((sql.to_owned(), bad));
    }
    for (sql, bad) in table {
        let place = chain_of(6).await;
        tamper(&place, &sql).await;
        let verdict = place.open().await.verify_audit().await.unwrap();
        let found = verdict.first_bad.as_ref().map(|record| record.seq);
        assert_eq!(found, Some(bad), "{sql}: {verdict:?}");
    }
}

#[tokio::test]
async fn records_cut_off_the_end_are_missed_while_their_writer_lives() {
    let place = Place::new();
    let store = place.open().await;
    for at_ms in 1..=6 {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    tamper(&place, "DELETE FROM audit WHERE seq > 4").await;
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!(verdict.first_bad.map(|record| record.seq), Some(5));
    // A later process cannot find this (docs/database.md).
    store.close().await.unwrap();
    let verdict = place.open().await.verify_audit().await.unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (4, None));
}

/// Appends a record behind the newest one, chained as it should be.
async fn forge(place: &Place, records: i64) {
    let other = Place::new();
    let longer = format!("VACUUM INTO '{}'", other.path().display());
    place.execute(&longer).await;
    let store = other.open().await;
    for at_ms in 0..records {
        store.audit(entry("approval.answer", at_ms)).await.unwrap();
    }
    store.close().await.unwrap();
    let columns = "seq, at_ms, action, outcome, front, uid, pid, exe, session, client, terminal, \
                   detail, prev_hash, hash";
    let copied = format!(
        "ATTACH '{}' AS other; INSERT INTO audit ({columns}) SELECT {columns} FROM other.audit \
         WHERE seq > (SELECT max(seq) FROM main.audit)",
        other.path().display()
    );
    place.execute(&copied).await;
}

#[tokio::test]
async fn records_that_another_process_appended_are_found_and_the_chain_goes_on() {
    let place = Place::new();
    let store = place.open().await;
    for at_ms in 1..=3 {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    forge(&place, 2).await;
    // Records 4 and 5 are forged, and 6 says so.
    let bad = store.verify_audit().await.unwrap().first_bad.unwrap();
    assert_eq!(bad.seq, 6, "{}", bad.reason);
    assert!(bad.reason.contains("records 4 to 5"), "{}", bad.reason);
    assert_eq!(
        store.audit(entry("terminal.create", 7)).await.unwrap(),
        Some(7)
    );
    // A record finds its number taken.
    forge(&place, 1).await;
    assert_eq!(
        store.audit(entry("terminal.create", 10)).await.unwrap(),
        Some(10)
    );
    // So do several at once.
    forge(&place, 1).await;
    let written = (13..16).map(|at_ms| store.audit(entry("terminal.create", at_ms)));
    let written = futures_util::future::try_join_all(written).await.unwrap();
    assert_eq!(written, [Some(13), Some(14), Some(15)]);
    forge(&place, 1).await;
    store.close().await.unwrap();
    let store = place.open().await;
    let verdict = store.verify_audit().await.unwrap();
    let named = verdict.bad.iter();
    let named: Vec<_> = named
        .map(|bad| (bad.seq, bad.reason.rsplit_once("records ").unwrap().1))
        .collect();
    assert_eq!(
        named,
        [
            (6, "4 to 5"),
            (9, "8 to 8"),
            (12, "11 to 11"),
            (17, "16 to 16")
        ]
    );
    assert_eq!(verdict.bad_count, 4);
    let filter = AuditFilter {
        action: Some("audit.forged".to_owned()),
        ..AuditFilter::default()
    };
    let page = store
        .list_audit(&filter, None, 9, AuditOrder::Oldest)
        .await
        .unwrap();
    let found: Vec<i64> = page.records.iter().map(|record| record.seq).collect();
    assert_eq!(found, [6, 9, 12, 17]);
}

#[tokio::test]
async fn what_is_known_to_be_wrong_hides_nothing_else() {
    let place = Place::new();
    let store = place.open().await;
    for at_ms in 1..=3 {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    forge(&place, 1).await;
    for at_ms in 6..=240 {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    let bad = |verdict: &AuditVerdict| -> Vec<i64> {
        verdict.bad.iter().map(|record| record.seq).collect()
    };
    assert_eq!(bad(&store.verify_audit().await.unwrap()), [5]);
    tamper(
        &place,
        "DELETE FROM audit WHERE seq IN (8, 20, 21, 240); UPDATE audit SET outcome = 'denied' WHERE seq = 30; \
         UPDATE audit SET action = CAST(x'ff' AS TEXT) WHERE seq = 40",
    )
    .await;
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!(bad(&verdict), [5, 9, 22, 30, 40, 240], "{verdict:?}");
    assert_eq!((verdict.bad_count, verdict.checked), (6, 236));
    assert_eq!(verdict.first_bad.as_ref(), verdict.bad.first());
    // Most of a chain that was changed throughout is counted.
    place.execute("UPDATE audit SET uid = uid + 1").await;
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!(verdict.bad.len(), MAX_BAD_RECORDS + 1);
    // Each record, two gaps, the forged one and the end.
    assert_eq!(verdict.bad_count, 236 + 4);
}

/// A trigger of another process may have a record ignored without an error.
#[tokio::test]
async fn a_record_that_is_ignored_is_an_error() {
    let place = Place::new();
    let store = place.open().await;
    store.audit(entry("terminal.create", 1)).await.unwrap();
    place
        .execute(
            "CREATE TRIGGER ignores BEFORE INSERT ON audit WHEN NEW.action = 'terminal.create' \
             BEGIN SELECT RAISE(IGNORE); END",
        )
        .await;
    assert!(store.audit(entry("terminal.create", 2)).await.is_err());
    let together = (3..6).map(|at_ms| store.audit(entry("terminal.create", at_ms)));
    for written in futures_util::future::join_all(together).await {
        assert!(written.is_err(), "{written:?}");
    }
    store.audit(entry("approval.answer", 6)).await.unwrap();
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (2, None));
    assert!(verdict.database_fault.is_some());
}

/// The newest record's hash is the one that this process wrote, also where later records follow it.
#[tokio::test]
async fn a_longer_chain_does_not_hide_another_head() {
    let place = Place::new();
    let store = place.open().await;
    for at_ms in 11..=14 {
        store.audit(entry("terminal.create", at_ms)).await.unwrap();
    }
    let other = chain_of(6).await;
    let sql = format!(
        "ATTACH '{}' AS other; DELETE FROM audit; INSERT INTO audit SELECT seq, at_ms, action, outcome, \
         front, uid, pid, exe, session, client, terminal, detail, prev_hash, hash FROM other.audit",
        other.path().display()
    );
    let columns = "seq, at_ms, action, outcome, front, uid, pid, exe, session, client, terminal, \
                   detail, prev_hash, hash";
    let sql = sql.replace(
        "INTO audit SELECT",
        &format!("INTO audit ({columns}) SELECT"),
    );
    tamper(&place, &sql).await;
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!(verdict.first_bad.map(|record| record.seq), Some(4));
}

#[tokio::test]
async fn the_database_itself_holds_our_own_mistakes_off() {
    let place = chain_of(3).await;
    let mut connection = place.connection().await;
    for sql in [
        "UPDATE audit SET outcome = 'x' WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 1",
        "DELETE FROM audit",
    ] {
        let refused = sqlx::query(sql).execute(&mut connection).await;
        assert!(refused.is_err(), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_records_from_fifty_tasks_make_one_chain() {
    let place = Place::new();
    let store = place.open().await;
    let tasks = (0..50).map(|task| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut numbers = Vec::new();
            for record in 0..40 {
                let at_ms = task * 100 + record;
                numbers.push((
                    store
                        .audit(entry("terminal.input", at_ms))
                        .await
                        .unwrap()
                        .unwrap(),
                    at_ms,
                ));
            }
            numbers
        })
    });
    let mut numbers = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        numbers.extend(task.await.unwrap());
    }
    numbers.sort_unstable();
    let expected: Vec<i64> = (1..=2_000).collect();
    assert_eq!(
        numbers.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(),
        expected
    );
    let verdict = store.verify_audit().await.unwrap();
    assert_eq!((verdict.checked, verdict.first_bad), (2_000, None));
    // Each caller got the number of its own record.
    let page = store
        .list_audit(&AuditFilter::default(), None, 2_000, AuditOrder::Newest)
        .await
        .unwrap();
    let stored: Vec<(i64, i64)> = page
        .records
        .iter()
        .rev()
        .map(|r| (r.seq, r.at_ms))
        .collect();
    assert_eq!(stored, numbers);
}

#[tokio::test]
async fn the_hash_is_the_documented_one() {
    // The hash of docs/database.md, computed from that text by Python's hashlib.
    let place = chain_of(1).await;
    let store = place.open().await;
    let record = store
        .list_audit(&AuditFilter::default(), None, 1, AuditOrder::Newest)
        .await
        .unwrap()
        .records
        .remove(0);
    assert_eq!(record.previous_hash, "0".repeat(64));
    assert_eq!(
        record.hash,
        "a4b407f23fa417a4944599673c591c2a99dea0dd4fcc9e1f90aa5d4f6ba96063"
    );
}

#[tokio::test]
async fn records_are_listed_newest_first_filtered_and_in_pages() {
    let place = Place::new();
    let store = place.open().await;
    for (action, at_ms) in [
        ("terminal.create", 10),
        ("terminal.kill", 20),
        ("terminals.list", 30),
        ("terminal.create", 40),
    ] {
        store.audit(entry(action, at_ms)).await.unwrap();
    }
    let mut other = entry("session.close", 50);
    other.terminal = None;
    other.actor.session = None;
    other.actor.client = Some("sess_2".to_owned());
    other.actor.exe = None;
    store.audit(other.clone()).await.unwrap();

    let all = AuditFilter::default();
    let by = |change: fn(&mut AuditFilter)| {
        let mut filter = AuditFilter::default();
        change(&mut filter);
        filter
    };
    for (filter, expected) in [
        (all.clone(), vec![5, 4, 3, 2, 1]),
        (
            by(|f| f.action = Some("terminal.create".into())),
            vec![4, 1],
        ),
        (by(|f| f.action = Some("terminal".into())), vec![4, 2, 1]),
        (
            by(|f| f.terminal = Some(id(1).to_string())),
            vec![4, 3, 2, 1],
        ),
        (by(|f| f.terminal = Some(id(2).to_string())), vec![]),
        (by(|f| f.client = Some("sess_1".into())), vec![4, 3, 2, 1]),
        (by(|f| f.client = Some("sess_2".into())), vec![5]),
        (by(|f| f.client = Some("zed".into())), vec![4, 3, 2, 1]),
        (by(|f| f.since_ms = Some(20)), vec![5, 4, 3, 2]),
        (by(|f| f.until_ms = Some(20)), vec![1]),
        (
            by(|f| (f.since_ms, f.until_ms) = (Some(20), Some(40))),
            vec![3, 2],
        ),
    ] {
        // In pages of two, each from the cursor of the page before.
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = store
                .list_audit(&filter, cursor.as_deref(), 2, AuditOrder::Newest)
                .await
                .unwrap();
            assert!(page.records.len() <= 2);
            found.extend(page.records.iter().map(|record| record.seq));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{filter:?}");
    }
    let newest = store
        .list_audit(&all, None, 1, AuditOrder::Newest)
        .await
        .unwrap()
        .records
        .remove(0);
    assert_eq!(newest.actor, other.actor);
    assert_eq!(newest.detail, other.detail);
    assert!(
        store
            .list_audit(&all, Some("x"), 1, AuditOrder::Newest)
            .await
            .is_err()
    );
}
