//! `[store]` end to end: the quota of one terminal, and the quota of all terminals.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, wait_until};

use super::numbered_lines::{MIB, create, expected, lines, pieces, rows, wait_until_stored};

/// The one gap in the output of a terminal that printed this many bytes of numbered lines. All
/// other output is checked to be exact.
fn only_gap(client: &mut RawClient, id: &str, bytes: u64, cause: &str) -> (u64, u64) {
    wait_until_stored(client);
    let (pieces, gaps) = pieces(client, id);
    assert_eq!(pieces.len(), 2, "{gaps:?}");
    for (start, piece) in &pieces {
        let end = start + piece.len() as u64;
        assert!(*piece == expected(*start, end), "other bytes at {start}");
    }
    assert_eq!(pieces[1].0 + pieces[1].1.len() as u64, bytes);
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["gaps"], json!(gaps), "{shown}");
    assert_eq!(gaps[0]["cause"], cause);
    let end = |name: &str| gaps[0][name].as_u64().unwrap();
    (end("start"), end("end"))
}

#[test]
fn head_and_tail_are_kept_of_a_flood() {
    // The terminal model is slow without optimization.
    const BYTES: u64 = if cfg!(debug_assertions) { 16 } else { 50 } * MIB;
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[store]\nterminal_quota = \"4MiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let mut client = daemon.client();
    let other = create(&mut client, &lines(MIB));
    client.ok("session.wait", &json!({ "id": other }));
    let id = create(&mut client, &lines(BYTES));
    // A reader that follows while output is dropped learns of the gap and never gets a wrong byte.
    let mut at = 0;
    loop {
        let page = client.ok(
            "session.read",
            &json!({ "id": id, "since": at, "max_bytes": 262_144, "encoding": "base64",
                     "wait_ms": 1000 }),
        );
        let start = page["start"].as_u64().unwrap();
        let bytes = STANDARD.decode(page["data"].as_str().unwrap()).unwrap();
        assert!(
            bytes == expected(start, start + bytes.len() as u64),
            "{start}"
        );
        assert_eq!(
            start > at,
            page["gap"] != Value::Null,
            "{start} {}",
            page["gap"]
        );
        at = page["end"].as_u64().unwrap();
        if page["at_end"] == true && page["state"] != "running" {
            break;
        }
    }
    assert_eq!(at, BYTES);
    wait_until("all is stored", || {
        let records = client.audit_records(&json!({ "action": "terminal.exit" }));
        records.iter().any(|record| record["terminal"] == *id)
    });
    let (start, end) = only_gap(&mut client, &id, BYTES, "terminal_quota");
    assert_eq!(start, MIB, "a quarter is the head");
    let tail = BYTES - end;
    assert!((2 * MIB..=3 * MIB).contains(&tail), "{tail}");
    assert_eq!(
        client.transcript(&other).len() as u64,
        MIB,
        "another's is whole"
    );
    let reached = client.audit_records(&json!({ "action": "limit.reached" }));
    assert_eq!(reached.len(), 1, "{reached:?}");
    assert_eq!(reached[0]["detail"]["limit"], "terminal_quota");
    assert_eq!(reached[0]["detail"]["value"], 4 * MIB);
    let exits = client.audit_records(&json!({ "action": "terminal.exit" }));
    let exit = exits.iter().find(|record| record["terminal"] == *id);
    assert_eq!(exit.unwrap()["detail"]["gaps"][0]["end"], end);
    // The other ways to read skip the gap: plain text, lines from the end, a range inside it.
    let text = client.ok("session.read", &json!({ "id": id, "since": MIB + 5 }));
    assert_eq!(text["start"], end, "{}", text["gap"]);
    let first = format!("{:07}\n", end / 8);
    assert!(text["text"].as_str().unwrap().starts_with(&first));
    let tail = client.ok("session.read", &json!({ "id": id, "tail_lines": 2 }));
    assert_eq!(
        tail["text"],
        format!("{:07}\n{:07}\n", BYTES / 8 - 2, BYTES / 8 - 1)
    );
    let within = json!({ "id": id, "since": 2 * MIB, "until": 3 * MIB, "encoding": "base64" });
    let within = client.ok("session.read", &within);
    assert_members(&within, &json!({ "data": "", "at_end": true }));
    // The next server has none of the output in memory.
    let screen = rows(&mut client, &id);
    daemon.kill_server();
    let mut client = daemon.client();
    assert_eq!(
        only_gap(&mut client, &id, BYTES, "terminal_quota"),
        (start, end)
    );
    assert_eq!(rows(&mut client, &id), screen);
    client.assert_audit_is_whole();
}

#[test]
fn a_profile_may_keep_less() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = \"short\"\n\
         [policy.profiles.short]\nterminal_quota = \"512KiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let mut client = daemon.client();
    let id = create(&mut client, &lines(4 * MIB));
    client.ok("session.wait", &json!({ "id": id }));
    wait_until("all is stored", || {
        !client
            .audit_records(&json!({ "action": "terminal.exit" }))
            .is_empty()
    });
    let (start, end) = only_gap(&mut client, &id, 4 * MIB, "terminal_quota");
    assert_eq!(start, MIB / 8);
    assert!(4 * MIB - end <= 384 << 10);
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["confinement"]["terminal_quota"], 512 << 10, "{shown}");
}

#[test]
fn beyond_the_quota_of_all_the_oldest_go_first_and_then_the_largest_are_cut() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[store]\ntotal_quota = \"2MiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let mut client = daemon.client();
    // Random bytes hardly compress.
    let noise = |bytes: u64| format!("stty raw -echo; head -c {bytes} /dev/urandom");
    let first = create(&mut client, &noise(MIB));
    client.ok("session.wait", &json!({ "id": first }));
    let second = create(&mut client, &noise(MIB / 2));
    client.ok("session.wait", &json!({ "id": second }));
    let running = create(
        &mut client,
        &format!("{}; echo; echo done; cat", noise(MIB)),
    );
    client.wait_for_text(&running, "done");
    let start = |client: &mut RawClient, id: &str| {
        let shown = client.ok("session.show", &json!({ "id": id }));
        shown["start"].as_u64().unwrap()
    };
    wait_until("the oldest goes", || start(&mut client, &first) == MIB);
    // The end of the output was still in memory. It is dropped as well.
    let all = json!({ "id": first, "encoding": "base64" });
    let page = || daemon.client().ok("session.read", &all);
    wait_until("nothing of it is left", || page()["data"] == "");
    let page = page();
    assert_eq!(
        (&page["start"], &page["at_end"]),
        (&json!(MIB), &json!(true)),
        "it is gone, and that is no error"
    );
    let gap = json!({ "start": 0, "end": MIB, "cause": "retention" });
    assert_eq!(page["gap"], gap);
    assert!(rows(&mut client, &first).iter().all(|row| row == "[]"));
    assert_eq!(start(&mut client, &second), 0, "there is room for it");
    wait_until("that is recorded", || {
        let reached = client.audit_records(&json!({ "action": "limit.reached" }));
        let detail = reached.last().map(|record| record["detail"].clone());
        detail.is_some_and(|detail| {
            assert_eq!(detail["limit"], "total_quota");
            assert_eq!(detail["terminals"], json!([first]));
            true
        })
    });
    // The output of running commands now exceeds the total quota.
    let large = create(
        &mut client,
        &format!("{}; echo; echo done; cat", noise(4 * MIB)),
    );
    client.wait_for_text(&large, "done");
    wait_until("the largest is cut, to what all may take", || {
        let shown = client.ok("session.show", &json!({ "id": large }));
        let gap = &shown["gaps"][0];
        let end = |name: &str| gap[name].as_u64().unwrap_or_default();
        gap["cause"] == "total_quota" && end("end") - end("start") >= 2 * MIB
    });
    let shown = client.ok("session.show", &json!({ "id": running }));
    assert!(
        shown["gaps"].is_null() || start(&mut client, &second) > 0,
        "{shown}"
    );
    client.assert_audit_is_whole();
}
