//! Waits for the first of several sessions, for an exit, and for a port.

use std::net::TcpListener;

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, assert_members, is_installed};

use crate::smart_terminal::start;

fn facts(client: &mut McpClient, tool: &str, call: u64) -> Value {
    let structured = client.answer(call)["result"]["structuredContent"].clone();
    client.with_defaults(tool, structured)
}

#[test]
fn the_first_session_with_a_match_or_an_exit_ends_the_wait() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let ids: Vec<String> = (0..3).map(|_| client.create("cat")).collect();
    let wait = json!({
        "session_id": ids[0], "any": [ids[1], ids[2]], "pattern": "go", "timeout": 50,
    });
    let waiting = client.begin("session_wait_for", &wait);
    client.call(
        "session_send",
        &json!({ "session_id": ids[2], "input": "go" }),
    );
    let result = facts(&mut client, "session_wait_for", waiting);
    assert_members(
        &result,
        &json!({ "session_id": ids[2], "matched": true, "timed_out": false, "matched_text": "go" }),
    );
    let wait = json!({
        "session_id": ids[0], "any": [ids[1], ids[2]], "pattern": "never", "timeout": 50,
    });
    let waiting = client.begin("session_wait_for", &wait);
    client.call(
        "session_send",
        &json!({ "session_id": ids[1], "control_char": "d" }),
    );
    let result = facts(&mut client, "session_wait_for", waiting);
    assert_members(
        &result,
        &json!({ "session_id": ids[1], "matched": false, "is_alive": false, "exit_code": 0 }),
    );
    let wait = json!({
        "session_id": ids[0], "any": [ids[2]], "pattern": "never", "timeout": 0.3,
    });
    let result = client.call("session_wait_for", &wait);
    assert_members(
        &result,
        &json!({ "session_id": ids[0], "matched": false, "timed_out": true }),
    );
}

#[test]
fn without_a_pattern_it_is_the_exit_that_is_waited_for() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("sh -c 'echo a; read x; exit 5'");
    let result = client.call(
        "session_wait_for",
        &json!({ "session_id": id, "timeout": 0.3 }),
    );
    assert_members(&result, &json!({ "matched": false, "timed_out": true }));
    let waiting = client.begin(
        "session_wait_for",
        &json!({ "session_id": id, "timeout": 50 }),
    );
    client.call("session_send", &json!({ "session_id": id }));
    let result = facts(&mut client, "session_wait_for", waiting);
    assert_members(
        &result,
        &json!({ "matched": true, "timed_out": false, "exit_code": 5, "session_id": null }),
    );
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A line that listens on a port once a line is typed, in a process that leaves its session.
fn listens_later(port: u16, bind: &str) -> String {
    format!(
        "sh -c 'read x; setsid python3 -c \"import socket, time; \
         s = socket.create_server((\\\"{bind}\\\", {port}), \
         family=socket.AF_INET6 if \\\":\\\" in \\\"{bind}\\\" else socket.AF_INET); \
         time.sleep(100)\" & wait'"
    )
}

#[test]
fn a_port_that_a_process_of_the_session_listens_on_ends_the_wait() {
    if !is_installed("python3", "a_port_that_is_listened_on") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    for bind in ["127.0.0.1", "::1"] {
        let port = free_port();
        let id = client.create(&listens_later(port, bind));
        let other = client.create("cat");
        let wait = json!({ "session_id": other, "any": [id], "port": port, "timeout": 15 });
        let waiting = client.begin("session_wait_for", &wait);
        client.call("session_send", &json!({ "session_id": id }));
        let result = facts(&mut client, "session_wait_for", waiting);
        assert_members(
            &result,
            &json!({
                "session_id": id, "matched": true, "listening": true, "timed_out": false,
                "is_alive": true,
            }),
        );
        // The other session does not listen, whoever else does.
        let wait = json!({ "session_id": other, "port": port, "timeout": 0.5 });
        let result = client.call("session_wait_for", &wait);
        assert_members(
            &result,
            &json!({ "matched": false, "listening": false, "timed_out": true }),
        );
    }
}

#[test]
fn the_terminal_set_waits_for_the_same() {
    let daemon = TestDaemon::start();
    let mut client = start::client(&daemon);
    let (first, second) = (start::start(&mut client), start::start(&mut client));
    let wait =
        json!({ "sessionId": first, "any": [second], "pattern": "here-\\d", "timeout": 15_000 });
    let waiting = client.begin("terminal_wait", &wait);
    start::exec(&mut client, &second, "echo here-$((1 + 1))");
    let result = facts(&mut client, "terminal_wait", waiting);
    assert_members(
        &result,
        &json!({ "sessionId": second, "matched": true, "timedOut": false, "matchedText": "here-2" }),
    );
    let waiting = client.begin(
        "terminal_wait",
        &json!({ "sessionId": first, "timeout": 15_000 }),
    );
    client.call(
        "terminal_write",
        &json!({ "sessionId": first, "data": "exit 4\r" }),
    );
    let result = facts(&mut client, "terminal_wait", waiting);
    assert_members(
        &result,
        &json!({ "matched": true, "exited": true, "timedOut": false, "sessionId": null }),
    );
    if is_installed("python3", "the_terminal_set_waits_for_a_port") {
        let port = free_port();
        let line = format!("python3 -m http.server {port} --bind 127.0.0.1 &");
        start::exec(&mut client, &second, &line);
        let wait = json!({ "sessionId": second, "port": port, "timeout": 15_000 });
        let result = client.call("terminal_wait", &wait);
        assert_members(&result, &json!({ "matched": true, "listening": true }));
    }
}
