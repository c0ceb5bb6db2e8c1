//! A small ACP agent: it runs each prompt as a command in the client's terminal, and gives it so
//! much time. It is the timeout of ACP's page "Terminals", and of nothing but its methods:
//! `terminal/create`; a timer, which `terminal/wait_for_exit` races; where the timer is first,
//! `terminal/kill`, which leaves the terminal be; `terminal/output`, whole now; `terminal/release`.
//!
//! Try it with any ACP client, with terminals of its own or without; the time is in milliseconds:
//!
//! ```sh
//! cargo build --package termctl --example acp_agent
//! termctl acp -- target/debug/examples/acp_agent 10000
//! ```

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;
/// What is to be said of a command, and the turn's stop reason.
type Ran = (String, &'static str);

/// The client, which is spoken to on standard input and output, a line each message.
struct Client {
    lines: Receiver<Value>,
    set_aside: VecDeque<Value>,
    last_id: u64,
}

/// What came first.
#[derive(PartialEq)]
enum First {
    Exit,
    Timer,
    Cancel,
}

impl Client {
    fn say(message: &Value) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{message}")?;
        stdout.flush()
    }

    fn update(session: &Value, update: &Value) -> io::Result<()> {
        Self::say(&json!({ "jsonrpc": "2.0", "method": "session/update",
            "params": { "sessionId": session, "update": update } }))
    }

    /// Sends a request; its id.
    fn send(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.last_id += 1;
        let id = self.last_id;
        Self::say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    /// Waits for the answer to a request; it may have come while another one was waited for.
    fn answer(&mut self, id: u64) -> Outcome<Value> {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        let mut answer = None;
        if let Some(at) = self.set_aside.iter().position(is_it) {
            answer = self.set_aside.remove(at);
        }
        let answer = loop {
            match answer.map_or_else(|| self.lines.recv(), Ok)? {
                message if is_it(&message) => break message,
                message => self.set_aside.push_back(message),
            }
            answer = None;
        };
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap_or("an error").into()),
            None => Ok(answer["result"].clone()),
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    /// The race: the answer to `wait`, the timer, or `session/cancel`.
    fn race(&mut self, wait: u64, deadline: Instant) -> Outcome<First> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = match self.lines.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Ok(First::Timer),
                Err(gone @ RecvTimeoutError::Disconnected) => return Err(gone.into()),
            };
            if message["id"] == wait && message.get("method").is_none() {
                return Ok(First::Exit);
            }
            if message["method"] == "session/cancel" {
                return Ok(First::Cancel);
            }
            self.set_aside.push_back(message);
        }
    }

    /// Runs a command, and ends it after `timeout`.
    fn run(&mut self, session: &Value, command: &str, timeout: Duration) -> Outcome<Ran> {
        let params = json!({ "sessionId": session, "command": command });
        let created = self.ask("terminal/create", &params)?;
        let terminal = &created["terminalId"];
        // The person sees it while it runs, and after.
        Self::update(
            session,
            &json!({ "sessionUpdate": "tool_call", "toolCallId": terminal, "title": command,
                "kind": "execute", "status": "in_progress",
                "content": [{ "type": "terminal", "terminalId": terminal }] }),
        )?;
        let named = json!({ "sessionId": session, "terminalId": terminal });
        let deadline = Instant::now() + timeout;
        let wait = self.send("terminal/wait_for_exit", &named)?;
        let first = self.race(wait, deadline)?;
        if first != First::Exit {
            self.ask("terminal/kill", &named)?;
            self.answer(wait)?;
        }
        let output = self.ask("terminal/output", &named)?;
        let exit = &output["exitStatus"];
        let (code, signal) = (&exit["exitCode"], &exit["signal"]);
        let (status, reason, how) = match first {
            First::Exit if signal.is_null() => {
                ("completed", "end_turn", format!("exit code {code}"))
            }
            First::Exit => ("completed", "end_turn", format!("ended by {signal}")),
            First::Timer => ("failed", "end_turn", format!("killed after {timeout:?}")),
            First::Cancel => ("failed", "cancelled", "cancelled".to_owned()),
        };
        let update = "tool_call_update";
        let ended = json!({ "sessionUpdate": update, "toolCallId": terminal, "status": status });
        Self::update(session, &ended)?;
        // Also where something above went wrong, in an agent that lives longer than this one.
        self.ask("terminal/release", &named)?;
        let output = output["output"].as_str().unwrap_or_default();
        Ok((format!("{output}{how}\n"), reason))
    }

    /// One message of the client's.
    fn take(&mut self, message: &Value, timeout: Duration) -> io::Result<()> {
        let (id, params) = (&message["id"], &message["params"]);
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": {},
                "agentInfo": { "name": "acp_agent", "version": env!("CARGO_PKG_VERSION") },
                "authMethods": [] }),
            Some("session/new") => json!({ "sessionId": "session-1" }),
            Some("session/prompt") => {
                let session = &params["sessionId"];
                let command = params["prompt"][0]["text"].as_str().unwrap_or_default();
                let (text, reason) = self
                    .run(session, command, timeout)
                    .unwrap_or_else(|error| (format!("not run: {error}\n"), "end_turn"));
                let content = json!({ "type": "text", "text": text });
                let said = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                Self::update(session, &said)?;
                json!({ "stopReason": reason })
            }
            None => return Ok(()),
            Some(_) if id.is_null() => return Ok(()),
            Some(_) => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                return Self::say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
        };
        Self::say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }
}

fn main() -> Outcome<()> {
    let argument = std::env::args()
        .nth(1)
        .ok_or("how long may a command run, in milliseconds?")?;
    let timeout = Duration::from_millis(argument.parse()?);
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        let messages = io::stdin().lock().lines().map_while(Result::ok);
        for message in messages.filter_map(|line| serde_json::from_str(&line).ok()) {
            if tell.send(message).is_err() {
                return;
            }
        }
    });
    let mut client = Client {
        lines,
        set_aside: VecDeque::new(),
        last_id: 0,
    };
    loop {
        let kept = client.set_aside.pop_front();
        let Some(message) = kept.or_else(|| client.lines.recv().ok()) else {
            return Ok(());
        };
        client.take(&message, timeout)?;
    }
}
