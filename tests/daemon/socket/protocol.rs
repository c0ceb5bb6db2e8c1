//! The framing: one JSON-RPC 2.0 message a line, and errors for everything else.

use std::io::Write;
use std::net::Shutdown;
use std::time::Duration;

use serde_json::{Value, json};
use termd_test_support::{Agent, Deadline, RawClient, RpcError, TestDaemon};

/// The longest accepted line, in bytes.
const LINE_LIMIT: usize = 4 << 20;

/// Sends a raw line: the one answer.
#[track_caller]
fn exchange(client: &mut RawClient, line: impl AsRef<[u8]>) -> Value {
    client.send_raw(line.as_ref());
    client.send_raw(b"\n");
    client.next_message()
}

/// Checks that the connection is still served.
#[track_caller]
fn assert_serves(client: &mut RawClient) {
    assert!(client.ok("daemon.info", &Value::Null)["version"].is_string());
}

#[test]
fn a_line_over_the_limit_is_refused_and_the_next_one_served() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let filler = "a".repeat(5_000_000);
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "daemon.info", "params": { "filler": filler } });
    let answer = exchange(&mut client, line.to_string());
    assert_eq!(answer["id"], Value::Null);
    let error = RpcError::of(&answer);
    error.assert_is(-32600, "line_too_long");
    assert_eq!(error.data["limit"], LINE_LIMIT, "{error:?}");
    assert_serves(&mut client);
    // A much longer line, whose end is far away.
    for _ in 0..12 {
        client.send_raw(filler.as_bytes());
    }
    client.send_raw(b"\n");
    assert_eq!(RpcError::of(&client.next_message()).kind(), "line_too_long");
    assert_serves(&mut client);
}

#[test]
fn a_line_just_below_the_limit_is_served() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let line = |filler: &str| {
        let params = json!({ "x": filler });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "no.such", "params": params }).to_string()
    };
    let filler = "a".repeat(LINE_LIMIT - line("").len() - 1);
    let answer = exchange(&mut client, line(&filler));
    assert_eq!(RpcError::of(&answer).kind(), "method_not_found");
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let deep = "[".repeat(1 << 20);
    let deep_objects = "{\"a\":".repeat(200_000);
    let deep_params = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\",\"params\":{}",
        "[".repeat(1 << 20)
    );
    let lines: [&[u8]; 12] = [
        b"nonsense",
        b"{",
        b"}",
        b"{\"jsonrpc\":\"2.0\",",
        b"\"",
        b"{\"id\":1,}",
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xffb\"}",
        b"\0",
        deep.as_bytes(),
        deep_objects.as_bytes(),
        deep_params.as_bytes(),
    ];
    for line in lines {
        let answer = exchange(&mut client, line);
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        let error = RpcError::of(&answer);
        assert_eq!(answer["id"], Value::Null, "{shown}: {answer}");
        let looks_like_a_batch = line.first() == Some(&b'[');
        let expected = if looks_like_a_batch {
            [(-32700, "parse_error"), (-32600, "batch_unsupported")].to_vec()
        } else {
            [(-32700, "parse_error")].to_vec()
        };
        assert!(
            expected.contains(&(error.code, error.kind())),
            "{shown}: {error:?}"
        );
    }
    assert_serves(&mut client);
}

#[test]
fn what_is_no_request_is_an_invalid_request() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for (line, id) in [
        ("5", json!(null)),
        ("\"daemon.info\"", json!(null)),
        ("null", json!(null)),
        ("true", json!(null)),
        ("{}", json!(null)),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7)),
        (
            r#"{"jsonrpc":"1.0","id":7,"method":"daemon.info"}"#,
            json!(7),
        ),
        (r#"{"id":7,"method":"daemon.info"}"#, json!(7)),
        (
            r#"{"jsonrpc":"2.0","id":{"a":1},"method":"daemon.info"}"#,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"daemon.info"}"#,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"daemon.info","params":5}"#,
            json!(7),
        ),
    ] {
        let answer = exchange(&mut client, line);
        let error = RpcError::of(&answer);
        let is_it = error.code == -32600 && error.kind() == "invalid_request";
        // Params that are neither list nor object may be reported as invalid params.
        let is_bad_params = line.contains("params") && error.code == -32602;
        assert!(is_it || is_bad_params, "{line}: {error:?}");
        assert_eq!(answer["id"], id, "{line}: {answer}");
    }
    assert_serves(&mut client);
}

#[test]
fn batches_are_refused_as_such() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"daemon.info"}"#;
    for line in [
        "[]".to_owned(),
        format!("[{request}]"),
        format!(" [{request},{request}] "),
    ] {
        let error = RpcError::of(&exchange(&mut client, &line));
        error.assert_is_in(format_args!("{line}"), -32600, "batch_unsupported");
    }
    assert_serves(&mut client);
}

#[test]
fn blank_lines_and_carriage_returns_are_no_matter() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    client.send_raw(
        b"\n\r\n   \n\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"daemon.info\"}\r\n",
    );
    let answer = client.next_message();
    assert_eq!(answer["id"], "x", "{answer}");
    assert!(answer["result"].is_object());
}

#[test]
fn an_unknown_method_is_named_in_plain_characters() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for method in [
        "terminal/nothing",
        "",
        "session.\u{1b}[31m",
        &"m".repeat(100_000),
        "é",
    ] {
        let error = client.err(method, &json!({}));
        error.assert_is(-32601, "method_not_found");
        assert!(
            error.message.len() < 2_000,
            "it repeats {} bytes",
            error.message.len()
        );
        assert!(
            !error.message.chars().any(char::is_control),
            "{:?}",
            error.message
        );
    }
    assert!(
        client
            .err("terminal/nothing", &json!({}))
            .message
            .contains("terminal/nothing")
    );
}

#[test]
fn ids_come_back_as_they_were() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for id in [
        "0",
        "7",
        "\"abc\"",
        "\"\"",
        "\"é\\n\"",
        "18446744073709551615",
        "-5",
        "1.5",
    ] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"daemon.info"}}"#);
        let answer = exchange(&mut client, request);
        let expected: Value = serde_json::from_str(id).unwrap();
        assert_eq!(answer["id"], expected, "{answer}");
        assert!(answer["result"].is_object(), "{id}: {answer}");
    }
}

/// A request may come in pieces, or together with others.
#[test]
fn requests_come_in_any_pieces() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"}\n";
    for byte in request {
        client.send_raw(&[*byte]);
    }
    assert_eq!(client.next_message()["id"], 1);
    client.send_raw(&request.repeat(50));
    for _ in 0..50 {
        assert!(client.next_message()["result"].is_object());
    }
}

#[test]
fn a_thousand_pipelined_requests_are_all_answered() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let ids: Vec<u64> = (0..1000)
        .map(|_| client.send("daemon.info", &Value::Null))
        .collect();
    let mut served = 0;
    for id in ids {
        let answer = client.answer(id);
        if answer["result"].is_object() {
            served += 1;
        } else {
            let error = RpcError::of(&answer);
            error.assert_is(-32009, "overloaded");
        }
    }
    assert!(served >= 500, "only {served} of 1000 were served");
}

/// The number of calls in flight is limited, and each call above the limit gets an error.
#[test]
fn too_many_calls_in_flight_are_refused_one_by_one() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("read go; exit 8");
    let waits: Vec<u64> = (0..1_400)
        .map(|_| agent.send("terminal/wait_for_exit", &Agent::named(&id)))
        .collect();
    let refused = RpcError::of(&agent.answer(*waits.last().unwrap()));
    refused.assert_is(-32009, "overloaded");
    assert!(!refused.data["limit"].is_null(), "{refused:?}");
    daemon.client().send_text(&id, "\n");
    let answered = waits[..1_399]
        .iter()
        .filter(|wait| agent.answer(**wait)["result"]["exitCode"] == 8)
        .count();
    assert!(
        (200..1_399).contains(&answered),
        "{answered} waits were in flight"
    );
    assert_serves(&mut agent);
}

#[test]
fn notifications_have_no_answer() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    client.notify("daemon.info", &json!({}));
    client.notify("no.such.thing", &json!({}));
    client.notify("$/cancel_request", &json!({ "requestId": 999 }));
    client.notify("session/update", &json!({ "sessionId": "s" }));
    let id = client.send("daemon.info", &Value::Null);
    assert_eq!(
        client.next_message()["id"],
        id,
        "the first message is the answer"
    );
}

/// As in `printf … | socat`: a client that has closed its writing side still gets the answers.
#[test]
fn a_client_that_ends_its_writing_gets_what_it_asked_for() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("read go; exit 5");
    let mut asker = daemon.agent();
    let info = asker.send("daemon.info", &Value::Null);
    let wait = asker.send("terminal/wait_for_exit", &Agent::named(&id));
    asker.stream().shutdown(Shutdown::Write).unwrap();
    assert!(asker.answer(info)["result"].is_object());
    let silent = asker.message_by(Deadline::after(Duration::from_millis(50)));
    assert_eq!(silent, None);
    agent.send_text(&id, "\n");
    assert_eq!(asker.answer(wait)["result"]["exitCode"], 5);
    let end = asker.try_read_line(Deadline::after(Duration::from_secs(5)));
    assert!(end.is_err(), "then it is closed: {end:?}");
}

/// A last request without a newline is ignored.
#[test]
fn half_a_line_is_no_request() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let half = br#"{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{}"#;
    client.stream().write_all(half).unwrap();
    drop(client);
    assert_serves(&mut daemon.client());
}
