//! The server dies while output is dropped for a quota: head and tail are exact, and the gap is
//! reported.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, merged, sh, wait_until};

use crate::flood_faults::output_end;
use crate::{Fault, rounds};

/// The output of the writer, in bytes: lines of eight.
const BYTES: u64 = 12 << 20;
/// The number of faults during the flood.
const STRIKES: u64 = 3;
/// The quota, in bytes.
const QUOTA: u64 = 1 << 20;

/// One page from an offset: its start, its bytes and its gap.
fn page(client: &mut RawClient, id: &str, since: u64) -> (u64, Vec<u8>, Value) {
    let page = client.ok(
        "session.read",
        &json!({ "id": id, "since": since, "max_bytes": 1 << 20, "encoding": "base64" }),
    );
    let bytes = STANDARD.decode(page["data"].as_str().unwrap()).unwrap();
    (page["start"].as_u64().unwrap(), bytes, page["gap"].clone())
}

/// Checks that these are the bytes of numbered lines at this offset.
fn assert_exact(start: u64, bytes: &[u8]) {
    let first = usize::try_from((8 - start % 8) % 8).unwrap();
    let lines = bytes.get(first..).unwrap_or_default().chunks_exact(8);
    for (line, number) in lines.zip(start.div_ceil(8)..) {
        let expected = format!("{number:07}\n");
        assert!(line == expected.as_bytes(), "{expected:?} is {line:?}");
    }
}

fn flood(fault: Fault) {
    for round in 0..rounds().min(2) {
        let daemon = TestDaemon::configured(&format!(
            "kill_grace_ms = 300\n[store]\nterminal_quota = {QUOTA}\n\
             [spool]\ndefault_window_bytes = 65536\n"
        ));
        let mut client = daemon.client();
        let script = format!("stty raw -echo; seq -w 0 9999999 | head -c {BYTES}");
        let params = merged(&sh(&script), &json!({ "output_byte_limit": 65_536 }));
        let id = client.create_terminal(&params);
        for strike in 1..=STRIKES {
            wait_until("the flood goes on", || {
                output_end(&daemon, &id).0 > strike * BYTES / (STRIKES + 2)
            });
            fault.strike(&daemon);
            // Reading goes on behind the gap, whichever server answers.
            let mut client = daemon.client();
            let (start, bytes, gap) = page(&mut client, &id, QUOTA / 2);
            assert_exact(start, &bytes);
            if start > QUOTA / 2 {
                assert_eq!(gap["end"], start, "{gap}");
            } else {
                // The database may lag behind.
                assert_eq!(gap, Value::Null);
            }
        }
        let mut client = daemon.client();
        let waited = client.ok("session.wait", &json!({ "id": id }));
        assert_eq!(waited["exit_status"]["exit_code"], 0, "round {round}");
        assert_eq!(waited["end"], BYTES);
        wait_until("all is stored", || {
            let records = client.ok(
                "audit.list",
                &json!({ "filter": { "action": "terminal.exit" } }),
            );
            records["records"] != json!([])
        });
        // The list comes from the database, behind everything else that is queued for it.
        client.ok("session.list", &json!({ "scope": "all" }));
        // The next server has none of the output in memory.
        fault.strike(&daemon);
        let mut client = daemon.client();
        let (start, head, gap) = page(&mut client, &id, 0);
        assert_eq!((start, head.len() as u64, gap), (0, QUOTA / 4, Value::Null));
        assert_exact(0, &head);
        let (start, tail, gap) = page(&mut client, &id, QUOTA / 4);
        assert_exact(start, &tail);
        assert_eq!(start + tail.len() as u64, BYTES);
        assert!(head.len() as u64 + tail.len() as u64 <= QUOTA);
        assert!(tail.len() as u64 > QUOTA / 2, "{gap}");
        let shown = client.ok("session.show", &json!({ "id": id }));
        let expected_gaps =
            json!([{ "start": QUOTA / 4, "end": start, "cause": "terminal_quota" }]);
        assert_eq!(shown["gaps"], expected_gaps);
        // The screen is made of the kept output: the last rows.
        let screen = client.ok("session.screen", &json!({ "id": id, "format": "text" }));
        // The right margin may cut one of the rows in two.
        let last = (1..=3).filter(|n| {
            screen
                .to_string()
                .contains(&format!("{:07}", BYTES / 8 - n))
        });
        assert!(last.count() >= 2, "{screen}");
        let reached = client.ok(
            "audit.list",
            &json!({ "filter": { "action": "limit.reached" } }),
        );
        let records = reached["records"].as_array().unwrap().len() as u64;
        // The limit is reported before the gap is in the database, so a server that takes over in
        // between reports it again.
        let most = match fault {
            Fault::Kill => 1 + STRIKES,
            Fault::Replace => 1,
        };
        assert!((1..=most).contains(&records), "{reached}");
        client.assert_audit_is_whole();
    }
}

#[test]
fn a_quota_rolls_on_over_a_killed_server() {
    flood(Fault::Kill);
}

#[test]
fn a_quota_rolls_on_over_a_replaced_server() {
    flood(Fault::Replace);
}
