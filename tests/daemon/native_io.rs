//! `session.read` and `session.send`: bytes by offset, in and out.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::{RawClient, TestDaemon, sh, wait_until};

/// Runs a script without output processing to its end; the id.
#[track_caller]
fn finished(client: &mut RawClient, script: &str) -> String {
    let params = sh(&format!("stty raw -echo; {script}"));
    let info = client.ok("session.create", &params);
    let id = info["id"].as_str().unwrap().to_owned();
    client.ok("session.wait", &json!({ "id": id }));
    id
}

/// Starts a script without output processing; the id.
#[track_caller]
fn started(client: &mut RawClient, script: &str) -> String {
    let info = client.ok("session.create", &sh(&format!("stty raw -echo; {script}")));
    info["id"].as_str().unwrap().to_owned()
}

fn read(client: &mut RawClient, id: &str, more: &Value) -> Value {
    client.ok(
        "session.read",
        &crate::support::merged(&json!({ "id": id }), more),
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
        // The line that is not ended there comes whole with the next page.
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
        let params = crate::support::merged(&json!({ "id": id }), &params);
        let error = client.err("session.read", &params);
        assert_eq!(
            (error.code, &error.data["field"]),
            (-32602, &json!(field)),
            "{error:?}"
        );
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

/// Random bytes in big pages, from the spool and from the database alike.
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
    wait_until("all of it is stored", || {
        client.ok("daemon.stats", &Value::Null)["unstored_bytes"] == 0
    });
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
    assert_eq!((&page["text"], &page["at_end"]), (&json!(""), &json!(true)));
    assert_eq!((&page["start"], &page["end"]), (&json!(1), &json!(1)));

    let waiting = client.send(
        "session.read",
        &json!({ "id": id, "since": 1, "wait_ms": 15_000 }),
    );
    daemon
        .client()
        .ok("session.send", &json!({ "id": id, "text": "y" }));
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
    assert_eq!(
        (&page["text"], &page["state"]),
        (&json!(""), &json!("exited"))
    );
    assert_eq!(page["exit_status"]["signal"], "SIGTERM");
}

#[test]
fn what_is_sent_reaches_the_program_exactly() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let copy = daemon.path("typed");
    let script = format!("printf r; head -c 265 > '{}'", copy.display());
    let id = started(&mut client, &script);
    client.wait_for_text(&id, "r");
    let all: Vec<u8> = (0..=255).collect();
    let result = client.ok(
        "session.send",
        &json!({ "id": id, "data": STANDARD.encode(&all) }),
    );
    assert_eq!(result, json!({ "sent": 256, "queued": 0, "offset": 1 }));
    let result = client.ok("session.send", &json!({ "id": id, "text": "é✓\u{1f600}" }));
    assert_eq!(result["sent"], 9);
    client.ok("session.wait", &json!({ "id": id }));
    let typed = std::fs::read(copy).unwrap();
    assert_eq!(typed[..256], all);
    assert_eq!(typed[256..], *"é✓\u{1f600}".as_bytes());
}

#[test]
fn bad_sends_are_refused() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(&mut client, "cat");
    for (params, field) in [
        (json!({ "text": "a", "data": "YQ==" }), ""),
        (json!({}), ""),
        (json!({ "data": "%%%" }), "data"),
        (json!({ "text": 5 }), "text"),
        (json!({ "text": "x".repeat((1 << 20) + 1) }), "text"),
    ] {
        let params = crate::support::merged(&json!({ "id": id }), &params);
        let error = client.err("session.send", &params);
        assert_eq!(error.code, -32602, "{error:?}");
        assert!(
            field.is_empty() || error.data["field"] == field,
            "{error:?}"
        );
    }
    client.ok("session.kill", &json!({ "id": id }));
    let error = client.err("session.send", &json!({ "id": id, "text": "x" }));
    assert_eq!(
        (error.code, error.kind()),
        (-32004, "terminal_exited"),
        "{error:?}"
    );
}

/// A program that does not read gets its input later, and the sender is told.
#[test]
fn input_for_a_program_that_does_not_read_is_queued_and_not_lost() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let (gate, copy) = (daemon.path("gate"), daemon.path("typed"));
    let script = format!(
        "mkfifo '{0}'; printf r; read go < '{0}'; head -c 300000 > '{1}'",
        gate.display(),
        copy.display()
    );
    let id = started(&mut client, &script);
    client.wait_for_text(&id, "r");
    let text: String = (0..30_000).map(|n| format!("{n:09};")).collect();
    let params = json!({ "id": id, "text": text, "timeout_ms": 100 });
    let result = client.ok("session.send", &params);
    let (sent, queued) = (
        result["sent"].as_u64().unwrap(),
        result["queued"].as_u64().unwrap(),
    );
    assert_eq!(sent + queued, 300_000);
    assert!(queued > 0, "the kernel does not hold 300 kB");
    // Others are served meanwhile.
    assert_eq!(
        daemon.client().ok("session.show", &json!({ "id": id }))["state"],
        "running"
    );
    std::fs::write(gate, "go\n").unwrap();
    client.ok("session.wait", &json!({ "id": id }));
    assert!(
        std::fs::read(copy).unwrap() == text.as_bytes(),
        "the input arrived changed"
    );
}

/// Two senders at once: each call's bytes stay together.
#[test]
fn inputs_of_two_senders_do_not_mix() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let copy = daemon.path("typed");
    let id = started(
        &mut client,
        &format!("printf r; head -c 40000 > '{}'", copy.display()),
    );
    client.wait_for_text(&id, "r");
    let mut senders = [daemon.client(), daemon.client()];
    let mut waiting = Vec::new();
    for _ in 0..20 {
        for (which, sender) in senders.iter_mut().enumerate() {
            let text = ["a", "b"][which].repeat(1000);
            waiting.push((
                which,
                sender.send("session.send", &json!({ "id": id, "text": text })),
            ));
        }
    }
    for (which, request) in waiting {
        assert_eq!(senders[which].answer(request)["result"]["sent"], 1000);
    }
    client.ok("session.wait", &json!({ "id": id }));
    let typed = std::fs::read(copy).unwrap();
    assert_eq!(typed.len(), 40_000);
    assert!(
        typed
            .chunks(1000)
            .all(|chunk| chunk.iter().all(|byte| *byte == chunk[0]))
    );
}
