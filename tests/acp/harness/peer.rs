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

/// One end of the proxy, in lines of JSON.
#[derive(Debug)]
pub(crate) struct Peer {
    writer: Option<File>,
    /// The direction of what this peer writes.
    direction: Direction,
    log: Arc<TrafficLog>,
    lines: Receiver<Vec<u8>>,
    /// Messages that no call has returned yet.
    unclaimed: VecDeque<Value>,
    next_id: u64,
}

impl Peer {
    pub(super) fn new(
        direction: Direction,
        log: &Arc<TrafficLog>,
        writer: Option<File>,
        reader: impl Read + Send + 'static,
    ) -> Self {
        let (sender, lines) = channel();
        let thread_log = Arc::clone(log);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(reader);
            let mut line = Vec::new();
            while let Ok(1..) = reader.read_until(b'\n', &mut line) {
                thread_log.record_receipt(direction.other(), &line);
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self {
            writer,
            direction,
            log: Arc::clone(log),
            lines,
            unclaimed: VecDeque::new(),
            next_id: 1,
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.log.record_write(self.direction, bytes);
        self.writer.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request: its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request: the whole answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers a request with this result.
    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// The answer to the request with this id.
    #[track_caller]
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        self.wait(&format!("the answer to {id}"), |line| {
            line["id"] == id && line.get("method").is_none()
        })
    }

    /// The next line that no call of `wait` has read; `None` at the end.
    #[track_caller]
    pub(crate) fn raw(&mut self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line came"),
        }
    }

    /// The first message that passes `wanted`. Others are kept.
    #[track_caller]
    pub(crate) fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.wait_within(DEADLINE, wanted);
        found.unwrap_or_else(|| panic!("never came: {what}; there is {:#?}", self.unclaimed))
    }

    /// The same, or `None` after this time.
    pub(crate) fn wait_within(
        &mut self,
        time: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        if let Some(position) = self.unclaimed.iter().position(&wanted) {
            return self.unclaimed.remove(position);
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
            self.unclaimed.push_back(value);
        }
    }

    /// Closes the stream to the proxy.
    pub(crate) fn close(&mut self) {
        self.writer = None;
    }
}
