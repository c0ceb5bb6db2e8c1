//! A program in a terminal of its own, driven by one of the sets as an agent does.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::McpClient;

use super::scenario::{State, Step, Typed};

/// How long a line is read for until things stand as expected, beside the time that its program takes.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long an answer may take at all. The longest default timeout of a tool is 30 s.
const NO_ANSWER: Duration = Duration::from_secs(40);

/// Most characters of output in a report.
const SHOWN_CHARS: usize = 300;

/// A tool set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    Session,
    Terminal,
    Lean,
}

impl Set {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Terminal => "terminal",
            Self::Lean => "lean",
        }
    }

    fn id_key(self) -> &'static str {
        match self {
            Self::Session => "session_id",
            Self::Terminal => "sessionId",
            Self::Lean => "id",
        }
    }

    /// `exit_code` in the set's spelling.
    fn exit_key(self) -> &'static str {
        match self {
            Self::Session | Self::Lean => "exit_code",
            Self::Terminal => "exitCode",
        }
    }

    fn read(self) -> &'static str {
        match self {
            Self::Session => "session_read",
            Self::Terminal => "terminal_read",
            Self::Lean => "term_read",
        }
    }
}

/// What the answers to one step say together.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) state: String,
    pub(crate) known_by: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) output: String,
    pub(crate) prompt: Option<String>,
    pub(crate) elapsed: Duration,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.output.chars().take(SHOWN_CHARS).collect();
        let prompt = self.prompt.as_deref();
        write!(
            f,
            "{} ({}), exit code {:?}, prompt {prompt:?}, after {:?}: {shown:?}",
            self.state, self.known_by, self.exit_code, self.elapsed
        )
    }
}

impl Answer {
    fn add(&mut self, set: Set, facts: &Value) {
        let text = |key: &str| facts[key].as_str().unwrap_or_default().to_owned();
        self.state = text("state");
        if self.state.is_empty() {
            self.state = facts.to_string();
        }
        self.known_by = text("known_by");
        self.exit_code = facts[set.exit_key()].as_i64();
        self.output.push_str(&text("output"));
        if set == Set::Terminal && !text("output").is_empty() {
            // The set gives output without the newline that ends it.
            self.output.push('\n');
        }
        self.prompt = facts["prompt"].as_str().map(str::to_owned);
    }
}

/// A program in a terminal.
pub(crate) struct Driver {
    client: McpClient,
    set: Set,
    id: String,
    /// Whether the last answer said that a command is taken.
    at_prompt: bool,
    /// Whether the program shows no prompt.
    is_silent: bool,
}

impl Driver {
    /// Starts the program and waits until it takes a line.
    pub(crate) fn start(mut client: McpClient, set: Set, command: &str) -> Self {
        let (tool, arguments) = match set {
            Set::Session => ("session_create", json!({ "command": command })),
            Set::Terminal => ("terminal_start", json!({ "shell": command })),
            Set::Lean => ("term_run", json!({ "command": command })),
        };
        let started = client.call(tool, &arguments);
        let id = started[set.id_key()].as_str().unwrap_or_default();
        assert!(!id.is_empty(), "{command}: {started}");
        let mut driver = Self {
            id: id.to_owned(),
            client,
            set,
            at_prompt: false,
            is_silent: false,
        };
        let mut answer = Answer::default();
        let begun = Instant::now();
        while !["done", "awaiting_input"].contains(&answer.state.as_str()) {
            assert!(begun.elapsed() < PATIENCE, "{command}: {answer:?}");
            let facts = driver.read();
            answer.add(set, &facts);
        }
        driver.is_silent = answer.state != "done";
        driver.at_prompt = true;
        driver
    }

    pub(crate) fn set(&self) -> Set {
        self.set
    }

    /// Types, and reads until the program waits again.
    pub(crate) fn step(&mut self, step: &Step) -> Answer {
        let begun = Instant::now();
        let mut answer = Answer::default();
        let facts = match (&step.typed, self.set) {
            (Typed::Nothing, _) => self.read(),
            (_, Set::Session) => self.interact(step),
            (_, Set::Terminal) => self.write(step),
            (_, Set::Lean) => self.type_in(step),
        };
        answer.add(self.set, &facts);
        let patience = PATIENCE + Duration::from_millis(step.takes_ms);
        while step.state != State::Running
            && answer.state == "running"
            && begun.elapsed() < patience
        {
            let facts = self.read();
            answer.add(self.set, &facts);
        }
        if answer.state == "full_screen" && self.set == Set::Terminal {
            let screen = json!({ "sessionId": self.id, "view": "screen" });
            let facts = self.call("terminal_read", &screen);
            answer.output.clear();
            answer.add(self.set, &facts);
        }
        answer.elapsed = begun.elapsed();
        self.at_prompt = answer.state == "done" || self.is_silent;
        answer
    }

    /// Calls a tool: its facts, or none where no answer comes.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.client.begin(tool, arguments);
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        let answer = self.client.wait_within(NO_ANSWER, is_it);
        let result = answer.map(|mut answer| answer["result"].take());
        let result = result.unwrap_or_default();
        if result["isError"] == true {
            return json!({ "output": result["content"][0]["text"], "state": "error" });
        }
        let structured = result["structuredContent"].clone();
        if structured.is_null() {
            json!({ "state": "no answer" })
        } else {
            self.client.with_defaults(tool, structured)
        }
    }

    /// Ends the program.
    pub(crate) fn close(mut self) -> McpClient {
        let (tool, key) = match self.set {
            Set::Session => ("session_close", "session_id"),
            Set::Terminal => ("terminal_stop", "sessionId"),
            Set::Lean => ("term_close", "id"),
        };
        self.call(tool, &json!({ key: self.id }));
        self.client
    }

    fn read(&mut self) -> Value {
        let mut arguments = json!({ self.set.id_key(): self.id });
        if self.set == Set::Lean {
            // Without a time it does not wait.
            arguments["timeout"] = json!(2);
        }
        self.call(self.set.read(), &arguments)
    }

    fn interact(&mut self, step: &Step) -> Value {
        let mut arguments = match &step.typed {
            Typed::Line(line) => json!({ "input": line }),
            Typed::Secret(secret) => json!({ "password": secret }),
            Typed::Key(key) => json!({ "key": key }),
            Typed::Keys(text) => json!({ "input": text, "press_enter": false }),
            Typed::Nothing => json!({}),
        };
        arguments["session_id"] = json!(self.id);
        if step.state == State::Running {
            arguments["timeout"] = json!(0.3);
        }
        self.call("session_interact", &arguments)
    }

    fn type_in(&mut self, step: &Step) -> Value {
        let mut arguments = match &step.typed {
            Typed::Line(line) => json!({ "text": line }),
            Typed::Secret(secret) => json!({ "password": secret }),
            Typed::Key(key) => json!({ "keys": [key] }),
            Typed::Keys(text) => json!({ "text": text, "enter": false }),
            Typed::Nothing => json!({}),
        };
        arguments["id"] = json!(self.id);
        if step.state == State::Running {
            arguments["timeout"] = json!(0.3);
        }
        self.call("term_type", &arguments)
    }

    fn write(&mut self, step: &Step) -> Value {
        let id = &self.id;
        if let (Typed::Line(line), true) = (&step.typed, self.at_prompt) {
            let mut arguments = json!({ "sessionId": id, "command": line });
            if step.state == State::Running {
                arguments["timeout"] = json!(1_000);
            }
            return self.call("terminal_exec", &arguments);
        }
        let (tool, mut arguments, line) = match &step.typed {
            Typed::Line(line) => {
                let data = line.replace('\\', "\\\\").replace('\n', "\\r") + "\\r";
                (
                    "terminal_write",
                    json!({ "data": data }),
                    Some(line.as_str()),
                )
            }
            Typed::Secret(secret) => (
                "terminal_write",
                json!({ "data": format!("{secret}\\r") }),
                None,
            ),
            Typed::Key(key) => ("terminal_send_key", json!({ "key": key }), None),
            Typed::Keys(text) => ("terminal_write", json!({ "data": text }), None),
            Typed::Nothing => ("terminal_write", json!({}), None),
        };
        arguments["sessionId"] = json!(id);
        self.call(tool, &arguments);
        let mut facts = self.read();
        // `terminal_read` gives what is on the terminal, the echo of the line too.
        let output = facts["output"].as_str().unwrap_or_default();
        let (first, rest) = output.split_once('\n').unwrap_or((output, ""));
        if line.is_some_and(|line| first.ends_with(line)) {
            facts["output"] = json!(rest);
        }
        facts
    }
}
