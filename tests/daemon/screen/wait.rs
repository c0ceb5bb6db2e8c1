//! `session.screen` with a wait for a change or for quiet, its timeout, and changes of size.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, merged, sh};

fn started(client: &mut RawClient, script: &str) -> String {
    let id = client.create_terminal(&sh(script));
    client.wait_for_text(&id, "ready");
    id
}

fn text(client: &mut RawClient, id: &str, more: &Value) -> (String, Value) {
    let params = merged(&json!({ "id": id, "format": "text" }), more);
    let screen = client.ok("session.screen", &params);
    (screen["rendering"].as_str().unwrap().to_owned(), screen)
}

fn seq(client: &mut RawClient, id: &str) -> u64 {
    text(client, id, &json!({})).1["seq"].as_u64().unwrap()
}

#[test]
fn a_wait_ends_with_output_and_with_the_exit() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(
        &mut client,
        "stty -echo; printf ready; read x; printf more; read x",
    );
    let before = seq(&mut client, &id);
    let mut waiting = daemon.client();
    let params = json!({ "id": id, "format": "text", "changed_after": before });
    let request = waiting.send("session.screen", &params);
    client.send_text(&id, "\r");
    let answer = waiting.answer(request)["result"].clone();
    assert_eq!(answer["settled"], true);
    assert!(answer["seq"].as_u64().unwrap() > before);
    assert!(
        answer["rendering"]
            .as_str()
            .unwrap()
            .starts_with("readymore")
    );
    let now = answer["seq"].clone();
    let params = json!({ "id": id, "changed_after": now });
    let request = waiting.send("session.screen", &params);
    client.send_text(&id, "\r");
    let answer = waiting.answer(request)["result"].clone();
    assert_eq!((&answer["settled"], &answer["seq"]), (&json!(true), &now));
    // The program has exited, so nothing is waited for.
    let (_, late) = text(
        &mut client,
        &id,
        &json!({ "changed_after": now, "settle_ms": 9_000 }),
    );
    assert_eq!(late["settled"], true);
}

#[test]
fn a_wait_ends_at_its_timeout() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(&mut client, "stty -echo; printf ready; read x");
    let before = seq(&mut client, &id);
    let begun = Instant::now();
    let params = json!({ "changed_after": before, "timeout_ms": 150 });
    let (shown, screen) = text(&mut client, &id, &params);
    assert_eq!(screen["settled"], false);
    assert!(begun.elapsed() >= Duration::from_millis(150));
    assert!(shown.starts_with("ready"));
}

/// The answer comes in the pause after a burst of output.
#[test]
fn a_screen_settles_after_a_burst_and_not_in_it() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; printf ready; read x; i=0; while [ $i -lt 60 ]; do \
                  printf '\\rstep %d ' $i; sleep 0.02; i=$((i+1)); done; printf 'the end'; read x";
    let id = started(&mut client, script);
    let before = seq(&mut client, &id);
    client.send_text(&id, "\r");
    let params = json!({ "changed_after": before, "settle_ms": 600 });
    let (shown, screen) = text(&mut client, &id, &params);
    assert_eq!(screen["settled"], true);
    assert!(shown.starts_with("step 59 the end"), "{shown}");
}

#[test]
fn what_never_settles_is_shown_at_the_timeout() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "printf ready; while :; do printf '.\\r'; sleep 0.01; done";
    let id = started(&mut client, script);
    let params = json!({ "settle_ms": 300, "timeout_ms": 500 });
    let (_, screen) = text(&mut client, &id, &params);
    assert_eq!(screen["settled"], false);
}

/// Mode 2026: an unfinished frame is not settled, and a program that stops inside a frame does not
/// block the wait.
#[test]
fn an_unfinished_frame_is_waited_for() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; printf ready; read x; printf '\\033[?2026hhalf '; sleep 0.4; \
                  printf 'whole\\033[?2026l'; read x; printf '\\033[?2026hagain'; read x";
    let id = started(&mut client, script);
    let before = seq(&mut client, &id);
    client.send_text(&id, "\r");
    let params = json!({ "changed_after": before, "settle_ms": 50 });
    let (shown, screen) = text(&mut client, &id, &params);
    assert!(shown.starts_with("readyhalf whole"), "{shown}");
    let before = screen["seq"].clone();
    client.send_text(&id, "\r");
    let params = json!({ "changed_after": before, "settle_ms": 50 });
    let (shown, screen) = text(&mut client, &id, &params);
    assert!(shown.contains("wholeagain"), "{shown}");
    assert_eq!(screen["settled"], true);
    assert_eq!(screen["modes"]["synchronized_output"], true);
}

#[test]
fn a_new_size_reflows_and_reaches_the_child() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; trap 'echo; stty size' WINCH; \
                  printf 'abcdefghijklmnopqrstuvwxyz0123456789\\nready\\n'; \
                  while :; do sleep 0.02; done";
    let id = started(&mut client, script);
    let before = seq(&mut client, &id);
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 20, "rows": 10 }),
    );
    client.wait_for_text(&id, "10 20");
    let (shown, screen) = text(&mut client, &id, &json!({ "changed_after": before }));
    assert!(
        shown.starts_with("abcdefghijklmnopqrst\nuvwxyz0123456789\nready\n"),
        "{shown}"
    );
    assert_members(&screen, &json!({ "cols": 20, "rows": 10 }));
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 100, "rows": 30 }),
    );
    client.wait_for_text(&id, "30 100");
    let (shown, _) = text(&mut client, &id, &json!({}));
    assert!(
        shown.starts_with("abcdefghijklmnopqrstuvwxyz0123456789\nready\n"),
        "{shown}"
    );
}

#[test]
fn a_new_size_alone_ends_a_wait() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(&mut client, "stty -echo; printf ready; read x");
    let before = seq(&mut client, &id);
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 40, "rows": 12 }),
    );
    let (_, screen) = text(&mut client, &id, &json!({ "changed_after": before }));
    assert_members(&screen, &json!({ "cols": 40, "settled": true }));
}

#[test]
fn a_new_size_after_the_exit_is_no_error_and_changes_nothing() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = &client.create_terminal(&sh("printf 'ready'"));
    client.ok("session.wait", &json!({ "id": id }));
    let size = json!({ "id": id, "cols": 40, "rows": 12 });
    assert_eq!(client.ok("session.resize", &size), Value::Null);
    let (shown, screen) = text(&mut client, id, &json!({}));
    assert!(shown.starts_with("ready"));
    let info = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(
        (&info["cols"], &info["rows"]),
        (&screen["cols"], &screen["rows"])
    );
}
