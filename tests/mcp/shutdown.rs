//! The end of stdin and SIGTERM end the MCP server at once, and no terminals but those tied to it.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, wait_until};

/// rmcp would drain for 5 s, and clients kill after 2 s. An idle process needs milliseconds.
const AT_ONCE: Duration = Duration::from_secs(1);

fn state(daemon: &TestDaemon, id: &str) -> Value {
    daemon.client().ok("session.show", &json!({ "id": id }))["state"].clone()
}

#[test]
fn the_end_of_stdin_ends_it_with_waits_pending_and_leaves_the_terminals() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let stays = client.create("cat");
    let goes = client.call(
        "session_create",
        &json!({ "command": "cat", "close_on_disconnect": true }),
    );
    let goes = goes["session_id"].as_str().unwrap().to_owned();
    client.begin(
        "session_wait_for",
        &json!({ "session_id": stays, "pattern": "never" }),
    );
    client.call("session_list", &json!({}));
    client.hang_up();
    let (time, status) = client.wait_exit();
    assert!(time < AT_ONCE, "{time:?}");
    assert!(status.success(), "{status}");
    wait_until("the tied terminal is closed", || {
        state(&daemon, &goes) == "closed"
    });
    assert_eq!(state(&daemon, &stays), "running");
}

#[test]
fn sigterm_ends_it() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let stays = client.create("cat");
    client.process().signal(Signal::TERM);
    let (time, _) = client.wait_exit();
    assert!(time < AT_ONCE, "{time:?}");
    assert_eq!(state(&daemon, &stays), "running");
}

#[test]
fn requests_piped_in_are_answered_before_it_ends() {
    let daemon = TestDaemon::start();
    let mut child = daemon
        .command(env!("CARGO_BIN_EXE_termctl"))
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "pipe", "version": "1" } } });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
    let mut stdin = child.stdin.take().unwrap();
    write!(stdin, "{initialize}\n{list}\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let result = String::from_utf8(output.stdout).unwrap();
    assert_eq!(result.lines().count(), 2, "{result}");
}

#[test]
fn settings_that_make_no_sense_are_told_before_anything_is_served() {
    let daemon = TestDaemon::start();
    let output = daemon
        .command(env!("CARGO_BIN_EXE_termctl"))
        .arg("mcp")
        .env("TERMINAL_MCP_DEFAULT_ROWS", "tall")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let result = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(result.contains("TERMINAL_MCP_DEFAULT_ROWS"), "{result}");
}
