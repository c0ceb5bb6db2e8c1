//! A disk with no space at all: nothing begins, whatever runs can be ended, and everything can be read.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{Home, RawClient, SmallDisk, TestDaemon, wait_until};

/// What is to be done at once on a full disk takes no longer than this, on two busy cores.
const AT_ONCE: Duration = Duration::from_secs(3);
/// So often in a row the output of a program has the same end that waits for space.
const SAME_LOOKS: u32 = 20;

/// A daemon whose state directory is a disk of this size, such as `4m`. `None` where the test is
/// skipped.
fn daemon_on(size: &str, test: &str, config: &str) -> Option<(TestDaemon, SmallDisk)> {
    let home = Home::create();
    home.configure(&format!("kill_grace_ms = 300\n{config}"));
    let disk = SmallDisk::mount(&home, size, test)?;
    Some((TestDaemon::start_in(home), disk))
}

/// The disk goes after the daemon and before its home.
fn stop(daemon: TestDaemon, disk: SmallDisk) {
    let home = daemon.stop();
    drop(disk);
    drop(home);
}

/// The state directory's disk, with no space for anything.
fn fill(disk: &SmallDisk, client: &mut RawClient) {
    disk.fill();
    wait_until("nothing is run or recorded", || {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.is_err_and(|error| error.kind() == "audit_unavailable")
    });
    // The reserve is given up, and somebody else takes it.
    disk.fill();
}

#[track_caller]
fn at_once(client: &mut RawClient, method: &str, params: &Value) -> Value {
    let begun = Instant::now();
    let answer = client.ok(method, params);
    let took = begun.elapsed();
    assert!(took < AT_ONCE, "{method} {params} took {took:?}");
    answer
}

fn terminal(client: &mut RawClient, script: &str) -> String {
    let params = json!({ "command": "sh", "args": ["-c", format!("echo ready; {script}")] });
    let id = client.create_terminal(&params);
    client.wait_for_text(&id, "ready");
    id
}

/// Records of what was done while nothing could be recorded, oldest first: action and terminal.
fn late_records(client: &mut RawClient) -> Vec<(String, String)> {
    let records = client.audit_records(&json!({}));
    let late = records.iter().rev().filter(|record| {
        let done_at = record["detail"]["done_at_ms"].as_i64();
        done_at.is_some_and(|done_at| done_at <= record["at_ms"].as_i64().unwrap())
    });
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    late.map(|record| (text(&record["action"]), text(&record["terminal"])))
        .collect()
}

fn recovered(client: &mut RawClient) -> Option<Value> {
    let records = client.audit_records(&json!({ "action": "audit.recovered" }));
    records.first().map(|record| record["detail"].clone())
}

/// Reads of all kinds, of one terminal and of all.
#[track_caller]
fn read_everything(client: &mut RawClient, id: &str) {
    for (method, params) in [
        ("session.list", json!({ "scope": "all" })),
        ("command.list", json!({})),
        ("session.show", json!({ "id": id })),
        ("session.read", json!({ "id": id })),
        ("session.screen", json!({ "id": id })),
        ("audit.list", json!({})),
        ("daemon.stats", json!({})),
    ] {
        at_once(client, method, &params);
    }
}

/// These actions, each with its terminal, have been recorded after they were done.
#[track_caller]
fn assert_recorded_late(client: &mut RawClient, done: &[(&str, &String)]) {
    let recovered = recovered(client).unwrap();
    let late = late_records(client);
    for (action, id) in done {
        let done = ((*action).to_owned(), (*id).clone());
        assert!(late.contains(&done), "{done:?} of {late:?}");
    }
    assert_eq!(recovered["deferred"], late.len(), "{recovered} {late:?}");
    assert_eq!(recovered["deferred_recorded"], late.len(), "{recovered}");
    assert!(recovered["refused"].as_u64() >= Some(41), "{recovered}");
}

/// Nothing is typed or run, at the second attempt neither.
#[track_caller]
fn assert_nothing_begins(client: &mut RawClient, id: &str) {
    for text in ["typed anyway\n", "typed anyway\n", "\u{3}typed anyway\n"] {
        let error = client.err("session.send", &json!({ "id": id, "text": text }));
        error.assert_is(-32005, "audit_unavailable");
    }
    let error = client.err("session.create", &json!({ "command": "true" }));
    error.assert_is(-32005, "audit_unavailable");
}

#[test]
fn on_a_full_disk_whatever_runs_can_be_ended_and_read() {
    let Some((daemon, disk)) = daemon_on(
        "4m",
        "on_a_full_disk_whatever_runs_can_be_ended_and_read",
        "",
    ) else {
        return;
    };
    let mut client = daemon.client();
    let killed = terminal(&mut client, "sleep 1000");
    let signalled = terminal(
        &mut client,
        "trap 'echo GOT; exit 3' INT; while :; do sleep 0.1; done",
    );
    let closed = terminal(&mut client, "sleep 1000");
    let interrupted = terminal(&mut client, "cat");
    let ended = terminal(&mut client, "cat");
    let reader = terminal(&mut client, "cat");
    let exits = terminal(&mut client, "while [ ! -e gone ]; do sleep 0.05; done");
    let mut viewer = daemon.client();
    viewer.ok("session.attach", &json!({ "id": ended }));
    let mut bound = daemon.client();
    let params = json!({ "command": "sleep", "args": ["1000"], "close_on_disconnect": true });
    let tied = bound.create_terminal(&params);
    fill(&disk, &mut client);
    // More refusals than have a record of their own.
    for _ in 0..40 {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.expect_err("it ran");
    }

    let mut other = daemon.client();
    let waited = at_once(&mut other, "session.kill", &json!({ "id": killed }));
    assert_eq!(waited["exited"], true, "{waited}");
    at_once(
        &mut other,
        "session.kill",
        &json!({ "id": signalled, "signal": "INT" }),
    );
    other.wait_for_text(&signalled, "GOT");
    at_once(&mut other, "session.close", &json!({ "id": closed }));
    at_once(
        &mut other,
        "session.send",
        &json!({ "id": interrupted, "text": "\u{3}" }),
    );
    at_once(
        &mut other,
        "session.type",
        &json!({ "id": ended, "input": { "keys": ["C-d"] } }),
    );
    at_once(&mut viewer, "session.detach", &json!({ "id": ended }));
    drop(bound);
    std::fs::write(daemon.path("home/gone"), "").unwrap();
    for id in [&signalled, &interrupted, &ended, &exits, &tied] {
        let waited = at_once(
            &mut client,
            "session.wait",
            &json!({ "id": id, "timeout_ms": 2500 }),
        );
        assert_eq!(waited["exited"], true, "{id} {waited}");
    }
    assert_nothing_begins(&mut other, &reader);
    read_everything(&mut client, &closed);
    let listed = at_once(&mut client, "session.list", &json!({ "scope": "all" }));
    let listed = listed["terminals"].as_array().unwrap();
    let state = |id: &str| listed.iter().find(|info| info["id"] == id).unwrap()["state"].clone();
    assert_eq!(
        (state(&killed), state(&closed)),
        (json!("exited"), json!("closed"))
    );
    let info = at_once(&mut client, "daemon.info", &Value::Null);
    assert_eq!(info["disk"]["kind"], "full", "{info}");

    disk.empty();
    wait_until("what was done is recorded", || {
        recovered(&mut client).is_some()
    });
    assert_recorded_late(
        &mut client,
        &[
            ("terminal.kill", &killed),
            ("terminal.signal", &signalled),
            ("terminal.close", &closed),
            ("terminal.interrupt", &interrupted),
            ("terminal.interrupt", &ended),
            ("terminal.detach", &ended),
            ("terminal.close", &tied),
        ],
    );
    let keys = client.audit_records(&json!({ "action": "terminal.interrupt" }));
    assert_eq!(keys[1]["detail"]["keys"], json!(["C-c"]), "{keys:?}");
    wait_until("the disk has room", || {
        client.ok("daemon.info", &Value::Null).get("disk").is_none()
    });
    client.ok("session.create", &json!({ "command": "true" }));
    client.send_text(&reader, "typed now\n");
    let text = client.wait_for_text(&reader, "typed now");
    assert!(!text.contains("anyway"), "{text}");
    client.assert_audit_is_whole();
    drop((client, other, viewer));
    stop(daemon, disk);
}

/// The server that knows what was done is killed, and the next one begins on the full disk.
#[test]
fn on_a_full_disk_the_next_server_knows_how_much_was_done() {
    let Some((daemon, disk)) = daemon_on(
        "4m",
        "on_a_full_disk_the_next_server_knows_how_much_was_done",
        "",
    ) else {
        return;
    };
    let mut client = daemon.client();
    let sleeping: Vec<String> = (0..3)
        .map(|_| terminal(&mut client, "sleep 1000"))
        .collect();
    fill(&disk, &mut client);
    for _ in 0..40 {
        client
            .request("session.create", &json!({ "command": "true" }))
            .expect_err("it ran");
    }
    at_once(&mut client, "session.kill", &json!({ "id": sleeping[0] }));
    at_once(&mut client, "session.kill", &json!({ "id": sleeping[1] }));
    let created = client.ok("session.show", &json!({ "id": sleeping[0] }))["created_at_ms"].clone();
    drop(client);
    daemon.kill_server();
    let mut client = daemon.client();
    let waited = at_once(&mut client, "session.kill", &json!({ "id": sleeping[2] }));
    assert_eq!(waited["exited"], true, "{waited}");
    let error = client.err("session.create", &json!({ "command": "true" }));
    error.assert_is(-32005, "audit_unavailable");
    disk.empty();
    wait_until("what was done is recorded", || {
        recovered(&mut client).is_some()
    });
    let recovered = recovered(&mut client).unwrap();
    let late = late_records(&mut client);
    let killed = ("terminal.kill".to_owned(), sleeping[2].clone());
    assert!(late.contains(&killed), "{late:?}");
    assert_eq!(recovered["deferred_recorded"], late.len(), "{recovered}");
    assert!(
        recovered["deferred"].as_u64() >= Some(late.len() as u64 + 2),
        "{recovered}"
    );
    assert!(
        recovered["first_deferred_ms"].as_i64() >= created.as_i64(),
        "{recovered}"
    );
    client.assert_audit_is_whole();
    drop(client);
    stop(daemon, disk);
}

/// A file system that is too small to have a floor, filled by the output of a terminal.
#[test]
fn a_disk_that_output_fills_refuses_at_once_and_says_so() {
    let Some((daemon, disk)) = daemon_on(
        "6m",
        "a_disk_that_output_fills_refuses_at_once_and_says_so",
        "",
    ) else {
        return;
    };
    let mut client = daemon.client();
    let flood = terminal(&mut client, "exec cat /dev/urandom");
    wait_until("the disk is full", || {
        client.ok("daemon.info", &Value::Null).get("disk").is_some()
    });
    let (mut end, mut looks) = (Value::Null, 0);
    wait_until("the program waits", || {
        let next = client.ok("session.show", &json!({ "id": flood }))["end"].take();
        looks = if next == end { looks + 1 } else { 0 };
        end = next;
        looks == SAME_LOOKS
    });
    let begun = Instant::now();
    let error = client.err("session.create", &json!({ "command": "true" }));
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert!(
        matches!(error.kind(), "disk_full" | "audit_unavailable"),
        "{error:?}"
    );
    assert!(error.message.contains("the disk is full"), "{error:?}");
    at_once(&mut client, "session.list", &json!({ "scope": "all" }));
    at_once(&mut client, "command.list", &json!({}));
    let waited = at_once(&mut client, "session.kill", &json!({ "id": flood }));
    assert_eq!(waited["exited"], true, "{waited}");
    at_once(&mut client, "session.close", &json!({ "id": flood }));
    client.assert_audit_is_whole();
    drop(client);
    stop(daemon, disk);
}

/// What the gate would ask about is asked about, and what reaches a limit is ended.
#[test]
fn on_a_full_disk_the_gate_and_the_limits_hold() {
    let config = "[policy.fronts.mcp]\nprofile = 'held'\n\
                  [policy.profiles.held]\noutput_bytes = '64KiB'\n";
    let Some((daemon, disk)) =
        daemon_on("4m", "on_a_full_disk_the_gate_and_the_limits_hold", config)
    else {
        return;
    };
    let mut person = daemon.client();
    let persons = terminal(&mut person, "cat");
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "mcp" }),
    );
    let script = "while [ ! -e go ]; do sleep 0.05; done; head -c 200000 /dev/zero; sleep 1000";
    let held = terminal(&mut agent, script);
    fill(&disk, &mut person);
    for (method, params) in [
        ("session.kill", json!({ "id": persons })),
        ("session.kill", json!({ "id": persons, "signal": "INT" })),
        ("session.close", json!({ "id": persons })),
        ("session.send", json!({ "id": persons, "text": "\u{3}" })),
    ] {
        let error = agent.err(method, &params);
        error.assert_is_in(method, -32011, "confirmation_required");
    }
    std::fs::write(daemon.path("home/go"), "").unwrap();
    let waited = at_once(
        &mut person,
        "session.wait",
        &json!({ "id": held, "timeout_ms": 2500 }),
    );
    assert_eq!(waited["end_cause"], "output_bytes", "{waited}");
    let state = at_once(&mut person, "session.show", &json!({ "id": persons }))["state"].clone();
    assert_eq!(state, "running");
    disk.empty();
    wait_until("the limit is recorded", || {
        let reached = person.audit_records(&json!({ "action": "limit.reached" }));
        reached.iter().any(|record| record["terminal"] == held)
    });
    person.assert_audit_is_whole();
    drop((agent, person));
    stop(daemon, disk);
}
