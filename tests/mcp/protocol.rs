//! Both protocol versions, the list of tools, and lines that are no messages.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, STATELESS, TestDaemon, assert_members, wait_until};

#[test]
fn initialize_is_answered_in_the_version_that_was_asked_for() {
    let daemon = TestDaemon::start();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
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
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("no method no/such/method"), "{message}");
    assert!(message.contains("tools/call"), "{message}");
    let answer = client.ask("prompts/get", &json!({ "name": "x" }));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("no method prompts/get"), "{message}");
    let answer = client.ask("tools/call", &json!({ "name": "no_such_tool" }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    client.call("session_list", &json!({}));
}

#[test]
fn params_that_do_not_fit_their_method_are_named() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let name_alone = json!({ "name": "session_list", "arguments": [] });
    for (id, method, params, problem) in [
        ("1", "tools/call", None, "params"),
        ("2.0", "tools/call", None, "params"),
        ("3", "tools/call", Some(json!({})), "name"),
        ("4", "tools/call", Some(name_alone), "arguments"),
        ("5", "resources/read", Some(json!({ "uri": 7 })), "uri"),
    ] {
        let params = params.map_or(String::new(), |params| format!(r#","params":{params}"#));
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#);
        let answer = &exchange(&daemon, &[&line], 1)[0];
        let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602"#);
        assert!(answer.starts_with(&begin), "{line}: {answer}");
        assert!(answer.contains(problem), "{line}: {answer}");
    }
    client.call("session_list", &json!({}));
}

#[test]
fn an_initialize_without_a_version_is_refused_and_can_be_sent_again() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::spawn(&daemon, &[], &[]);
    let nameless = json!({ "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let answer = client.ask("initialize", &nameless);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("protocolVersion"), "{message}");
    client.notify("notifications/initialized", &json!({}));
    let mut client = client.initialized(&json!({}));
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

/// Sends lines to a server, and gives what it answers, as it is written.
fn exchange(home: &Home, lines: &[&str], answers: usize) -> Vec<String> {
    let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
    command.arg("mcp").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    writeln!(stdin, "{initialize}").unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    from.next().unwrap().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    let answers = from.by_ref().take(answers).map(Result::unwrap).collect();
    drop(stdin);
    child.wait().unwrap();
    answers
}

#[test]
fn an_id_comes_back_to_the_letter() {
    let daemon = TestDaemon::start();
    for id in [
        "123456789012345678901234567890",
        "18446744073709551615",
        "1.5",
        "1.0",
        "1e2",
        "-9223372036854775808",
        "-7",
        "\"seven\"",
    ] {
        for (method, member) in [("tools/list", "result"), ("no/such", "error")] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
            let answer = &exchange(&daemon, &[&line], 1)[0];
            let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{{"#);
            assert!(answer.starts_with(&begin), "{id}: {answer:.200}");
        }
        // A refusal of the line has it, too.
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":7}}"#);
        let answer = &exchange(&daemon, &[&line], 1)[0];
        let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600"#);
        assert!(answer.starts_with(&begin), "{id}: {answer}");
    }
}

#[test]
fn a_call_with_a_long_id_is_cancelled_by_it() {
    let daemon = TestDaemon::start();
    let id = "123456789012345678901234567890";
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"session_exec","arguments":{{"exec":"touch begun; sleep 335","timeout":100}}}}}}"#
    );
    let cancel = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    );
    let mut client = McpClient::start(&daemon);
    client.send_line(&call);
    let begun = daemon.user_home().join("begun");
    wait_until("it runs", || begun.exists());
    client.send_line(&cancel);
    wait_until("it is gone", || {
        client.call("session_list", &json!({}))["count"] == 0
    });
}

#[test]
fn a_cursor_that_no_page_gave_is_refused() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        let answer = client.ask(method, &json!({ "cursor": "no-such-page" }));
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        let answer = client.ask(method, &json!({}));
        assert!(answer["result"].is_object(), "{method}: {answer}");
    }
}

fn of_version(home: &Home, version: &str) -> McpClient {
    let mut client = McpClient::spawn(home, &[], &[]);
    client.ask(
        "initialize",
        &json!({ "protocolVersion": version, "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } }),
    );
    client
}

#[test]
fn batches_are_answered_by_batches_in_the_version_that_has_them() {
    let daemon = TestDaemon::start();
    let mut client = of_version(&daemon, "2025-03-26");
    let request = |id: &str, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let batch = json!([
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        request("a", "ping"),
        request("b", "tools/list"),
        request("c", "no/such"),
        7,
        { "jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": {
            "name": "session_exec", "arguments": { "exec": "echo hi" } } },
    ]);
    client.send_line(&batch.to_string());
    let answers = client.wait("a batch", Value::is_array);
    let answers = answers.as_array().unwrap();
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(answers.len(), 5, "{answers:#?}");
    assert_eq!(of(json!("a"))["result"], json!({}));
    assert!(of(json!("b"))["result"]["tools"].is_array());
    assert_eq!(of(json!("c"))["error"]["code"], -32601);
    assert_eq!(of(Value::Null)["error"]["code"], -32600);
    let structured = &of(json!("d"))["result"]["structuredContent"];
    assert_members(structured, &json!({ "output": "hi\n", "exit_code": 0 }));
    // What has no request in it has no answer, and the next one has.
    client.send_line(&json!([{ "jsonrpc": "2.0", "method": "notifications/none" }]).to_string());
    client.send_line("[]");
    let empty = client.wait("an answer", |message| message["error"]["code"] == -32600);
    assert_eq!(empty["id"], Value::Null, "{empty}");
    assert!(client.ask("ping", &json!({}))["result"].is_object());
    let too_many: Vec<Value> = (0..101).map(|_| request("x", "ping")).collect();
    client.send_line(&json!(too_many).to_string());
    client.wait("a refusal", |message| message["error"]["code"] == -32600);
}

#[test]
fn a_cancelled_call_of_a_batch_does_not_hold_it_up() {
    let daemon = TestDaemon::start();
    let mut client = of_version(&daemon, "2025-03-26");
    let batch = json!([
        { "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {
            "name": "session_exec",
            "arguments": { "exec": "touch begun; sleep 336", "timeout": 100 } } },
        { "jsonrpc": "2.0", "id": "ping", "method": "ping" },
    ]);
    client.send_line(&batch.to_string());
    let begun = daemon.user_home().join("begun");
    wait_until("it runs", || begun.exists());
    client.notify("notifications/cancelled", &json!({ "requestId": "long" }));
    let answers = client.wait("the rest", Value::is_array);
    assert_eq!(answers.as_array().unwrap().len(), 1, "{answers}");
    assert_eq!(answers[0]["id"], "ping", "{answers}");
}

#[test]
fn progress_tells_the_last_line() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let call = json!({
        "name": "session_exec",
        "arguments": { "exec": "printf 'Compiling fo\\342\\200\\213o\\n\\n'; sleep 337", "timeout": 100 },
        "_meta": { "progressToken": "t" },
    });
    client.request("tools/call", &call);
    let progress = client.wait("progress", |message| {
        let text = message["params"]["message"].as_str().unwrap_or_default();
        message["method"] == "notifications/progress" && text.contains("more bytes")
    });
    let text = progress["params"]["message"].as_str().unwrap();
    assert!(
        text.ends_with(r" s, 0 more bytes: Compiling fo\u{200b}o"),
        "{text}"
    );
}
