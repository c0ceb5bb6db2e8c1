//! Commands on pipes: `session.create {stdio: "pipes"}` and `session.read {stream}`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, merged, sh, wait_until};

#[track_caller]
fn started(client: &mut RawClient, script: &str) -> String {
    let params = merged(&sh(script), &json!({ "stdio": "pipes" }));
    let info = client.ok("session.create", &params);
    assert_eq!(info["stdio"], "pipes");
    info["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn finished(client: &mut RawClient, script: &str) -> String {
    let id = started(client, script);
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["exited"], true, "{waited}");
    id
}

fn read(client: &mut RawClient, id: &str, more: &Value) -> Value {
    client.ok("session.read", &merged(&json!({ "id": id }), more))
}

/// All bytes of one stream, read by pages.
fn whole(client: &mut RawClient, id: &str, stream: &str) -> Vec<u8> {
    let (mut all, mut since) = (Vec::new(), json!(0));
    loop {
        let exact = json!({
            "since": since, "stream": stream, "encoding": "base64", "max_bytes": 1 << 20,
        });
        let page = read(client, id, &exact);
        all.extend(STANDARD.decode(page["data"].as_str().unwrap()).unwrap());
        assert!(page["end"].as_u64() >= since.as_u64());
        since = page["end"].clone();
        if page["at_end"] == true {
            return all;
        }
    }
}

/// Pseudo-random lines of this length in bytes.
fn pattern(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|at| {
            state = state.wrapping_mul(69_069).wrapping_add(1);
            if at % 64 == 63 {
                b'\n'
            } else {
                b'a' + state.to_le_bytes()[2] % 26
            }
        })
        .collect()
}

#[test]
fn standard_output_and_error_are_apart_and_together() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = format!(
        "cd '{}'; mkfifo 4 8 12 15; echo one; read x <4; echo two >&2; read x <8; \
         printf 'thr\\303'; read x <12; printf err >&2; read x <15; printf '\\251e\\n'; exit 3",
        daemon.path("").display()
    );
    let id = started(&mut client, &script);
    for end in [4, 8, 12, 15] {
        wait_until("each piece comes by itself", || {
            let info = client.ok("session.show", &json!({ "id": id }));
            info["end"] == end
        });
        std::fs::write(daemon.path(end.to_string()), "\n").unwrap();
    }
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["exit_status"]["exit_code"], 3);
    for state in ["exited", "closed"] {
        for (params, text, start, end) in [
            (json!({}), "one\ntwo\nthr\u{fffd}err\u{fffd}e\n", 0, 18),
            (json!({ "stream": "stdout" }), "one\nthr\u{e9}e\n", 0, 18),
            (json!({ "stream": "stderr" }), "two\nerr", 0, 18),
            (
                json!({ "stream": "stdout", "since": 2 }),
                "e\nthr\u{e9}e\n",
                2,
                18,
            ),
            (
                json!({ "stream": "stdout", "since": 8 }),
                "thr\u{e9}e\n",
                8,
                18,
            ),
            (
                json!({ "stream": "stdout", "tail_lines": 1 }),
                "thr\u{e9}e\n",
                8,
                18,
            ),
            (
                json!({ "stream": "stderr", "tail_lines": 1 }),
                "err",
                12,
                18,
            ),
            (
                json!({ "stream": "stderr", "tail_bytes": 5 }),
                "o\nerr",
                6,
                18,
            ),
            (json!({ "stream": "stderr", "until": 8 }), "two\n", 0, 8),
            (
                json!({ "stream": "stdout", "since": 2, "until": 8 }),
                "e\n",
                2,
                8,
            ),
            (
                json!({ "stream": "stderr", "tail_lines": 1, "until": 12 }),
                "two\n",
                0,
                12,
            ),
        ] {
            for encoding in ["text", "raw"] {
                let more = merged(&params, &json!({ "encoding": encoding }));
                let page = read(&mut client, &id, &more);
                assert_eq!(page["text"], text, "{more}");
                assert_eq!(
                    (&page["start"], &page["end"]),
                    (&json!(start), &json!(end)),
                    "{more}"
                );
                assert_members(&page, &json!({ "at_end": true, "state": state }));
            }
        }
        // A page may end inside a character, which then comes whole with the next page.
        let half = json!({ "stream": "stdout", "encoding": "raw", "max_bytes": 8 });
        let page = read(&mut client, &id, &half);
        assert_members(&page, &json!({ "text": "one\nthr", "end": 11 }));
        assert_eq!(whole(&mut client, &id, "stdout"), b"one\nthr\xc3\xa9e\n");
        // The second round reads from the database alone.
        client.ok("session.close", &json!({ "id": id }));
    }
}

#[test]
fn a_command_on_pipes_has_no_terminal_and_no_input() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(
        &mut client,
        "cat; test -t 0 -o -t 1 -o -t 2 && echo tty; ls /proc/self/fd; sleep 100",
    );
    client.wait_for_text(&id, "3\n");
    let text = read(&mut client, &id, &json!({}))["text"].clone();
    assert_eq!(text, "0\n1\n2\n3\n", "ls has one of its own");
    let error = client.err("session.send", &json!({ "id": id, "text": "x\n" }));
    assert_eq!(
        (error.code, &error.data["kind"]),
        (-32004, &json!("no_input"))
    );
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 100, "rows": 10 }),
    );
    let info = client.ok("session.show", &json!({ "id": id }));
    assert_members(&info, &json!({ "cols": 100, "rows": 10 }));
    client.ok("session.kill", &json!({ "id": id }));
    let pty = client.ok("session.create", &sh("sleep 100"));
    for stream in ["stdout", "stderr"] {
        let error = client.err(
            "session.read",
            &json!({ "id": pty["id"], "stream": stream }),
        );
        error.assert_invalid("stream");
    }
}

/// Lines that end in LF alone begin at the left, also after RIS.
#[test]
fn the_screen_of_a_command_on_pipes_has_its_lines_at_the_left() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = finished(&mut client, "printf 'x\\n\\033cone\\ntwo\\n'; echo three");
    let screen = client.ok("session.screen", &json!({ "id": id, "format": "text" }));
    let text = screen["rendering"]
        .as_str()
        .unwrap_or_else(|| panic!("{screen}"));
    let lines: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(lines, ["one", "two", "three"]);
    let page = read(&mut client, &id, &json!({ "since": 4 }));
    assert!(
        page["text"]
            .as_str()
            .unwrap()
            .ends_with("one\ntwo\nthree\n"),
        "{page}"
    );
}

/// The exit does not wait for a process that keeps the pipes open, and all output of the command is
/// there.
#[test]
fn a_grandchild_that_holds_the_pipes_does_not_hold_the_exit() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let begin = std::time::Instant::now();
    let id = finished(&mut client, "sleep 1000 & echo done; echo bad >&2; exit 4");
    assert!(begin.elapsed() < std::time::Duration::from_secs(5));
    let page = read(&mut client, &id, &json!({ "stream": "stdout" }));
    assert_members(&page, &json!({ "text": "done\n", "state": "exited" }));
    assert_eq!(page["exit_status"]["exit_code"], 4);
    client.ok("session.close", &json!({ "id": id }));
}

#[test]
fn a_flood_of_both_is_whole() {
    // The terminal model of a debug build needs minutes for more.
    const EACH: usize = if cfg!(debug_assertions) {
        4 << 20
    } else {
        64 << 20
    };
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let (out, err) = (pattern(1, 1 << 20), pattern(2, 1 << 20));
    std::fs::write(daemon.path("out"), &out).unwrap();
    std::fs::write(daemon.path("err"), &err).unwrap();
    let script = format!(
        "for i in $(seq {times}); do cat '{}'; done & for i in $(seq {times}); do cat '{}' >&2; done; wait",
        daemon.path("out").display(),
        daemon.path("err").display(),
        times = EACH >> 20
    );
    let id = started(&mut client, &script);
    let mut waited = Value::Null;
    // A debug build may need several waits.
    for _ in 0..20 {
        let a_while = json!({ "id": id, "timeout_ms": 10_000 });
        waited = client.ok("session.wait", &a_while);
        if waited["exited"] == true {
            break;
        }
    }
    assert_members(&waited, &json!({ "exited": true, "end": 2 * EACH }));
    for (stream, piece) in [("stdout", out), ("stderr", err)] {
        let all = whole(&mut client, &id, stream);
        assert_eq!(all.len(), EACH, "{stream}");
        let same = all.chunks(piece.len()).all(|chunk| chunk == piece);
        assert!(same, "{stream} is another than was written");
    }
}

/// A follower of stderr finds one line behind much output.
#[test]
fn a_follower_of_one_stream_waits_for_it_alone() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(&mut client, "seq 500000; echo found >&2; sleep 100");
    for encoding in ["text", "raw"] {
        let (mut since, mut found) = (json!(0), String::new());
        while found.is_empty() {
            let page = read(
                &mut client,
                &id,
                &json!({
                    "stream": "stderr", "since": since, "wait_ms": 30_000, "encoding": encoding,
                }),
            );
            found = page["text"].as_str().unwrap().to_owned();
            since = page["end"].clone();
        }
        assert_eq!(found, "found\n");
    }
    client.ok("session.kill", &json!({ "id": id }));
}
