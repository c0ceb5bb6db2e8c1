//! The example agent, which gives each command a timeout, with a client and `termctl acp`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use termd_test_support::{DEADLINE, TestDaemon};

use crate::harness::proxy::{records, wait_until_nothing_is_left};

/// The path of the example agent, which is built if it is missing.
fn example() -> PathBuf {
    let termctl = PathBuf::from(env!("CARGO_BIN_EXE_termctl"));
    let built = termctl.with_file_name("examples").join("acp_agent");
    if !built.exists() {
        let target = termctl.parent().and_then(std::path::Path::parent).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--package",
            "termctl",
            "--example",
            "acp_agent",
            "--target-dir",
        ]);
        let status = cargo.arg(target).status().unwrap();
        assert!(
            status.success(),
            "cargo build --example acp_agent: {status}"
        );
    }
    built
}

/// A client of the example agent.
struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Value>,
    last_id: u64,
    /// The agent's text so far.
    printed: String,
}

impl Client {
    fn start(daemon: &TestDaemon, timeout_ms: &str) -> Self {
        let mut child = daemon
            .command(env!("CARGO_BIN_EXE_termctl"))
            .args(["acp", "--"])
            .arg(example())
            .arg(timeout_ms)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self {
            child,
            stdin: to,
            lines,
            last_id: 0,
            printed: String::new(),
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message. The agent's text is collected.
    #[track_caller]
    fn next(&mut self) -> Value {
        let message = self.lines.recv_timeout(DEADLINE).expect("a message");
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            self.printed += update["content"]["text"].as_str().unwrap();
        }
        message
    }

    #[track_caller]
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }
}

#[test]
fn each_prompt_runs_with_a_timeout() {
    let daemon = TestDaemon::start();
    let mut client = Client::start(&daemon, "1500");
    let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    assert_eq!(client.ask("initialize", &params)["protocolVersion"], 1);
    let params = json!({ "cwd": daemon.user_home(), "mcpServers": [] });
    let session = client.ask("session/new", &params)["sessionId"].clone();
    let home = format!("{}\nexit code 0\n", daemon.user_home().display());
    for (command, expected) in [
        ("echo quick; exit 2", "quick\nexit code 2\n"),
        ("echo slow; sleep 1000", "slow\nkilled after 1.5s\n"),
        ("kill -KILL $$ || true", "not run: "),
        ("pwd", &home),
    ] {
        let prompt = json!([{ "type": "text", "text": command }]);
        let params = json!({ "sessionId": session, "prompt": prompt });
        let prompted = client.request("session/prompt", &params);
        if expected.starts_with("not run") {
            let question = loop {
                let message = client.next();
                if message["method"] == "session/request_permission" {
                    break message;
                }
            };
            let rejected =
                json!({ "outcome": { "outcome": "selected", "optionId": "reject_once" } });
            client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": rejected }));
        }
        assert_eq!(client.answer(prompted)["stopReason"], "end_turn");
        let output = std::mem::take(&mut client.printed);
        assert!(output.starts_with(expected), "{command}: {output}");
    }
    // Cancelling a turn ends its command.
    let prompt = json!([{ "type": "text", "text": "sleep 1000" }]);
    let params = json!({ "sessionId": session, "prompt": prompt });
    let prompted = client.request("session/prompt", &params);
    while client.next()["params"]["update"]["sessionUpdate"] != "tool_call" {}
    let cancel = json!({ "sessionId": session });
    client.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel }));
    assert_eq!(client.answer(prompted)["stopReason"], "cancelled");
    wait_until_nothing_is_left(&daemon);
    assert_eq!(records(&daemon, "terminal.release").len(), 4);
    drop(client.stdin);
    assert!(client.child.wait().unwrap().success());
}
