//! The messages that the proxy, or the daemon behind it, writes itself are ACP v1.
//!
//! Each test checks its messages when the proxy ends (`harness::traffic_log`). These tests produce
//! all kinds of messages and count that none is missing.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use crate::harness::proxy::AcpProxy;
use crate::harness::schema::{Direction, assert_valid};

const SESSION: &str = "s";

/// The kind of a message.
fn kind(message: &Value) -> String {
    if let Some(method) = message["method"].as_str() {
        let update = &message["params"]["update"];
        let meta = update["_meta"].as_object();
        return [method]
            .into_iter()
            .chain(update["sessionUpdate"].as_str())
            .chain(meta.into_iter().flatten().map(|(name, _)| name.as_str()))
            .collect::<Vec<_>>()
            .join(" ");
    }
    if let Some(code) = message["error"]["code"].as_i64() {
        return format!("error {code}");
    }
    let members = message["result"].as_object().into_iter().flatten();
    let names: Vec<_> = members.map(|(name, _)| name.as_str()).collect();
    format!("result {}", names.join(" "))
}

fn kinds(proxy: &AcpProxy, to: Direction) -> BTreeSet<String> {
    proxy.log.own_messages_to(to).iter().map(kind).collect()
}

#[track_caller]
fn assert_all_seen(seen: &BTreeSet<String>, wanted: &[&str]) {
    for wanted in wanted {
        assert!(seen.contains(*wanted), "{wanted} is not among {seen:#?}");
    }
}

fn create(proxy: &mut AcpProxy, script: &str) -> Value {
    let params = json!({ "sessionId": SESSION, "command": "/bin/sh", "args": ["-c", script] });
    let created = proxy.agent.ask("terminal/create", &params);
    let terminal = &created["result"]["terminalId"];
    assert!(terminal.is_string(), "{created}");
    terminal.clone()
}

fn named(terminal: &Value) -> Value {
    json!({ "sessionId": SESSION, "terminalId": terminal })
}

/// Sends an update of a tool call as the agent.
fn send_update(proxy: &mut AcpProxy, update: &Value) {
    let params = json!({ "sessionId": SESSION, "update": update });
    proxy.agent.notify("session/update", &params);
}

/// A tool call with an embedded terminal, from its start to its end.
fn show(proxy: &mut AcpProxy, call: &str, first: &str) {
    let terminal = create(proxy, "echo one; read line; echo two");
    let content = json!([{ "type": "terminal", "terminalId": terminal }]);
    let begun = json!({ "sessionUpdate": first, "toolCallId": call, "title": "a command",
        "kind": "execute", "status": "in_progress", "content": content });
    if first == "tool_call_update" {
        send_update(
            proxy,
            &json!({ "sessionUpdate": "tool_call", "toolCallId": call, "title": "a command" }),
        );
    }
    send_update(proxy, &begun);
    proxy.client.wait("its output", |line| {
        let update = &line["params"]["update"];
        update["toolCallId"] == call && update.to_string().contains("one")
    });
    proxy.agent.ask("terminal/kill", &named(&terminal));
    proxy.agent.ask("terminal/wait_for_exit", &named(&terminal));
    proxy.agent.ask("terminal/release", &named(&terminal));
    let ended = json!({ "sessionUpdate": "tool_call_update", "toolCallId": call,
        "status": "completed", "content": content });
    send_update(proxy, &ended);
    proxy.client.wait("its end", |line| {
        let update = &line["params"]["update"];
        update["toolCallId"] == call && update["status"] == "completed"
    });
}

#[test]
fn answers_and_errors() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::start(
        &daemon,
        &["--session-mcp", "--max-terminals", "1"],
        &json!({}),
    );
    proxy.session(SESSION, Path::new("/"));
    assert_all_seen(
        &kinds(&proxy, Direction::ToAgent),
        &["initialize", "session/new"],
    );
    let terminal = create(&mut proxy, "echo hello; sleep 600");
    let named = named(&terminal);
    let agent = &mut proxy.agent;
    let waiting = agent.request("terminal/wait_for_exit", &named);
    agent.notify("$/cancel_request", &json!({ "requestId": waiting }));
    assert_eq!(agent.answer_to(waiting)["error"]["code"], -32_800);
    let one_more = json!({ "sessionId": SESSION, "command": "/bin/true" });
    assert_eq!(
        agent.ask("terminal/create", &one_more)["error"]["code"],
        -32_009
    );
    for method in ["output", "kill", "wait_for_exit", "output", "release"] {
        let answer = agent.ask(&format!("terminal/{method}"), &named);
        assert!(answer["result"].is_object(), "{method}: {answer}");
    }
    assert_eq!(
        agent.ask("terminal/output", &named)["error"]["code"],
        -32_002
    );
    assert_eq!(
        agent.ask("terminal/kill", &json!({}))["error"]["code"],
        -32_602
    );
    let unknown = agent.ask("terminal/write", &named);
    assert_eq!(unknown["error"]["code"], -32_601);
    let missing = json!({ "sessionId": SESSION, "command": "/bin/true", "cwd": "/not/there" });
    assert!(agent.ask("terminal/create", &missing)["error"].is_object());
    let seen = kinds(&proxy, Direction::ToAgent);
    assert_all_seen(
        &seen,
        &[
            "error -32800",
            "error -32009",
            "error -32002",
            "error -32602",
            "error -32601",
        ],
    );
    let results = seen.iter().filter(|kind| kind.starts_with("result"));
    assert!(results.count() >= 4, "{seen:#?}");
}

#[test]
fn questions_and_what_becomes_of_them() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    proxy.session(SESSION, Path::new("/"));
    let outcomes = [
        Some(json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } })),
        Some(json!({ "outcome": { "outcome": "selected", "optionId": "reject_once" } })),
        Some(json!({ "outcome": { "outcome": "cancelled" } })),
        // The question is cancelled.
        None,
    ];
    for (at, outcome) in outcomes.into_iter().enumerate() {
        let victim = daemon.path(format!("victim{at}"));
        let dangerous = json!({ "sessionId": SESSION, "command": "rm", "args": ["-rf", victim] });
        let request = proxy.agent.request("terminal/create", &dangerous);
        let question = proxy.client.wait("the question", |line| {
            line["method"] == "session/request_permission"
        });
        if let Some(outcome) = outcome {
            proxy.client.answer(&question, &outcome);
        } else {
            let params = json!({ "requestId": request });
            proxy.agent.notify("$/cancel_request", &params);
            let cancelled = |line: &Value| line["method"] == "$/cancel_request";
            proxy.client.wait("its withdrawal", cancelled);
        }
        proxy.agent.answer_to(request);
        let call = &question["params"]["toolCall"]["toolCallId"];
        proxy.client.wait("the tool call's end", |line| {
            line["params"]["update"]["toolCallId"] == *call
        });
    }
    assert_all_seen(
        &kinds(&proxy, Direction::ToClient),
        &[
            "session/request_permission",
            "session/update tool_call_update",
            "$/cancel_request",
        ],
    );
}

#[test]
fn terminals_shown_as_text() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    proxy.session(SESSION, Path::new("/"));
    show(&mut proxy, "a", "tool_call");
    show(&mut proxy, "b", "tool_call_update");
    let terminal = create(&mut proxy, "echo before the question");
    let params = json!({ "sessionId": SESSION,
        "toolCall": { "toolCallId": "c", "content": [{ "type": "terminal", "terminalId": terminal }] },
        "options": [{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }] });
    proxy.agent.request("session/request_permission", &params);
    proxy.client.wait("the question", |line| {
        line["method"] == "session/request_permission" && line.to_string().contains("\"text\"")
    });
    assert_all_seen(
        &kinds(&proxy, Direction::ToClient),
        &[
            "session/update tool_call",
            "session/update tool_call_update",
            "session/request_permission",
        ],
    );
}

#[test]
fn terminals_shown_by_meta() {
    let daemon = TestDaemon::start();
    let capabilities = json!({ "_meta": { "terminal_output": true } });
    let mut proxy = AcpProxy::start(&daemon, &[], &capabilities);
    proxy.session(SESSION, Path::new("/"));
    show(&mut proxy, "a", "tool_call");
    show(&mut proxy, "b", "tool_call_update");
    let seen = kinds(&proxy, Direction::ToClient);
    for part in ["terminal_info", "terminal_output", "terminal_exit"] {
        assert!(
            seen.iter().any(|kind| kind.contains(part)),
            "{part}: {seen:#?}"
        );
    }
}

#[test]
fn the_daemons_own_answers() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let mut ask = |method: &str, params: &Value| -> Value {
        client.send(method, params);
        let message = client.next_message();
        assert_valid(Direction::ToAgent, &message, Some(method));
        message
    };
    let script = "printf 'h\\303\\244llo\\n'; kill -9 $$";
    let params = json!({ "sessionId": SESSION, "command": "/bin/sh", "args": ["-c", script],
        "outputByteLimit": 3, "_meta": { "termd": { "confirmed": true } } });
    let created = ask("terminal/create", &params);
    let named = named(&created["result"]["terminalId"]);
    ask("terminal/output", &named);
    let exited = ask("terminal/wait_for_exit", &named);
    assert_eq!(exited["result"]["signal"], "SIGKILL");
    let output = ask("terminal/output", &named);
    assert_eq!(output["result"]["truncated"], true);
    ask("terminal/kill", &named);
    ask("terminal/release", &named);
    for params in [
        named,
        json!({}),
        json!({ "sessionId": SESSION, "terminalId": 7 }),
    ] {
        for method in ["create", "output", "wait_for_exit", "kill", "release"] {
            let answer = ask(&format!("terminal/{method}"), &params);
            assert!(answer["error"].is_object(), "{method} {params}: {answer}");
        }
    }
}
