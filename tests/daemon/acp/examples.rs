//! Every example of ACP's page "Terminals", verbatim but for the terminal's id, which the daemon
//! chooses.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use termd_test_support::{Home, RawClient, TestDaemon, is_root, skip};

const CREATE: &str = r#"{
  "jsonrpc": "2.0",
  "id": 5,
  "method": "terminal/create",
  "params": {
    "sessionId": "sess_abc123def456",
    "command": "npm",
    "args": ["test", "--coverage"],
    "env": [
      {
        "name": "NODE_ENV",
        "value": "test"
      }
    ],
    "cwd": "/home/user/project",
    "outputByteLimit": 1048576
  }
}"#;
const CREATED: &str = r#"{
  "jsonrpc": "2.0",
  "id": 5,
  "result": {
    "terminalId": "term_xyz789"
  }
}"#;
const UPDATE: &str = r#"{
  "jsonrpc": "2.0",
  "method": "session/update",
  "params": {
    "sessionId": "sess_abc123def456",
    "update": {
      "sessionUpdate": "tool_call",
      "toolCallId": "call_002",
      "title": "Running tests",
      "kind": "execute",
      "status": "in_progress",
      "content": [
        {
          "type": "terminal",
          "terminalId": "term_xyz789"
        }
      ]
    }
  }
}"#;
const OUTPUT: &str = r#"{
  "jsonrpc": "2.0",
  "id": 6,
  "method": "terminal/output",
  "params": {
    "sessionId": "sess_abc123def456",
    "terminalId": "term_xyz789"
  }
}"#;
const OUTPUT_ANSWER: &str = r#"{
  "jsonrpc": "2.0",
  "id": 6,
  "result": {
    "output": "Running tests...\n✓ All tests passed (42 total)\n",
    "truncated": false,
    "exitStatus": {
      "exitCode": 0,
      "signal": null
    }
  }
}"#;
const WAIT: &str = r#"{
  "jsonrpc": "2.0",
  "id": 7,
  "method": "terminal/wait_for_exit",
  "params": {
    "sessionId": "sess_abc123def456",
    "terminalId": "term_xyz789"
  }
}"#;
const WAIT_ANSWER: &str = r#"{
  "jsonrpc": "2.0",
  "id": 7,
  "result": {
    "exitCode": 0,
    "signal": null
  }
}"#;
const KILL: &str = r#"{
  "jsonrpc": "2.0",
  "id": 8,
  "method": "terminal/kill",
  "params": {
    "sessionId": "sess_abc123def456",
    "terminalId": "term_xyz789"
  }
}"#;
const KILL_ANSWER: &str = r#"{
  "jsonrpc": "2.0",
  "id": 8,
  "result": {}
}"#;
const RELEASE: &str = r#"{
  "jsonrpc": "2.0",
  "id": 9,
  "method": "terminal/release",
  "params": {
    "sessionId": "sess_abc123def456",
    "terminalId": "term_xyz789"
  }
}"#;
const RELEASE_ANSWER: &str = r#"{
  "jsonrpc": "2.0",
  "id": 9,
  "result": {}
}"#;

/// The page's terminal id. The daemon's own id replaces it.
const PAGE_ID: &str = "term_xyz789";

/// The page's `npm`. It fails unless the page's request reached it unchanged.
const NPM: &str = r#"#!/bin/sh
[ "$*" = "test --coverage" ] && [ "$NODE_ENV" = test ] && [ "$PWD" = /home/user/project ] || exit 9
echo "Running tests..."
[ -z "$NPM_WAITS" ] || read -r go
echo "✓ All tests passed (42 total)"
"#;

/// The page's directory. It is created for a test and removed after it, one test at a time.
struct ProjectDirectory {
    created: Vec<&'static str>,
    _turn: MutexGuard<'static, ()>,
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl ProjectDirectory {
    /// Creates the directory. Where that needs root it prints why the test is skipped.
    fn create() -> Option<Self> {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut created = Vec::new();
        for folder in ["/home/user", "/home/user/project"] {
            if !Path::new(folder).is_dir() {
                if fs::create_dir_all(folder).is_err() {
                    assert!(!is_root());
                    skip(
                        "acp_examples",
                        "/home/user/project cannot be created without root",
                    );
                    return None;
                }
                created.push(folder);
            }
        }
        Some(Self {
            created,
            _turn: turn,
        })
    }
}

impl Drop for ProjectDirectory {
    fn drop(&mut self) {
        for folder in self.created.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// An example as one line, with this terminal's id.
fn line(example: &str, id: &str) -> String {
    example.replace('\n', " ").replace(PAGE_ID, id) + "\n"
}

/// Sends an example and compares the answer with the page's, apart from `_meta`.
#[track_caller]
fn check(client: &mut RawClient, request: &str, answer: &str, id: &str) {
    client.send_raw(line(request, id).as_bytes());
    let mut result: Value = serde_json::from_str(&client.read_line()).unwrap();
    if let Some(result) = result["result"].as_object_mut() {
        result.remove("_meta");
    }
    let expected: Value = serde_json::from_str(&line(answer, id)).unwrap();
    assert_eq!(result, expected);
}

/// Sends the page's `terminal/create`: the id in the answer.
#[track_caller]
fn create(client: &mut RawClient) -> String {
    client.send_raw(line(CREATE, PAGE_ID).as_bytes());
    let mut answer: Value = serde_json::from_str(&client.read_line()).unwrap();
    let id = answer["result"]["terminalId"]
        .as_str()
        .expect("a terminalId")
        .to_owned();
    answer["result"]["terminalId"] = json!(PAGE_ID);
    let expected: Value = serde_json::from_str(CREATED).unwrap();
    assert_eq!(answer, expected);
    id
}

#[test]
fn every_example_on_the_page_works_verbatim() {
    let Some(_directory) = ProjectDirectory::create() else {
        return;
    };
    let home = Home::create();
    home.install("npm", NPM);
    let daemon = TestDaemon::start_in(home);
    let mut client = daemon.client();

    let id = create(&mut client);
    client.send_raw(line(UPDATE, &id).as_bytes());
    check(&mut client, WAIT, WAIT_ANSWER, &id);
    check(&mut client, OUTPUT, OUTPUT_ANSWER, &id);
    check(&mut client, KILL, KILL_ANSWER, &id);
    check(&mut client, OUTPUT, OUTPUT_ANSWER, &id);
    check(&mut client, WAIT, WAIT_ANSWER, &id);
    check(&mut client, RELEASE, RELEASE_ANSWER, &id);
    for request in [OUTPUT, WAIT, KILL, RELEASE] {
        client.send_raw(line(request, &id).as_bytes());
        let answer: Value = serde_json::from_str(&client.read_line()).unwrap();
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
}

/// The page's "Building a Timeout": a wait and a timer race, then kill, output and release.
#[test]
fn the_timeout_recipe_on_the_page_works() {
    let Some(_directory) = ProjectDirectory::create() else {
        return;
    };
    let home = Home::create();
    home.install("npm", NPM);
    let daemon = TestDaemon::start_with(home, &[("NPM_WAITS", "yes")]);
    let mut client = daemon.client();

    let id = create(&mut client);
    client.wait_for_text(&id, "Running tests...");
    client.send_raw(line(WAIT, &id).as_bytes());
    client.send_raw(line(KILL, &id).as_bytes());
    let answers = [client.next_message(), client.next_message()];
    let by_id = |id: u64| {
        answers
            .iter()
            .find(|answer| answer["id"] == id)
            .expect("both answers")
    };
    assert_eq!(by_id(8)["result"], json!({}));
    assert_eq!(
        by_id(7)["result"],
        json!({ "exitCode": null, "signal": "SIGTERM" })
    );

    client.send_raw(line(OUTPUT, &id).as_bytes());
    let result: Value = serde_json::from_str(&client.read_line()).unwrap();
    assert_eq!(result["result"]["output"], "Running tests...\n");
    assert_eq!(
        result["result"]["exitStatus"],
        json!({ "exitCode": null, "signal": "SIGTERM" })
    );
    check(&mut client, RELEASE, RELEASE_ANSWER, &id);
}

#[test]
fn a_running_command_has_no_exit_status() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo so far; read go");
    agent.wait_for_text(&id, "so far");
    let result = agent.output(&id);
    assert_eq!(result["output"], "so far\n");
    assert_eq!(result["truncated"], false);
    assert_eq!(result["exitStatus"], Value::Null);
}
