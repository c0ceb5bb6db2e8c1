//! One MCP server on pipes, and a plain client of it that may have many calls under way.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::launch::Launch;
use crate::place::pause;

/// The time for one answer. The slowest takes a minute.
const ANSWER_DEADLINE: Duration = Duration::from_mins(3);
/// The time that the process has to end after its input.
const EXIT_DEADLINE: Duration = Duration::from_mins(1);
/// The time between two looks at a process that is ending.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// A running server. Dropping it kills the process.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Value>,
    early: HashMap<u64, Value>,
    last_id: u64,
}

impl Server {
    /// Starts it and sends nothing.
    pub(crate) fn start(launch: &Launch) -> anyhow::Result<Self> {
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .envs(launch.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("starting {}", launch.program.display()))?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("no pipe to read from")?;
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::with_capacity(1 << 20, output).split(b'\n') {
                let parsed = line
                    .ok()
                    .and_then(|line| serde_json::from_slice(&line).ok());
                let Some(message) = parsed else { break };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let early = HashMap::new();
        Ok(Self {
            child,
            input,
            answers,
            early,
            last_id: 0,
        })
    }

    /// Starts it, and initializes it.
    pub(crate) fn ready(launch: &Launch) -> anyhow::Result<Self> {
        let mut server = Self::start(launch)?;
        server.initialize()?;
        Ok(server)
    }

    /// The first exchange of the revision of 2025.
    pub(crate) fn initialize(&mut self) -> anyhow::Result<()> {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        self.ask("initialize", &params)?;
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    /// Sends a request, and gives its result.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    /// Calls a tool, and gives its whole result.
    pub(crate) fn result(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let id = self.begin(tool, arguments)?;
        self.answer(id)
    }

    /// Calls a tool, and gives its result's facts.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let answer = self.result(tool, arguments)?;
        let text = answer["content"][0]["text"].as_str();
        let facts: Value = text
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_else(|| answer["structuredContent"].clone());
        if facts["success"] != json!(true) {
            bail!("{tool}: {answer}");
        }
        Ok(facts)
    }

    /// Begins a call without waiting for the answer.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<u64> {
        self.send("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Ends its input, and waits until it is gone.
    pub(crate) fn end_input(mut self) -> anyhow::Result<()> {
        self.input = None;
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > EXIT_DEADLINE {
                bail!("still there a minute after its input ended");
            }
            pause(LOOK_AGAIN);
        }
        Ok(())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, method: &str, params: &Value) -> anyhow::Result<u64> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    fn answer(&mut self, id: u64) -> anyhow::Result<Value> {
        loop {
            let message = match self.early.remove(&id) {
                Some(message) => message,
                None => self.answers.recv_timeout(ANSWER_DEADLINE)?,
            };
            match message["id"].as_u64() {
                Some(other) if other != id => {
                    self.early.insert(other, message);
                }
                Some(_) if message["error"].is_object() => bail!("{}", message["error"]),
                Some(_) => return Ok(message["result"].clone()),
                // A notification.
                None => {}
            }
        }
    }

    fn write(&mut self, message: &Value) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let input = self.input.as_mut().context("its input has ended")?;
        input.write_all(&line)?;
        Ok(input.flush()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
