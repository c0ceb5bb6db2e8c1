//! `idle_timeout_ms`: an unused terminal is closed and stays readable, and an attached client keeps
//! it open.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, merged, sh};

/// The shortest timeout.
const SECOND: Duration = Duration::from_secs(1);

/// Creates a terminal with a timeout of a second: its id.
#[track_caller]
fn create(client: &mut RawClient, params: &Value) -> String {
    let params = merged(params, &json!({ "idle_timeout_ms": 1_000 }));
    let info = client.ok("session.create", &params);
    assert_eq!(info["idle_timeout_ms"], 1_000);
    info["id"].as_str().unwrap().to_owned()
}

fn sleeping() -> Value {
    json!({ "command": "sleep", "args": ["1000"] })
}

/// A connection that gets the events of all terminals, and so is attached to none.
fn watcher(daemon: &TestDaemon) -> RawClient {
    let mut client = daemon.client();
    client.ok("session.subscribe", &json!({}));
    client
}

/// Waits until this terminal is closed.
#[track_caller]
fn wait_until_closed(watcher: &mut RawClient, id: &str) {
    while watcher.wait_for_event("closed")["id"] != id {}
}

fn show(client: &mut RawClient, id: &str) -> Value {
    client.ok("session.show", &json!({ "id": id }))
}

#[test]
fn an_unused_terminal_is_closed_and_names_the_cause() {
    let daemon = TestDaemon::start();
    let (mut watcher, mut client) = (watcher(&daemon), daemon.client());
    // Without its standard error dash does not tell of the `sleep` that the hang-up ends: words that
    // may be read after the exit.
    let script = "exec 2>/dev/null; trap 'exit 5' HUP; printf 'last words'; \
                  while :; do sleep 0.02; done";
    let id = create(&mut client, &sh(script));
    client.wait_for_text(&id, "last words");
    let read = Instant::now();
    wait_until_closed(&mut watcher, &id);
    // The server's clock for the timeout started before its answer came.
    assert!(read.elapsed() > SECOND / 2, "{:?}", read.elapsed());

    let check = |client: &mut RawClient| {
        let info = show(client, &id);
        assert_eq!(info["state"], "closed");
        assert_eq!(info["close_cause"], "idle");
        assert_eq!(info["idle_timeout_ms"], 1_000);
        assert_eq!(info["exit_status"]["exit_code"], 5);
        let created = info["created_at_ms"].as_i64().unwrap();
        let last = info["last_activity_ms"].as_i64().unwrap();
        let ended = info["exited_at_ms"].as_i64().unwrap();
        assert!((created..=ended).contains(&last), "{info}");
        let error = client.err("session.send", &json!({ "id": id, "text": "x" }));
        error.assert_is(-32004, "terminal_exited");
        assert_eq!(error.data["cause"], "idle");
        assert_eq!(error.data["idle_timeout_ms"], 1_000);
        let reason = "closed after 1 s without activity";
        assert!(error.message.contains(reason), "{}", error.message);
        let page = client.ok("session.read", &json!({ "id": id }));
        // dash reports "Hangup" for the sleep.
        assert!(page["text"].as_str().unwrap().starts_with("last words"));
        let screen = client.ok("session.screen", &json!({ "id": id, "format": "text" }));
        assert!(
            screen["rendering"]
                .as_str()
                .unwrap()
                .starts_with("last words")
        );
    };
    check(&mut client);
    let records = client.ok("audit.list", &json!({ "filter": { "terminal": id } }));
    let records = records["records"].as_array().unwrap();
    let close = records
        .iter()
        .find(|record| record["action"] == "terminal.close")
        .unwrap();
    assert_eq!(
        close["detail"],
        json!({ "cause": "idle", "idle_timeout_ms": 1_000 })
    );
    assert_eq!(close["actor"]["front"], "daemon");
    assert!(daemon.log().contains("closing an idle terminal"));

    drop((watcher, client));
    let daemon = TestDaemon::start_in(daemon.stop());
    check(&mut daemon.client());
}

#[test]
fn an_attached_or_waiting_client_keeps_a_terminal_open() {
    let daemon = TestDaemon::start();
    let (mut watcher, mut client) = (watcher(&daemon), daemon.client());
    let attached = create(&mut client, &sleeping());
    let waited_for = create(&mut client, &sleeping());
    let printing = create(&mut client, &sh("while sleep 0.2; do echo; done"));
    let mut there = daemon.client();
    there.ok("session.subscribe", &json!({ "id": attached }));
    let mut waiting = daemon.client();
    let wait = waiting.send(
        "session.wait",
        &json!({ "id": waited_for, "timeout_ms": 60_000 }),
    );
    // Two unattended terminals, one after the other, take two seconds to be closed.
    for _ in 0..2 {
        let lonely = create(&mut client, &sleeping());
        wait_until_closed(&mut watcher, &lonely);
    }
    for id in [&attached, &waited_for, &printing] {
        assert_eq!(show(&mut client, id)["state"], "running");
    }
    let left = Instant::now();
    drop(there);
    wait_until_closed(&mut watcher, &attached);
    assert!(left.elapsed() > SECOND / 2, "{:?}", left.elapsed());
    client.ok("session.kill", &json!({ "id": waited_for }));
    assert_eq!(waiting.answer(wait)["result"]["exited"], true);
    // A terminal whose command has ended is closed as well.
    wait_until_closed(&mut watcher, &waited_for);
    let info = show(&mut client, &waited_for);
    assert_eq!(info["exit_status"]["signal"], "SIGTERM");
    assert_eq!(show(&mut client, &printing)["state"], "running");
}

#[test]
fn a_timeout_outlives_the_server() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = create(&mut client, &sleeping());
    daemon.server().signal(Signal::KILL);
    let mut watcher = watcher(&daemon);
    let mut client = daemon.client();
    if show(&mut client, &id)["state"] != "closed" {
        wait_until_closed(&mut watcher, &id);
    }
    assert_eq!(show(&mut client, &id)["close_cause"], "idle");
}

#[test]
fn a_timeout_has_bounds_and_no_default() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for ms in [0, 999, 31_536_000_001_u64] {
        let params = merged(&sleeping(), &json!({ "idle_timeout_ms": ms }));
        let error = client.err("session.create", &params);
        error.assert_invalid_in(format_args!("{ms}"), "idle_timeout_ms");
    }
    let info = client.ok("session.create", &sleeping());
    assert!(info.get("idle_timeout_ms").is_none(), "{info}");
    let mut agent = daemon.agent();
    let id = agent.create(&json!({ "command": "sleep", "args": ["1000"] }));
    assert!(show(&mut client, &id).get("idle_timeout_ms").is_none());
}

#[test]
fn typing_and_reading_count_as_activity_and_listing_does_not() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = &client.create_terminal(&sh("stty -echo; echo; exec sleep 1000"));
    client.wait_for_text(id, "\n");
    let mut last = show(&mut client, id)["last_activity_ms"].as_i64().unwrap();
    for (method, params) in [
        ("session.read", json!({ "id": id })),
        ("session.screen", json!({ "id": id })),
        ("session.send", json!({ "id": id, "text": "x" })),
        ("session.wait", json!({ "id": id, "timeout_ms": 0 })),
    ] {
        // Times have a resolution of a millisecond.
        let mut now = last;
        termd_test_support::wait_until("it counts", || {
            client.ok(method, &params);
            now = show(&mut client, id)["last_activity_ms"].as_i64().unwrap();
            now > last
        });
        client.ok("session.list", &json!({}));
        assert_eq!(show(&mut client, id)["last_activity_ms"], now, "{method}");
        last = now;
    }
}
