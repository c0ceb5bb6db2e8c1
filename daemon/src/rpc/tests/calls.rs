//! Calls, their bounds and their ends; connections and theirs.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::{PATIENCE, TestServer};
use crate::rpc::{ServeOptions, limits};

#[tokio::test]
async fn a_disconnect_ends_two_hundred_waits() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in 0..200 {
        client.call(&id.to_string(), "never").await;
    }
    server.waits.until(200).await;
    client.lives().await;
    drop(client);
    server.waits.until(0).await;
}

#[tokio::test]
async fn after_a_half_close_answers_still_come_and_a_hang_up_ends_the_wait() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let big = r#"{"jsonrpc":"2.0","id":1,"method":"big","params":{"bytes":3000000}}"#;
    client.0.get_mut().write_all(big.as_bytes()).await.unwrap();
    client.0.get_mut().shutdown().await.unwrap();
    assert!(
        client.answer().await["result"]
            .as_str()
            .is_some_and(|text| text.len() == 3_000_000)
    );
    assert_eq!(client.line().await, None);

    // An answer that comes long after the half close.
    let mut client = server.connect().await;
    client.call("1", "when_two_wait").await;
    client.0.get_mut().shutdown().await.unwrap();
    server.waits.until(1).await;
    let mut other = server.connect().await;
    other.lives().await;
    other.call("2", "never").await;
    assert_eq!(client.answer().await["id"], 1);
    drop(other);
    server.waits.until(0).await;

    let mut client = server.connect().await;
    client.call("1", "never").await;
    client.0.get_mut().shutdown().await.unwrap();
    server.waits.until(1).await;
    drop(client);
    server.waits.until(0).await;
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_answered() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for cancel in [r#""id":9,"#, ""] {
        client.call("\"w\"", "never").await;
        server.waits.until(1).await;
        client
            .send(&format!(
                r#"{{"jsonrpc":"2.0",{cancel}"method":"$/cancel_request","params":{{"requestId":"\u0077"}}}}"#
            ))
            .await;
        if !cancel.is_empty() {
            assert_eq!(client.answer().await["id"], 9);
        }
        client.error(json!("w"), -32800, "cancelled").await;
        server.waits.until(0).await;
    }
    client.send(r#"{"jsonrpc":"2.0","method":"never"}"#).await;
    client.lives().await;
    assert_eq!(server.waits.now.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn calls_in_flight_are_capped_by_an_answer() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in 0..limits::MAX_CALLS_IN_FLIGHT {
        client.call(&id.to_string(), "never").await;
    }
    client.call("\"more\"", "never").await;
    let data = client.error(json!("more"), -32009, "overloaded").await;
    assert_eq!(data["limit"], "calls_in_flight");
}

#[tokio::test]
async fn a_thousand_pipelined_requests_are_all_answered() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in 0..1000 {
        client.call(&id.to_string(), "echo").await;
    }
    for id in 0..1000 {
        let answer = client.answer().await;
        assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &json!({})));
    }
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[\"{}\"]}}\n",
        "x".repeat(1000)
    );
    let flood = async { while client.0.get_mut().write_all(line.as_bytes()).await.is_ok() {} };
    timeout(PATIENCE, flood).await.expect("closed in time");
    server.connect().await.lives().await;
}

#[tokio::test]
async fn a_subscription_is_answered_first_and_loses_nothing() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    client.call("-3", "subscribe").await;
    let answer = client.answer().await;
    assert_eq!(answer["id"], -3);
    for number in 0..200 {
        let event = client.answer().await;
        assert_eq!(
            event["params"],
            json!({"subscription": answer["result"], "result": number})
        );
    }
    let id = &answer["result"];
    client
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":4,"method":"unsubscribe","params":{{"subscription":{id}}}}}"#
        ))
        .await;
    assert_eq!(client.answer().await["result"], true);
}

#[tokio::test]
async fn another_uid_is_closed_at_once() {
    let owner_uid = ServeOptions::default().owner_uid + 1;
    let server = TestServer::start_with(ServeOptions {
        owner_uid,
        ..ServeOptions::default()
    });
    assert_eq!(server.connect().await.line().await, None);
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let options = ServeOptions {
        connections_max: 1,
        ..ServeOptions::default()
    };
    let server = TestServer::start_with(options);
    let mut first = server.connect().await;
    first.lives().await;
    let mut second = server.connect().await;
    let data = second.error(Value::Null, -32009, "overloaded").await;
    assert_eq!(data["limit"], "connections");
    assert_eq!(second.line().await, None);
    first.lives().await;
}

#[tokio::test]
async fn shutdown_answers_what_is_under_way_and_closes() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let mut idle = server.connect().await;
    idle.lives().await;
    client.call("1", "never").await;
    server.waits.until(1).await;
    assert_eq!(server.options.stats.connections(), 2);
    server.shutdown.cancel();
    client.error(json!(1), -32010, "unavailable").await;
    let mut rest = Vec::new();
    assert_eq!(client.0.read_to_end(&mut rest).await.unwrap(), 0);
    assert_eq!(idle.line().await, None);
    timeout(limits::SHUTDOWN_DEADLINE, server.task)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(server.options.stats.connections(), 0);
}
