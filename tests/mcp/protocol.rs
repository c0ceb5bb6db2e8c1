//! Both protocol versions, the list of tools, and lines that are no messages.

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, STATELESS, TestDaemon};

#[test]
fn initialize_is_answered_in_the_version_that_was_asked_for() {
    let daemon = TestDaemon::start();
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = McpClient::spawn(&daemon, &[], &[]);
        let answer = client.ask(
            "initialize",
            &json!({ "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" } }),
        );
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version, "{answer}");
        assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
        assert!(result["instructions"].as_str().unwrap().len() < 1_000);
    }
}

#[test]
fn initialize_is_answered_where_no_daemon_can_be_started() {
    let home = Home::create();
    let mut client = McpClient::spawn(&home, &["--no-start"], &[]);
    client.ask(
        "initialize",
        &json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } }),
    );
    let (kind, message) = client.refused("session_list", &json!({}));
    assert_eq!(kind, "daemon_unavailable", "{message}");
}

#[test]
fn the_stateless_era_is_served_without_initialize() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::stateless(&daemon, &json!({}));
    let discovered = client.ask("server/discover", &json!({}));
    let versions = discovered["result"]["supportedVersions"]
        .as_array()
        .unwrap();
    assert!(versions.contains(&STATELESS.into()), "{discovered}");
    let id = client.create("cat");
    let result = client.call(
        "session_interact",
        &json!({ "session_id": id, "input": "hi", "wait_for": "hi" }),
    );
    assert_eq!(result["matched"], true, "{result}");
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert_eq!(info["owner"]["front"], "mcp");
    assert_eq!(info["owner"]["client"], "a-test");
}

#[test]
fn discover_and_then_initialize_as_claude_code_does() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::stateless(&daemon, &json!({}));
    client.ask("server/discover", &json!({}));
    let answer = client.ask(
        "initialize",
        &json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } }),
    );
    assert_eq!(
        answer["result"]["protocolVersion"], "2025-11-25",
        "{answer}"
    );
}

#[test]
fn lines_that_are_no_messages_are_answered_and_do_no_harm() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let error = |code: i64| move |message: &Value| message["error"]["code"] == code;
    client.send_line("{ not json");
    client.wait("a parse error", error(-32700));
    client.send_line("[1, 2]");
    client.wait("an invalid request", error(-32600));
    // An id that is none is not repeated (JSON-RPC 2.0, section 5).
    for id in [json!([7]), json!({ "n": 7 }), json!(true)] {
        client
            .send_line(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }).to_string());
        let answer = client.wait("an invalid request", error(-32600));
        assert_eq!(answer["id"], Value::Null, "{answer}");
    }
    client.send_line(r#"{ "jsonrpc": "2.0", "id": "seven", "method": 7 }"#);
    let answer = client.wait("an invalid request", error(-32600));
    assert_eq!(answer["id"], "seven", "{answer}");
    client.send_line("");
    client.send_line(&"x".repeat(9 << 20));
    client.wait("a refusal of its length", error(-32600));
    let answer = client.ask("no/such/method", &json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.ask("tools/call", &json!({ "name": "no_such_tool" }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    client.call("session_list", &json!({}));
}

#[test]
fn bad_arguments_are_errors_of_the_tool_that_say_how_to_mend_them() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("cat");
    let table = [
        ("session_create", json!({}), "'command' is required"),
        (
            "session_create",
            json!({ "command": "  " }),
            "'command' is required",
        ),
        (
            "session_create",
            json!({ "comand": "sh" }),
            "did you mean 'command'?",
        ),
        (
            "session_resize",
            json!({ "session_id": id, "rows": "40", "cols": 9 }),
            "of type integer",
        ),
        (
            "session_resize",
            json!({ "session_id": id, "rows": 0, "cols": 9 }),
            "from 1 to",
        ),
        (
            "session_send",
            json!({ "session_id": id, "input": "x", "key": "up" }),
            "Only one of",
        ),
        (
            "session_send",
            json!({ "session_id": id, "control_char": "q" }),
            "one of: c d z l ]",
        ),
        (
            "session_send",
            json!({ "session_id": id, "key": "f99" }),
            "f99",
        ),
        (
            "session_wait_for",
            json!({ "session_id": id, "pattern": "[" }),
            "pattern",
        ),
        (
            "session_interact",
            json!({ "session_id": id, "input": "x", "wait_for": "(" }),
            "regex",
        ),
        (
            "session_read",
            json!({ "session_id": id, "timeout": -1 }),
            "from 0 to 3600",
        ),
    ];
    for (tool, arguments, want) in table {
        let (kind, message) = client.refused(tool, &arguments);
        assert_eq!(kind, "validation_error", "{tool} {arguments}: {message}");
        assert!(message.contains(want), "{tool} {arguments}: {message}");
    }
    let (kind, _) = client.refused("session_read", &json!({ "session_id": "no-such" }));
    assert_eq!(kind, "not_found");
    let (kind, _) = client.refused("session_create", &json!({ "command": "/no/such/bin" }));
    assert_eq!(kind, "spawn_error");
}
