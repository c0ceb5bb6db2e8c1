//! A session in which tool calls are told of, and commands that print what the test says.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use termd_test_support::{TestDaemon, wait_until};

use crate::harness::proxy::AcpProxy;

/// The ACP session.
pub(super) const SESSION: &str = "s-1";

/// A proxy in a session.
pub(super) struct ToolCallSession {
    pub(super) proxied: AcpProxy,
    pub(super) daemon: TestDaemon,
    fifos: u32,
}

/// A command that prints what is written here, and ends when this does.
pub(super) struct Printer {
    pub(super) terminal: String,
    to: File,
}

impl Printer {
    pub(super) fn print(&mut self, text: &str) {
        self.to.write_all(text.as_bytes()).unwrap();
    }

    /// Ends; the terminal's id.
    pub(super) fn end(self) -> String {
        self.terminal
    }
}

impl ToolCallSession {
    pub(super) fn start(arguments: &[&str], capabilities: &Value) -> Self {
        Self::start_on(TestDaemon::start(), arguments, capabilities)
    }

    pub(super) fn start_on(daemon: TestDaemon, arguments: &[&str], capabilities: &Value) -> Self {
        let mut proxied = AcpProxy::start(&daemon, arguments, capabilities);
        proxied.session(SESSION, &daemon.user_home());
        Self {
            proxied,
            daemon,
            fifos: 0,
        }
    }

    /// Ends the proxy; the daemon goes on.
    pub(super) fn end(self) -> TestDaemon {
        let Self {
            mut proxied,
            daemon,
            ..
        } = self;
        proxied.client.close();
        proxied.wait_exit();
        daemon
    }

    /// What runs a shell script; its terminal.
    pub(super) fn sh(&mut self, script: &str) -> String {
        let params = json!({ "sessionId": SESSION, "command": "/bin/sh", "args": ["-c", script] });
        let created = self.proxied.agent.ask("terminal/create", &params);
        let terminal = created["result"]["terminalId"].as_str();
        terminal.unwrap_or_else(|| panic!("{created}")).to_owned()
    }

    /// A command that prints what the test says, and then does this.
    pub(super) fn printer(&mut self, then: &str) -> Printer {
        self.fifos += 1;
        let fifo = self.daemon.path(format!("fifo-{}", self.fifos));
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let terminal = self.sh(&format!("cat '{}'; {then}", fifo.display()));
        // Waits for the reader.
        let to = OpenOptions::new().write(true).open(&fifo).unwrap();
        Printer { terminal, to }
    }

    /// `terminal/METHOD` of a terminal; the result.
    pub(super) fn terminal(&mut self, method: &str, terminal: &str) -> Value {
        let params = json!({ "sessionId": SESSION, "terminalId": terminal });
        let method = format!("terminal/{method}");
        let mut answer = self.proxied.agent.ask(&method, &params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Waits until a terminal's output holds this, as the agent sees it.
    pub(super) fn printed(&mut self, terminal: &str, text: &str) {
        wait_until(text, || {
            let output = self.terminal("output", terminal);
            output["output"].as_str().unwrap().contains(text)
        });
    }

    /// The agent tells of a tool call.
    pub(super) fn tell(&mut self, kind: &str, call: &str, more: &Value) {
        let mut update = json!({ "sessionUpdate": kind, "toolCallId": call });
        update
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let params = json!({ "sessionId": SESSION, "update": update });
        self.proxied.agent.notify("session/update", &params);
    }

    /// The next update that the client is sent, whosever it is.
    #[track_caller]
    pub(super) fn next(&mut self) -> Value {
        let mut line = self
            .proxied
            .client
            .wait("an update", |line| line["method"] == "session/update");
        assert_eq!(line["params"]["sessionId"], SESSION);
        line["params"]["update"].take()
    }

    /// The updates up to the first that is wanted, which is the last of them.
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

    /// What the client was sent until now, and the agent has not said: a message passes all the way
    /// to tell.
    pub(super) fn until_now(&mut self) -> Vec<Value> {
        self.tell("tool_call", "fence", &json!({ "title": "fence" }));
        let mut updates = self.until(|update| update["toolCallId"] == "fence");
        updates.pop();
        updates
    }
}

/// A terminal, as an agent embeds it.
pub(super) fn embedded(terminal: &str) -> Value {
    json!({ "type": "terminal", "terminalId": terminal })
}

/// Text, as an agent adds it.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// The text of an entry of an update's content.
#[track_caller]
pub(super) fn shown(update: &Value, entry: usize) -> &str {
    let text = &update["content"][entry]["content"]["text"];
    text.as_str().unwrap_or_else(|| panic!("{update:#}"))
}
