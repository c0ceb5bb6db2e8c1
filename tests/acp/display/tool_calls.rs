//! An ACP session with tool calls, and commands whose output the test writes.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use termd_test_support::{TestDaemon, wait_until};

use crate::harness::proxy::AcpProxy;

/// The ACP session's id.
pub(super) const SESSION: &str = "s-1";

/// A proxy with a session.
pub(super) struct ToolCallSession {
    pub(super) proxy: AcpProxy,
    pub(super) daemon: TestDaemon,
    fifos: u32,
}

/// A command that prints what the test writes to it. It ends when this is dropped.
pub(super) struct Printer {
    pub(super) terminal: String,
    to: File,
}

impl Printer {
    pub(super) fn print(&mut self, text: &str) {
        self.to.write_all(text.as_bytes()).unwrap();
    }

    /// Ends the command: the terminal's id.
    pub(super) fn end(self) -> String {
        self.terminal
    }
}

impl ToolCallSession {
    pub(super) fn start(arguments: &[&str], capabilities: &Value) -> Self {
        Self::start_on(TestDaemon::start(), arguments, capabilities)
    }

    pub(super) fn start_on(daemon: TestDaemon, arguments: &[&str], capabilities: &Value) -> Self {
        let mut proxy = AcpProxy::start(&daemon, arguments, capabilities);
        proxy.session(SESSION, &daemon.user_home());
        Self {
            proxy,
            daemon,
            fifos: 0,
        }
    }

    /// Ends the proxy and keeps the daemon.
    pub(super) fn end(self) -> TestDaemon {
        let Self {
            mut proxy, daemon, ..
        } = self;
        proxy.client.close();
        proxy.wait_exit();
        daemon
    }

    /// Runs a shell script: its terminal.
    pub(super) fn sh(&mut self, script: &str) -> String {
        let params = json!({ "sessionId": SESSION, "command": "/bin/sh", "args": ["-c", script] });
        let created = self.proxy.agent.ask("terminal/create", &params);
        let terminal = created["result"]["terminalId"].as_str();
        terminal.unwrap_or_else(|| panic!("{created}")).to_owned()
    }

    /// A command that prints what the test writes, and then runs `then`.
    pub(super) fn printer(&mut self, then: &str) -> Printer {
        self.fifos += 1;
        let fifo = self.daemon.path(format!("fifo-{}", self.fifos));
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let terminal = self.sh(&format!("cat '{}'; {then}", fifo.display()));
        // Opening waits for the reader.
        let to = OpenOptions::new().write(true).open(&fifo).unwrap();
        Printer { terminal, to }
    }

    /// `terminal/METHOD` for a terminal: the result.
    pub(super) fn terminal(&mut self, method: &str, terminal: &str) -> Value {
        let params = json!({ "sessionId": SESSION, "terminalId": terminal });
        let method = format!("terminal/{method}");
        let mut answer = self.proxy.agent.ask(&method, &params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Waits until the agent can read this text from a terminal.
    pub(super) fn printed(&mut self, terminal: &str, text: &str) {
        wait_until(text, || {
            let output = self.terminal("output", terminal);
            output["output"].as_str().unwrap().contains(text)
        });
    }

    /// Sends the client an update of a tool call.
    pub(super) fn send_update(&mut self, kind: &str, call: &str, more: &Value) {
        let mut update = json!({ "sessionUpdate": kind, "toolCallId": call });
        update
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let params = json!({ "sessionId": SESSION, "update": update });
        self.proxy.agent.notify("session/update", &params);
    }

    /// The next update that the client receives.
    #[track_caller]
    pub(super) fn next(&mut self) -> Value {
        let mut line = self
            .proxy
            .client
            .wait("an update", |line| line["method"] == "session/update");
        assert_eq!(line["params"]["sessionId"], SESSION);
        line["params"]["update"].take()
    }

    /// The updates up to and with the first that passes `wanted`.
    #[track_caller]
    pub(super) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut updates = Vec::new();
        loop {
            let update = self.next();
            let is_wanted = wanted(&update);
            updates.push(update);
            if is_wanted {
                return updates;
            }
        }
    }

    /// The updates so far that the proxy itself has sent. A further update marks the end, because
    /// messages keep their order.
    pub(super) fn until_now(&mut self) -> Vec<Value> {
        self.send_update("tool_call", "fence", &json!({ "title": "fence" }));
        let mut updates = self.until(|update| update["toolCallId"] == "fence");
        updates.pop();
        updates
    }
}

/// The content entry of an embedded terminal.
pub(super) fn embedded(terminal: &str) -> Value {
    json!({ "type": "terminal", "terminalId": terminal })
}

/// The content entry of a text.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// The text of a content entry of an update.
#[track_caller]
pub(super) fn shown(update: &Value, entry: usize) -> &str {
    let text = &update["content"][entry]["content"]["text"];
    text.as_str().unwrap_or_else(|| panic!("{update:#}"))
}
