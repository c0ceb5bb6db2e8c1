//! Sessions: the directories of their commands, what they leave, and `termctl mcp` among their MCP
//! servers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use termd_test_support::{Home, TestDaemon, wait_until};

use crate::harness::proxy::AcpProxy;

/// The directory of a command of this session without a `cwd`.
#[track_caller]
fn pwd(proxy: &mut AcpProxy, session: &str) -> String {
    let agent = &mut proxy.agent;
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

/// Sends a request of the client and waits until the agent has it.
fn forward_request(proxy: &mut AcpProxy, method: &str, params: &Value) -> Value {
    proxy.client.request(method, params);
    proxy.agent.wait(method, |line| line["method"] == method)
}

/// Sends the agent's answer and waits until the client has it.
fn forward_answer(proxy: &mut AcpProxy, request: &Value, answer: &Value) {
    let mut line = json!({ "jsonrpc": "2.0", "id": request["id"] });
    line.as_object_mut()
        .unwrap()
        .extend(answer.as_object().unwrap().clone());
    proxy.agent.send(&line);
    proxy.client.wait("the answer", |line| {
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
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    proxy.session("one", Path::new(&a));
    assert_eq!(pwd(&mut proxy, "one"), a);

    // A loaded or resumed session is known before the agent answers, because the agent replays it
    // first.
    for method in ["session/load", "session/resume"] {
        let params = json!({ "sessionId": method, "cwd": b, "mcpServers": [] });
        let request = forward_request(&mut proxy, method, &params);
        assert_eq!(pwd(&mut proxy, method), b, "{method}");
        forward_answer(&mut proxy, &request, &json!({ "result": {} }));
        assert_eq!(pwd(&mut proxy, method), b, "{method}");
    }
    assert_eq!(pwd(&mut proxy, "one"), a);
}

#[test]
fn a_session_that_has_no_name_yet_works_where_it_was_asked_for() {
    let daemon = TestDaemon::start();
    let (a, b) = (directory(&daemon, "a"), directory(&daemon, "b"));
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    proxy.session("one", Path::new(&a));
    let request = forward_request(
        &mut proxy,
        "session/new",
        &json!({ "cwd": b, "mcpServers": [] }),
    );
    assert_eq!(pwd(&mut proxy, "two"), b);
    assert_eq!(pwd(&mut proxy, "one"), a);
    forward_answer(
        &mut proxy,
        &request,
        &json!({ "result": { "sessionId": "two" } }),
    );
    assert_eq!(pwd(&mut proxy, "two"), b);
}

#[test]
fn a_session_that_was_refused_is_forgotten() {
    let daemon = TestDaemon::start();
    let (a, b) = (directory(&daemon, "a"), directory(&daemon, "b"));
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    proxy.session("one", Path::new(&a));
    let error = json!({ "error": { "code": -32_002, "message": "no such session" } });
    for session in ["one", "other"] {
        let params = json!({ "sessionId": session, "cwd": b, "mcpServers": [] });
        let request = forward_request(&mut proxy, "session/load", &params);
        forward_answer(&mut proxy, &request, &error);
    }
    assert_eq!(pwd(&mut proxy, "one"), a);
    assert_ne!(pwd(&mut proxy, "other"), b);
}

#[test]
fn what_a_closed_session_has_left_is_released() {
    let daemon = TestDaemon::start();
    let a = directory(&daemon, "a");
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    for (session, method) in [("one", "session/close"), ("two", "session/delete")] {
        proxy.session(session, Path::new(&a));
        let params = json!({ "sessionId": session, "command": "sleep", "args": ["600"] });
        let created = proxy.agent.ask("terminal/create", &params);
        assert!(created["result"]["terminalId"].is_string(), "{created}");
        let request = forward_request(&mut proxy, method, &json!({ "sessionId": session }));
        assert_eq!(
            daemon.client().ok("session.list", &json!({}))["terminals"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        forward_answer(&mut proxy, &request, &json!({ "result": {} }));
        wait_until("its terminal to be gone", || {
            let listed = daemon.client().ok("session.list", &json!({}));
            listed["terminals"].as_array().unwrap().is_empty()
        });
    }
}

/// Creates a session with these params: the MCP servers that the agent receives, raw.
fn servers_for_agent(proxy: &mut AcpProxy, method: &str, params: &str) -> String {
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n");
    proxy.client.write(line.as_bytes());
    String::from_utf8(proxy.agent.raw().unwrap()).unwrap()
}

/// A proxy with this protocol version and these capabilities of the agent.
fn initialized(home: &Home, arguments: &[&str], version: u64, result: &Value) -> AcpProxy {
    let mut proxy = AcpProxy::spawn(home, arguments);
    let params = json!({ "protocolVersion": version });
    let id = proxy.client.request("initialize", &params);
    proxy
        .agent
        .wait("initialize", |line| line["method"] == "initialize");
    proxy.agent.answer(&json!({ "id": id }), result);
    proxy.client.answer_to(id);
    proxy
}

#[test]
fn the_mcp_server_is_added_and_nothing_else_is_touched() {
    let home = TestDaemon::start();
    let v1 = json!({ "protocolVersion": 1 });
    let v2 =
        json!({ "protocolVersion": 2, "capabilities": { "session": { "mcp": { "stdio": {} } } } });
    let v2_without = json!({ "protocolVersion": 2, "capabilities": { "session": { "mcp": {} } } });
    for (version, result, is_added) in [(1, v1, true), (2, v2, true), (2, v2_without, false)] {
        let mut proxy = initialized(&home, &["--session-mcp"], version, &result);
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
                let servers = servers_for_agent(&mut proxy, method, params);
                let envelope = |params: &str| {
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n"
                    )
                };
                if !is_added {
                    assert_eq!(servers, envelope(params));
                    continue;
                }
                let (before, after) = want.split_once('@').unwrap();
                let (before, after) = (
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{before}"
                    ),
                    format!("{after}}}\n"),
                );
                let added = servers
                    .strip_prefix(&before)
                    .and_then(|rest| rest.strip_suffix(&after));
                let added: Value =
                    serde_json::from_str(added.unwrap_or_else(|| panic!("{servers}"))).unwrap();
                assert_eq!(added["name"], "termd");
                assert_eq!(added["command"], env!("CARGO_BIN_EXE_termctl"));
                assert_eq!(added["args"], json!(["mcp"]));
                assert_eq!(added.get("type"), (version == 2).then_some(&json!("stdio")));
            }
            let named =
                r#"{"sessionId":"s","cwd":"/","mcpServers":[{"name":"termd","command":"/x"}]}"#;
            for params in [named, r#"{"sessionId":"s","mcpServers":"none"}"#, "[]"] {
                assert!(servers_for_agent(&mut proxy, method, params).contains(params));
            }
        }
        let other = servers_for_agent(&mut proxy, "session/prompt", r#"{"mcpServers":[]}"#);
        assert!(other.contains(r#""mcpServers":[]"#), "{other}");
    }
    let mut without = initialized(&home, &[], 1, &json!({ "protocolVersion": 1 }));
    let params = r#"{"cwd":"/","mcpServers":[]}"#;
    assert!(servers_for_agent(&mut without, "session/new", params).contains(params));
}

#[test]
fn the_added_mcp_server_starts_and_reaches_the_same_daemon() {
    let daemon = TestDaemon::start();
    let mut proxy = initialized(
        &daemon,
        &["--session-mcp"],
        1,
        &json!({ "protocolVersion": 1 }),
    );
    let servers = servers_for_agent(&mut proxy, "session/new", r#"{"cwd":"/","mcpServers":[]}"#);
    let servers: Value = serde_json::from_str(&servers).unwrap();
    let server = &servers["params"]["mcpServers"][0];

    // The environment of an agent's MCP server: little more than the listed variables.
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
