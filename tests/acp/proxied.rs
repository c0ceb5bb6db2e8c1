//! One `termctl acp` with both of its ends in the test's hands: the test is the client, and by two
//! FIFOs it is the agent too, whose process only carries bytes.
//!
//! What the proxy says itself is held to ACP's schema, in every test: [`Record`].

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::record::Record;
use crate::schema::Direction;
use crate::support::{DEADLINE, Home, Process};

/// What the agent's process runs: its input to one FIFO, the other FIFO to its output.
/// `$1` and `$2` are the FIFOs. It ends when the test closes the second, with code 7. (A
/// shell gives what it starts in the background no input of its own: hence descriptor 3.)
const RELAY: &str = r#"exec 3<&0; cat <&3 >"$1" & exec 0<&- 3<&-; cat <"$2"; exit 7"#;

/// One end of the proxy, as lines.
#[derive(Debug)]
pub(crate) struct Side {
    to: Option<File>,
    /// Who is to read what this side writes.
    direction: Direction,
    record: Arc<Record>,
    lines: Receiver<Vec<u8>>,
    /// Read, and not asked for yet.
    kept: VecDeque<Value>,
    next_id: u64,
}

/// The proxy between them.
#[derive(Debug)]
pub(crate) struct Proxied {
    child: Child,
    /// The client's end.
    pub(crate) client: Side,
    /// The agent's end.
    pub(crate) agent: Side,
    /// What has passed, and what the proxy itself has said.
    pub(crate) record: Arc<Record>,
    _fifos: TempDir,
}

impl Proxied {
    /// Starts `termctl acp ARGUMENTS -- AGENT`; nothing is said yet.
    pub(crate) fn spawn(home: &Home, arguments: &[&str]) -> Self {
        let fifos = tempfile::tempdir().unwrap();
        let (input, output) = (fifos.path().join("input"), fifos.path().join("output"));
        for fifo in [&input, &output] {
            mknodat(CWD, fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
        command.arg("acp").args(arguments);
        command
            .args(["--", "/bin/sh", "-c", RELAY, "agent"])
            .args([&input, &output]);
        let mut child = started(&mut command);
        let record = Arc::new(Record::default());
        let client = Side::new(
            Direction::ToAgent,
            &record,
            child
                .stdin
                .take()
                .map(|stdin| File::from(std::os::fd::OwnedFd::from(stdin))),
            child.stdout.take().unwrap(),
        );
        // Opening waits for the relay to open the same FIFO's other end.
        let from = opened(OpenOptions::new().read(true), &input);
        let to = opened(OpenOptions::new().write(true), &output);
        Self {
            child,
            client,
            agent: Side::new(Direction::ToClient, &record, Some(to), from),
            record,
            _fifos: fifos,
        }
    }

    /// The same, initialized as version 1 by a client of these capabilities, which has no terminals.
    pub(crate) fn start(home: &Home, arguments: &[&str], capabilities: &Value) -> Self {
        let mut proxied = Self::spawn(home, arguments);
        let id = proxied.client.request(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "clientCapabilities": capabilities,
                "clientInfo": { "name": "a-client", "version": "1" },
            }),
        );
        let asked = proxied
            .agent
            .wait("initialize", |line| line["method"] == "initialize");
        proxied.agent.answer(
            &asked,
            &json!({
                "protocolVersion": 1,
                "agentCapabilities": {},
                "agentInfo": { "name": "an-agent", "version": "2" },
                "authMethods": [],
            }),
        );
        proxied.client.answer_to(id);
        proxied
    }

    /// A session in this directory.
    pub(crate) fn session(&mut self, session: &str, cwd: &Path) {
        let id = self
            .client
            .request("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
        let asked = self
            .agent
            .wait("session/new", |line| line["method"] == "session/new");
        self.agent.answer(&asked, &json!({ "sessionId": session }));
        self.client.answer_to(id);
    }

    /// The proxy's process.
    pub(crate) fn process(&self) -> Process {
        Process::must(self.child.id().into())
    }

    /// Waits until the proxy has ended.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> ExitStatus {
        assert!(
            self.process()
                .ends_by(crate::support::Deadline::after(DEADLINE)),
            "the proxy never ended"
        );
        self.child.wait().unwrap()
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        self.client.close();
        self.agent.close();
        // Left alone, it ends all that it has started, and then itself; a test that fails does not
        // wait for that.
        let is_over = matches!(self.child.try_wait(), Ok(Some(_)));
        if !is_over && !std::thread::panicking() {
            self.process()
                .ends_by(crate::support::Deadline::after(DEADLINE));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let wrong = self.record.wrong();
        if !std::thread::panicking() {
            assert!(wrong.is_empty(), "not ACP v1:\n{}", wrong.join("\n\n"));
        }
    }
}

impl Side {
    fn new(
        direction: Direction,
        record: &Arc<Record>,
        to: Option<File>,
        from: impl Read + Send + 'static,
    ) -> Self {
        let (tell, lines) = channel();
        let seen = Arc::clone(record);
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut line = Vec::new();
            while let Ok(1..) = from.read_until(b'\n', &mut line) {
                seen.received(direction.other(), &line);
                if tell.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self {
            to,
            direction,
            record: Arc::clone(record),
            lines,
            kept: VecDeque::new(),
            next_id: 1,
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.record.writes(self.direction, bytes);
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Says a message.
    pub(crate) fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request, and does not wait for its answer; its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its answer, whole.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers a request with a result.
    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// Waits for the answer to a request of this side's.
    #[track_caller]
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        self.wait(&format!("the answer to {id}"), |line| {
            line["id"] == id && line.get("method").is_none()
        })
    }

    /// The next line as it came, none of those asked for by meaning before; `None` at the end.
    #[track_caller]
    pub(crate) fn raw(&mut self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line came"),
        }
    }

    /// The first message that is wanted, now or until the deadline; those before it are kept.
    #[track_caller]
    pub(crate) fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.wait_within(DEADLINE, wanted);
        found.unwrap_or_else(|| panic!("never came: {what}; there is {:#?}", self.kept))
    }

    /// The same, or none.
    pub(crate) fn wait_within(
        &mut self,
        time: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        if let Some(position) = self.kept.iter().position(&wanted) {
            return self.kept.remove(position);
        }
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).ok()?;
            let value: Value = serde_json::from_slice(&line)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)));
            if wanted(&value) {
                return Some(value);
            }
            self.kept.push_back(value);
        }
    }

    /// Ends what this side says.
    pub(crate) fn close(&mut self) {
        self.to = None;
    }
}

fn started(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Opens a FIFO; the relay that never opened its end is a failure, not a hang.
fn opened(options: &mut OpenOptions, path: &Path) -> File {
    let (tell, told) = channel();
    let (options, path) = (options.clone(), path.to_owned());
    std::thread::spawn(move || tell.send(options.open(path)));
    told.recv_timeout(DEADLINE)
        .expect("the relay never opened its FIFO")
        .unwrap()
}
