//! An MCP client in lines of JSON.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binaries::termctl_binary;
use crate::home::Home;
use crate::process::Process;
use crate::wait::{DEADLINE, Deadline};

/// The protocol version without `initialize`.
pub const STATELESS: &str = "2026-07-28";

/// A `termctl mcp` and its messages.
#[derive(Debug)]
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Messages that no call has returned yet.
    unclaimed: VecDeque<Value>,
    next_id: u64,
    /// The client's part of `_meta` in each request, in the stateless version.
    meta: Option<Value>,
    /// The output schemas of the listed tools, once one is wanted.
    schemas: Option<HashMap<String, Value>>,
}

impl McpClient {
    /// Starts the server and sends nothing.
    pub fn spawn(home: &Home, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = home.command(termctl_binary());
        command.arg("mcp").args(arguments).envs(env.iter().copied());
        Self::spawn_command(command)
    }

    /// Starts the server by this command, a wrapper maybe, and sends nothing.
    pub fn spawn_command(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("stdout carries MCP alone: {error}: {line}"));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            unclaimed: VecDeque::new(),
            next_id: 1,
            meta: None,
            schemas: None,
        }
    }

    /// An initialized client of version 2025-11-25.
    pub fn start(home: &Home) -> Self {
        Self::start_with(home, &[], &json!({}))
    }

    /// The same with these variables and capabilities.
    pub fn start_with(home: &Home, env: &[(&str, &str)], capabilities: &Value) -> Self {
        Self::spawn(home, &[], env).initialized(capabilities)
    }

    /// Initializes it, in version 2025-11-25, with these capabilities.
    #[must_use]
    pub fn initialized(self, capabilities: &Value) -> Self {
        let mut client = self;
        let answer = client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": { "name": "a-test", "version": "1" },
            }),
        );
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        client.notify("notifications/initialized", &json!({}));
        client
    }

    /// A client of version 2026-07-28 with these capabilities.
    pub fn stateless(home: &Home, capabilities: &Value) -> Self {
        Self::stateless_with(home, &[], capabilities)
    }

    /// The same with these variables.
    pub fn stateless_with(home: &Home, env: &[(&str, &str)], capabilities: &Value) -> Self {
        let mut client = Self::spawn(home, &[], env);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "a-test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    /// The server's process.
    pub fn process(&self) -> Process {
        Process::expect(self.child.id().into())
    }

    /// Sends a line.
    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send_line(
            &json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string(),
        );
    }

    /// Sends a request: its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let mut params = params.clone();
        if let Some(meta) = &self.meta {
            for (key, value) in meta.as_object().unwrap() {
                params["_meta"][key] = value.clone();
            }
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(&request.to_string());
        id
    }

    /// The first message that passes `wanted`. Others are kept.
    #[track_caller]
    pub fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.wait_within(DEADLINE, wanted);
        found.unwrap_or_else(|| panic!("never came: {what}; there is {:#?}", self.unclaimed))
    }

    /// The same, or `None` after this time.
    pub fn wait_within(
        &mut self,
        time: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let deadline = Deadline::after(time);
        loop {
            if let Some(position) = self.unclaimed.iter().position(&wanted) {
                return self.unclaimed.remove(position);
            }
            self.unclaimed
                .push_back(self.lines.recv_timeout(deadline.left()).ok()?);
        }
    }

    /// The answer to the request with this id.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        self.wait("an answer", |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Sends a request: the answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Sends a call of a tool: the request's id.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Calls a tool: the whole result, whose text says what its structure says, in plain lines.
    #[track_caller]
    pub fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        let result = answer["result"].clone();
        assert!(result.is_object(), "{tool} {arguments}: {answer}");
        if let Some(structured) = result.get("structuredContent") {
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(!text.starts_with('{'), "{text}");
            let output = structured["output"].as_str().unwrap_or_default();
            assert!(text.contains(output.trim_end_matches('\n')), "{text}");
        }
        result
    }

    /// Calls a tool, which must succeed: the structured content, with what is left out because it is at
    /// its default by the tool's output schema.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let structured = result["structuredContent"].clone();
        self.with_defaults(tool, structured)
    }

    /// A tool's structured content with the members that are at their default.
    #[track_caller]
    pub fn with_defaults(&mut self, tool: &str, structured: Value) -> Value {
        if self.schemas.is_none() {
            let listed = self.ask("tools/list", &json!({}));
            let tools = listed["result"]["tools"].as_array().unwrap().iter();
            let schema = |it: &Value| {
                (
                    it["name"].as_str().unwrap().to_owned(),
                    it["outputSchema"].clone(),
                )
            };
            self.schemas = Some(tools.map(schema).collect());
        }
        let mut whole = structured;
        let schema = self.schemas.as_ref().and_then(|schemas| schemas.get(tool));
        let fields = schema.and_then(|schema| schema["properties"].as_object());
        for (name, field) in fields.into_iter().flatten() {
            if let (Some(default), None) = (field.get("default"), whole.get(name)) {
                whole[name] = default.clone();
            }
        }
        whole
    }

    /// Calls a tool, which must fail: the type and the message of the error.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: &Value) -> (String, String) {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let error = &result["structuredContent"]["error"];
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        (text("type"), text("message"))
    }

    /// A terminal with this command: its id.
    #[track_caller]
    pub fn create(&mut self, command: &str) -> String {
        let created = self.call("session_create", &json!({ "command": command }));
        created["session_id"].as_str().unwrap().to_owned()
    }

    /// Closes the server's stdin.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the server: how long that took, and its status.
    #[track_caller]
    pub fn wait_exit(&mut self) -> (Duration, std::process::ExitStatus) {
        let begun = Instant::now();
        self.process().wait_for_end();
        (begun.elapsed(), self.child.wait().unwrap())
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
