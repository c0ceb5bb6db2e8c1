//! `session.subscribe`: events in order, and a `lagged` event when some were dropped.

use std::time::Duration;

use serde_json::{Value, json};
use termd_test_support::{DEADLINE, Deadline, RawClient, TestDaemon, assert_members};

/// Subscribes: the subscription's id.
fn subscribe(client: &mut RawClient, params: &Value) -> Value {
    client.ok("session.subscribe", params)
}

/// The next event of this subscription.
#[track_caller]
fn next_event(client: &mut RawClient, subscription: &Value) -> Value {
    let message = client.next_message();
    assert_eq!(message["method"], "session.event", "{message}");
    assert_eq!(
        message["params"]["subscription"], *subscription,
        "{message}"
    );
    message["params"]["result"].clone()
}

/// The events up to the first of this type, which is the last of them.
#[track_caller]
fn events_until(client: &mut RawClient, subscription: &Value, last: &str) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let event = next_event(client, subscription);
        let is_last = event["type"] == last;
        events.push(event);
        if is_last {
            return events;
        }
    }
}

#[test]
fn a_terminals_life_is_told_in_order() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let subscription = subscribe(&mut watcher, &json!({}));
    let mut client = daemon.client();
    let id = client.create_terminal(&json!({ "command": "cat" }));
    client.send_text(&id, "hello\n");
    client.wait_for_text(&id, "hello\r\nhello\r\n");
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 90, "rows": 30 }),
    );
    client.ok("session.rename", &json!({ "id": id, "label": "echo" }));
    client.ok("session.tag", &json!({ "id": id, "add": ["web"] }));
    client.send_text(&id, "\u{4}");
    client.ok("session.wait", &json!({ "id": id }));
    client.ok("session.close", &json!({ "id": id }));

    let mut events = events_until(&mut watcher, &subscription, "closed");
    assert!(events.iter().all(|event| event["id"] == id), "{events:#?}");
    // It is looked at beside its life.
    events.retain(|event| event["type"] != "attention");
    let types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(types.first(), Some(&"created"), "{types:?}");
    let at = |wanted: &str| {
        types
            .iter()
            .position(|kind| *kind == wanted)
            .expect("it was told")
    };
    assert!(at("output") > 0 && at("resized") > 0);
    assert_eq!(at("exited"), types.len() - 2, "{types:?}");
    let resized = &events[at("resized")];
    assert_members(resized, &json!({ "cols": 90, "rows": 30 }));
    let named = events.iter().filter(|event| event["type"] == "named");
    let named: Vec<_> = named
        .map(|event| (&event["label"], &event["tags"]))
        .collect();
    assert_eq!(
        named,
        [
            (&json!("echo"), &Value::Null),
            (&json!("echo"), &json!(["web"]))
        ]
    );
    let exited = &events[at("exited")];
    assert_eq!(
        exited["exit_status"],
        json!({ "exit_code": 0, "signal": null })
    );
    assert_eq!(exited["end"], client.transcript(&id).len());
}

#[test]
fn a_subscription_to_one_terminal_tells_of_no_other() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let mut client = daemon.client();
    let sleep = json!({ "command": "sleep", "args": ["1000"] });
    let other = client.create_terminal(&sleep);
    let mine = client.create_terminal(&sleep);
    let subscription = subscribe(&mut watcher, &json!({ "id": mine }));
    client.ok("session.close", &json!({ "id": other }));
    client.ok("session.close", &json!({ "id": mine }));
    let events = events_until(&mut watcher, &subscription, "closed");
    assert!(
        events.iter().all(|event| event["id"] == mine),
        "{events:#?}"
    );
    let error = watcher.err("session.subscribe", &json!({ "id": "term_aaaaaaaaaaaa" }));
    error.assert_is(-32002, "terminal_not_found");
}

#[test]
fn nothing_comes_after_unsubscribe() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let subscription = subscribe(&mut watcher, &json!({}));
    let by_id = json!({ "subscription": subscription });
    let ended = watcher.ok("session.unsubscribe", &by_id);
    assert_eq!(ended, true);
    let mut client = daemon.client();
    let id = client.create_terminal(&json!({ "command": "true" }));
    client.ok("session.close", &json!({ "id": id }));
    let more = watcher.message_by(Deadline::after(Duration::from_millis(100)));
    assert_eq!(more, None);
}

/// A subscriber that does not read delays nobody, and learns how many events it missed.
#[test]
fn a_slow_subscriber_is_told_that_it_lagged() {
    const RESIZES: u64 = 12_000;
    const PIPELINED: u64 = 200;
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let mut client = daemon.client();
    let id = client.create_terminal(&json!({ "command": "cat" }));
    let subscription = subscribe(&mut watcher, &json!({ "id": id }));
    for round in 0..RESIZES / PIPELINED {
        let requests: Vec<u64> = (0..PIPELINED)
            .map(|n| {
                let cols = 10 + (round * PIPELINED + n) % 1000;
                client.send(
                    "session.resize",
                    &json!({ "id": id, "cols": cols, "rows": 24 }),
                )
            })
            .collect();
        for request in requests {
            assert!(client.answer(request).get("error").is_none());
        }
    }
    client.ok("session.close", &json!({ "id": id }));
    let (mut told, mut dropped, mut lags) = (0, 0, Vec::new());
    loop {
        let Some(message) = watcher.message_by(Deadline::after(DEADLINE)) else {
            panic!("then nothing more: {told} of {RESIZES} told, {dropped} dropped, {lags:?}");
        };
        assert_eq!(message["params"]["subscription"], subscription, "{message}");
        let event = message["params"]["result"].clone();
        match event["type"].as_str().unwrap() {
            "lagged" => {
                dropped += event["dropped"].as_u64().unwrap();
                lags.push(event);
            }
            "resized" => told += 1,
            "closed" => break,
            _ => {}
        }
        // The last events may be among the dropped ones.
        if told + dropped >= RESIZES + 2 {
            break;
        }
    }
    assert!(
        dropped > 0,
        "{told} events were queued for one that does not read"
    );
    assert!(told + dropped >= RESIZES, "{told} told + {dropped} dropped");
    assert!(lags.iter().all(|lag| lag["end"].is_u64()), "{lags:?}");
}
