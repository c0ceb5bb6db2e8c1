//! A peer that does not take what it is told.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{Client, TestServer};
use crate::rpc::limits::{ANSWERS_HIGH_WATER_BYTES, MAX_CALLS_IN_FLIGHT};

const BIG_BYTES: usize = 1 << 20;

/// What may be made for a peer that does not read: up to the mark, and the one that crosses it.
/// What its socket takes is less than one.
const BIG_ANSWERS_UNREAD: usize = ANSWERS_HIGH_WATER_BYTES / BIG_BYTES + 1;

async fn ask_for_big(client: &mut Client, ids: std::ops::Range<u64>) {
    for id in ids {
        client
            .call_with(id, "big", &json!({ "bytes": BIG_BYTES }))
            .await;
    }
}

#[tokio::test]
async fn no_event_is_lost_by_one_that_reads_them_late() {
    const EVENTS: u64 = 5000;
    let server = TestServer::start();
    let mut client = server.connect().await;
    client
        .call_with(1, "subscribe", &json!({ "events": EVENTS }))
        .await;
    server.until_nothing_is_made().await;
    // It can still call: its answer comes after the events that are on their way.
    client.call("\"alive\"", "echo").await;
    let subscription = client.answer().await["result"].clone();
    let (mut number, mut answered) = (0, false);
    while number < EVENTS {
        let message = client.answer().await;
        if message["id"] == "alive" {
            assert_eq!(message["result"], json!({}));
            answered = true;
            continue;
        }
        let expected = json!({ "subscription": subscription, "result": number });
        assert_eq!(message["params"], expected, "{message}");
        number += 1;
    }
    assert!(answered);
}

#[tokio::test]
async fn answers_are_made_as_they_are_read() {
    const CALLS: u64 = 40;
    let server = TestServer::start();
    let mut client = server.connect().await;
    ask_for_big(&mut client, 0..CALLS / 2).await;
    server.until_nothing_is_made().await;
    let made = server.waits.made.load(Ordering::SeqCst);
    assert!(made <= BIG_ANSWERS_UNREAD, "{made} answers were made");
    // Nor do more come of more calls.
    ask_for_big(&mut client, CALLS / 2..CALLS).await;
    client
        .call_with(CALLS, "typed", &json!({ "text": 5 }))
        .await;
    server.until_nothing_is_made().await;
    assert_eq!(server.waits.made.load(Ordering::SeqCst), made);

    let mut ids: BTreeSet<u64> = (0..=CALLS).collect();
    while !ids.is_empty() {
        let answer = client.answer().await;
        let id = answer["id"].as_u64().unwrap();
        assert!(ids.remove(&id), "{id} was answered before");
        if id == CALLS {
            assert_eq!(answer["error"]["data"]["field"], "text", "{answer}");
        } else {
            let text = answer["result"].as_str().map(str::len);
            assert_eq!(text, Some(BIG_BYTES), "{id}");
        }
    }
    client.lives().await;
}

#[tokio::test]
async fn one_that_does_not_read_can_cancel_and_hang_up() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in [900, 901] {
        client.call_with(id, "never", &json!({})).await;
    }
    server.waits.until(2).await;
    ask_for_big(&mut client, 0..30).await;
    server.until_nothing_is_made().await;
    for id in [900, 20] {
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
        );
        client.send(&cancel).await;
    }
    server.waits.until(1).await;
    // What comes now begins only once the answers are read.
    client.call_with(902, "never", &json!({})).await;
    server.until_nothing_is_made().await;
    assert_eq!(server.waits.now.load(Ordering::SeqCst), 1);
    let mut cancelled = Vec::new();
    for _ in 0..31 {
        let answer = client.answer().await;
        if answer["error"]["code"] == -32800 {
            cancelled.push(answer["id"].as_u64().unwrap());
        }
    }
    cancelled.sort_unstable();
    assert_eq!(cancelled, [20, 900]);
    assert_eq!(server.waits.made.load(Ordering::SeqCst), 29);
    server.waits.until(2).await;

    ask_for_big(&mut client, 0..30).await;
    server.until_nothing_is_made().await;
    drop(client);
    server.waits.until(0).await;
}

/// It may hold what others wait for, such as one of the few readers of the database.
#[tokio::test]
async fn a_call_that_has_begun_goes_on_though_nothing_is_read() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    client.call_with(900, "when_two_wait", &json!({})).await;
    server.waits.until(1).await;
    ask_for_big(&mut client, 0..30).await;
    server.until_nothing_is_made().await;
    let made = server.waits.made.load(Ordering::SeqCst);
    let mut other = server.connect().await;
    other.call("1", "never").await;
    server.until_nothing_is_made().await;
    assert_eq!(server.waits.made.load(Ordering::SeqCst), made + 1);
}

#[tokio::test]
async fn too_many_calls_of_one_that_does_not_read_are_refused() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let asked = MAX_CALLS_IN_FLIGHT as u64 + 10;
    ask_for_big(&mut client, 0..20).await;
    server.until_nothing_is_made().await;
    for id in 20..asked {
        client.call_with(id, "typed", &json!({ "text": "a" })).await;
    }
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..asked {
        let answer = client.answer().await;
        match &answer["error"] {
            Value::Null => answered += 1,
            error => {
                assert_eq!(error["data"]["limit"], "calls_in_flight", "{error}");
                refused += 1;
            }
        }
    }
    // One or two answers are with the peer's socket, and so no longer in flight.
    assert!((MAX_CALLS_IN_FLIGHT..MAX_CALLS_IN_FLIGHT + 3).contains(&answered));
    assert!(refused > 0);
}
