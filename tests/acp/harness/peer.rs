//! One end of the proxy: the client's or the agent's.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::DEADLINE;

use super::schema::Direction;
use super::traffic_log::TrafficLog;

/// One end of the proxy, as lines.
#[derive(Debug)]
pub(crate) struct Peer {
    to: Option<File>,
    /// Who is to read what this side writes.
    direction: Direction,
    record: Arc<TrafficLog>,
    lines: Receiver<Vec<u8>>,
    /// Read, and not asked for yet.
    kept: VecDeque<Value>,
    next_id: u64,
}

impl Peer {
    pub(super) fn new(
        direction: Direction,
        record: &Arc<TrafficLog>,
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
