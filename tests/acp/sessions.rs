//! Sessions: where their commands run, what they leave, and `termctl mcp` among their MCP servers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use termd_test_support::{Home, TestDaemon, wait_until};

use crate::harness::proxy::AcpProxy;

/// Where a command of this session runs that does not say where.
#[track_caller]
fn pwd(proxied: &mut AcpProxy, session: &str) -> String {
    let agent = &mut proxied.agent;
    let params = json!({ "sessionId": session, "command": "/bin/pwd" });
    let created = agent.ask("terminal/create", &params);
    let terminal = created["result"]["terminalId"].as_str();
    let terminal = terminal.unwrap_or_else(|| panic!("{created}"));
    let named = json!({ "sessionId": session, "terminalId": terminal });
    agent.ask("terminal/wait_for_exit", &named);
    let output = agent.ask("terminal/output", &named);
    agent.ask("terminal/release", &named);
    output["result"]["output"]
        .as_str()
        .unwrap()
        .trim()
        .to_owned()
}

/// Asks for a session, and lets the agent hear it.
fn asked(proxied: &mut AcpProxy, method: &str, params: &Value) -> Value {
    proxied.client.request(method, params);
    proxied.agent.wait(method, |line| line["method"] == method)
}

/// Lets the agent answer, and the client hear it.
fn answered(proxied: &mut AcpProxy, request: &Value, answer: &Value) {
    let mut line = json!({ "jsonrpc": "2.0", "id": request["id"] });
    line.as_object_mut()
        .unwrap()
        .extend(answer.as_object().unwrap().clone());
    proxied.agent.say(&line);
    proxied.client.wait("the answer", |line| {
        line["id"] == request["id"] && line.get("method").is_none()
    });
}

fn directory(daemon: &TestDaemon, name: &str) -> String {
    let path = daemon.path(name);
    std::fs::create_dir(&path).unwrap();
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_command_runs_where_its_session_works() {
    let daemon = TestDaemon::start();
    let (a, b) = (directory(&daemon, "a"), directory(&daemon, "b"));
    let mut proxied = AcpProxy::start(&daemon, &[], &json!({}));
    proxied.session("one", Path::new(&a));
    assert_eq!(pwd(&mut proxied, "one"), a);

    // Loaded and resumed sessions are known before the agent has answered: it replays first.
    for method in ["session/load", "session/resume"] {
        let params = json!({ "sessionId": method, "cwd": b, "mcpServers": [] });
        let request = asked(&mut proxied, method, &params);
        assert_eq!(pwd(&mut proxied, method), b, "{method}");
        answered(&mut proxied, &request, &json!({ "result": {} }));
        assert_eq!(pwd(&mut proxied, method), b, "{method}");
    }
    assert_eq!(pwd(&mut proxied, "one"), a);
}

#[test]
fn a_session_that_has_no_name_yet_works_where_it_was_asked_for() {
    let daemon = TestDaemon::start();
    let (a, b) = (directory(&daemon, "a"), directory(&daemon, "b"));
    let mut proxied = AcpProxy::start(&daemon, &[], &json!({}));
    proxied.session("one", Path::new(&a));
    let request = asked(
        &mut proxied,
        "session/new",
        &json!({ "cwd": b, "mcpServers": [] }),
    );
    assert_eq!(pwd(&mut proxied, "two"), b);
    assert_eq!(pwd(&mut proxied, "one"), a);
    answered(
        &mut proxied,
        &request,
        &json!({ "result": { "sessionId": "two" } }),
    );
    assert_eq!(pwd(&mut proxied, "two"), b);
}

#[test]
fn a_session_that_was_refused_is_forgotten() {
    let daemon = TestDaemon::start();
    let (a, b) = (directory(&daemon, "a"), directory(&daemon, "b"));
    let mut proxied = AcpProxy::start(&daemon, &[], &json!({}));
    proxied.session("one", Path::new(&a));
    let error = json!({ "error": { "code": -32_002, "message": "no such session" } });
    for session in ["one", "other"] {
        let params = json!({ "sessionId": session, "cwd": b, "mcpServers": [] });
        let request = asked(&mut proxied, "session/load", &params);
        answered(&mut proxied, &request, &error);
    }
    assert_eq!(pwd(&mut proxied, "one"), a);
    assert_ne!(pwd(&mut proxied, "other"), b);
}

#[test]
fn what_a_closed_session_has_left_is_released() {
    let daemon = TestDaemon::start();
    let a = directory(&daemon, "a");
    let mut proxied = AcpProxy::start(&daemon, &[], &json!({}));
    for (session, method) in [("one", "session/close"), ("two", "session/delete")] {
        proxied.session(session, Path::new(&a));
        let params = json!({ "sessionId": session, "command": "sleep", "args": ["600"] });
        let created = proxied.agent.ask("terminal/create", &params);
        assert!(created["result"]["terminalId"].is_string(), "{created}");
        let request = asked(&mut proxied, method, &json!({ "sessionId": session }));
        assert_eq!(
            daemon.client().ok("session.list", &json!({}))["terminals"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        answered(&mut proxied, &request, &json!({ "result": {} }));
        wait_until("its terminal to be gone", || {
            let listed = daemon.client().ok("session.list", &json!({}));
            listed["terminals"].as_array().unwrap().is_empty()
        });
    }
}

/// Asks for a session with these params; what the agent hears of its MCP servers, raw.
fn servers_heard(proxied: &mut AcpProxy, method: &str, params: &str) -> String {
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n");
    proxied.client.write(line.as_bytes());
    String::from_utf8(proxied.agent.raw().unwrap()).unwrap()
}

/// A proxy whose two ends have agreed on a version, the agent with these capabilities.
fn agreed(home: &Home, arguments: &[&str], version: u64, result: &Value) -> AcpProxy {
    let mut proxied = AcpProxy::spawn(home, arguments);
    let params = json!({ "protocolVersion": version });
    let id = proxied.client.request("initialize", &params);
    proxied
        .agent
        .wait("initialize", |line| line["method"] == "initialize");
    proxied.agent.answer(&json!({ "id": id }), result);
    proxied.client.answer_to(id);
    proxied
}

#[test]
fn the_mcp_server_is_added_and_nothing_else_is_touched() {
    let home = TestDaemon::start();
    let v1 = json!({ "protocolVersion": 1 });
    let v2 =
        json!({ "protocolVersion": 2, "capabilities": { "session": { "mcp": { "stdio": {} } } } });
    let v2_without = json!({ "protocolVersion": 2, "capabilities": { "session": { "mcp": {} } } });
    for (version, result, is_added) in [(1, v1, true), (2, v2, true), (2, v2_without, false)] {
        let mut proxied = agreed(&home, &["--session-mcp"], version, &result);
        for method in [
            "session/new",
            "session/load",
            "session/resume",
            "session/fork",
        ] {
            let table = [
                (
                    r#"{"cwd":"/tmp", "sessionId":"s","mcpServers" : [ ]}"#,
                    r#"{"cwd":"/tmp", "sessionId":"s","mcpServers" : [ @]}"#,
                ),
                (
                    r#"{"sessionId":"s","mcpServers":[{"name":"a","command":"/\u0062","args":[],"env":[]}], "cwd":"/"}"#,
                    r#"{"sessionId":"s","mcpServers":[{"name":"a","command":"/\u0062","args":[],"env":[]},@], "cwd":"/"}"#,
                ),
                (
                    r#"{"sessionId":"s","cwd":"/","_meta":{"x":1.0}}"#,
                    r#"{"mcpServers":[@],"sessionId":"s","cwd":"/","_meta":{"x":1.0}}"#,
                ),
                (
                    r#"{"sessionId":"s","cwd":"/","mcpServers":null}"#,
                    r#"{"sessionId":"s","cwd":"/","mcpServers":[@]}"#,
                ),
            ];
            for (params, want) in table {
                let heard = servers_heard(&mut proxied, method, params);
                let envelope = |params: &str| {
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n"
                    )
                };
                if !is_added {
                    assert_eq!(heard, envelope(params));
                    continue;
                }
                let (before, after) = want.split_once('@').unwrap();
                let (before, after) = (
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{before}"
                    ),
                    format!("{after}}}\n"),
                );
                let added = heard
                    .strip_prefix(&before)
                    .and_then(|rest| rest.strip_suffix(&after));
                let added: Value =
                    serde_json::from_str(added.unwrap_or_else(|| panic!("{heard}"))).unwrap();
                assert_eq!(added["name"], "termd");
                assert_eq!(added["command"], env!("CARGO_BIN_EXE_termctl"));
                assert_eq!(added["args"], json!(["mcp"]));
                assert_eq!(added.get("type"), (version == 2).then_some(&json!("stdio")));
            }
            let named =
                r#"{"sessionId":"s","cwd":"/","mcpServers":[{"name":"termd","command":"/x"}]}"#;
            for params in [named, r#"{"sessionId":"s","mcpServers":"none"}"#, "[]"] {
                assert!(servers_heard(&mut proxied, method, params).contains(params));
            }
        }
        let other = servers_heard(&mut proxied, "session/prompt", r#"{"mcpServers":[]}"#);
        assert!(other.contains(r#""mcpServers":[]"#), "{other}");
    }
    let mut without = agreed(&home, &[], 1, &json!({ "protocolVersion": 1 }));
    let params = r#"{"cwd":"/","mcpServers":[]}"#;
    assert!(servers_heard(&mut without, "session/new", params).contains(params));
}

#[test]
fn the_added_mcp_server_starts_and_reaches_the_same_daemon() {
    let daemon = TestDaemon::start();
    let mut proxied = agreed(
        &daemon,
        &["--session-mcp"],
        1,
        &json!({ "protocolVersion": 1 }),
    );
    let heard = servers_heard(
        &mut proxied,
        "session/new",
        r#"{"cwd":"/","mcpServers":[]}"#,
    );
    let heard: Value = serde_json::from_str(&heard).unwrap();
    let server = &heard["params"]["mcpServers"][0];

    // As an agent starts it: with little more than what it is told to set.
    let mut command = Command::new(server["command"].as_str().unwrap());
    command.args(
        server["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap()),
    );
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", daemon.user_home());
    for variable in server["env"].as_array().unwrap() {
        command.env(
            variable["name"].as_str().unwrap(),
            variable["value"].as_str().unwrap(),
        );
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        writeln!(
            stdin,
            "{}",
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
        )
        .unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
        answer
    };
    let initialized = ask(
        1,
        "initialize",
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "an-agent", "version": "1" },
        }),
    );
    assert!(
        initialized["result"]["serverInfo"].is_object(),
        "{initialized}"
    );
    let created = ask(
        2,
        "tools/call",
        json!({ "name": "session_create", "arguments": { "command": "/bin/sh" } }),
    );
    assert_ne!(created["result"]["isError"], true, "{created}");
    let listed = daemon.client().ok("session.list", &json!({}));
    assert_eq!(listed["terminals"].as_array().unwrap().len(), 1, "{listed}");
    drop(stdin);
    child.wait().unwrap();
}
