//! `session.read`: bytes and text by offset.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, sh};

/// Runs a script on a raw tty without echo to its end: its id.
#[track_caller]
fn finished(client: &mut RawClient, script: &str) -> String {
    let params = sh(&format!("stty raw -echo; {script}"));
    let id = client.create_terminal(&params);
    client.ok("session.wait", &json!({ "id": id }));
    id
}

/// Starts a script on a raw tty without echo: its id.
#[track_caller]
fn started(client: &mut RawClient, script: &str) -> String {
    client.create_terminal(&sh(&format!("stty raw -echo; {script}")))
}

fn read(client: &mut RawClient, id: &str, more: &Value) -> Value {
    client.ok(
        "session.read",
        &termd_test_support::merged(&json!({ "id": id }), more),
    )
}

#[test]
fn reads_start_where_they_are_told() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = finished(&mut client, "printf 'one\\ntwo\\nthree\\nfour'");
    for (params, start, text) in [
        (json!({}), 0, "one\ntwo\nthree\nfour"),
        (json!({ "since": 0 }), 0, "one\ntwo\nthree\nfour"),
        (json!({ "since": 5 }), 5, "wo\nthree\nfour"),
        (json!({ "since": 18 }), 18, ""),
        (json!({ "tail_bytes": 6 }), 12, "e\nfour"),
        (json!({ "tail_bytes": 0 }), 18, ""),
        (json!({ "tail_bytes": 1000 }), 0, "one\ntwo\nthree\nfour"),
        (json!({ "tail_lines": 0 }), 18, ""),
        (json!({ "tail_lines": 1 }), 14, "four"),
        (json!({ "tail_lines": 2 }), 8, "three\nfour"),
        (json!({ "tail_lines": 4 }), 0, "one\ntwo\nthree\nfour"),
        (json!({ "tail_lines": 99 }), 0, "one\ntwo\nthree\nfour"),
        // A line that does not fit comes whole with the next page.
        (json!({ "max_bytes": 5 }), 0, "one\n"),
        (json!({ "max_bytes": 5, "encoding": "raw" }), 0, "one\nt"),
        (json!({ "max_lines": 2 }), 0, "one\ntwo\n"),
        (json!({ "since": 4, "max_lines": 1 }), 4, "two\n"),
        (json!({ "since": 14, "max_lines": 1 }), 14, "four"),
    ] {
        let page = read(&mut client, &id, &params);
        assert_eq!(page["text"], text, "{params}");
        assert_eq!(page["start"], start, "{params}");
        assert_eq!(page["end"], start + text.len(), "{params}");
        assert_eq!(page["at_end"], start + text.len() == 18, "{params}");
        assert_eq!(page["state"], "exited", "{params}");
        assert_eq!(
            page["exit_status"],
            json!({ "exit_code": 0, "signal": null })
        );
    }
    let id = finished(&mut client, "printf 'a\\nb\\n'");
    assert_eq!(
        read(&mut client, &id, &json!({ "tail_lines": 1 }))["text"],
        "b\n"
    );
}

#[test]
fn bad_reads_are_refused() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = finished(&mut client, "printf x");
    for (params, field) in [
        (json!({ "since": -1 }), "since"),
        (json!({ "since": "0" }), "since"),
        (json!({ "encoding": "hex" }), "encoding"),
        (json!({ "max_bytes": (1 << 20) + 1 }), "max_bytes"),
        (json!({ "wait_ms": 86_400_001_u64 }), "wait_ms"),
    ] {
        let params = termd_test_support::merged(&json!({ "id": id }), &params);
        let error = client.err("session.read", &params);
        error.assert_invalid(field);
    }
    let two_starts = json!({ "id": id, "since": 0, "tail_lines": 1 });
    assert_eq!(client.err("session.read", &two_starts).code, -32602);
}

#[test]
fn text_pages_join_to_the_whole_and_cut_no_character() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = finished(&mut client, "printf 'aé✓\u{1f600}b\\377c✓'");
    for max_bytes in 4..12 {
        let (mut joined, mut since) = (String::new(), json!(0));
        for _ in 0..20 {
            let params = json!({ "since": since, "max_bytes": max_bytes });
            let page = read(&mut client, &id, &params);
            joined += page["text"].as_str().unwrap();
            since = page["end"].clone();
            if page["at_end"] == true {
                break;
            }
        }
        assert_eq!(joined, "aé✓\u{1f600}b\u{fffd}c✓", "pages of {max_bytes}");
    }
}

#[test]
fn base64_is_exact() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let all: Vec<u8> = (0..=255).collect();
    std::fs::write(daemon.path("bytes"), &all).unwrap();
    let id = finished(
        &mut client,
        &format!("cat '{}'", daemon.path("bytes").display()),
    );
    let page = read(&mut client, &id, &json!({ "encoding": "base64" }));
    assert_eq!(
        STANDARD.decode(page["data"].as_str().unwrap()).unwrap(),
        all
    );
    assert!(page.get("text").is_none());
}

/// Random bytes are read in big pages, from the spool and from the database.
#[test]
fn a_transcript_larger_than_every_window_is_whole() {
    let daemon =
        TestDaemon::configured("kill_grace_ms = 300\n[spool]\ndefault_window_bytes = 65536\n");
    let mut client = daemon.client();
    let copy = daemon.path("copy");
    let script = format!("head -c 5000000 /dev/urandom | tee '{}'", copy.display());
    let id = finished(&mut client, &script);
    let transcript = client.transcript(&id);
    assert!(
        transcript == std::fs::read(copy).unwrap(),
        "{} bytes",
        transcript.len()
    );
    // A page that is read while its blocks move from the spool to the database may be shorter.
    client.wait_until_stored();
    let exact = json!({ "max_bytes": 1 << 20, "encoding": "base64" });
    let page = read(&mut client, &id, &exact);
    assert_eq!(page["end"], 1 << 20, "one read is as long as that");
}

#[test]
fn a_read_waits_for_a_first_byte_and_no_longer_than_asked() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(&mut client, "printf x; cat");
    client.wait_for_text(&id, "x");
    let begin = Instant::now();
    let page = read(&mut client, &id, &json!({ "since": 1, "wait_ms": 200 }));
    assert!(begin.elapsed() >= Duration::from_millis(200));
    assert_members(&page, &json!({ "text": "", "at_end": true }));
    assert_members(&page, &json!({ "start": 1, "end": 1 }));

    let waiting = client.send(
        "session.read",
        &json!({ "id": id, "since": 1, "wait_ms": 15_000 }),
    );
    daemon.client().send_text(&id, "y");
    let begin = Instant::now();
    let page = &client.answer(waiting)["result"];
    assert_eq!(page["text"], "y");
    assert!(begin.elapsed() < Duration::from_secs(5));

    // The end of the command ends the wait as well.
    let waiting = client.send(
        "session.read",
        &json!({ "id": id, "since": 2, "wait_ms": 15_000 }),
    );
    daemon.client().ok("session.kill", &json!({ "id": id }));
    let page = &client.answer(waiting)["result"];
    assert_members(page, &json!({ "text": "", "state": "exited" }));
    assert_eq!(page["exit_status"]["signal"], "SIGTERM");
}
