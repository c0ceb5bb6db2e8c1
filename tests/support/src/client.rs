//! A client that speaks newline-delimited JSON-RPC over a blocking socket, with a deadline on every
//! read.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde_json::{Value, json};

use crate::wait::{DEADLINE, Deadline, wait_until};

/// The error of a JSON-RPC answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The error code.
    pub code: i64,
    /// The text for a person.
    pub message: String,
    /// The details for a program.
    pub data: Value,
}

impl RpcError {
    /// `data.kind`, or an empty string.
    pub fn kind(&self) -> &str {
        self.data["kind"].as_str().unwrap_or("")
    }

    /// The error of an answer that must be one.
    #[track_caller]
    pub fn of(answer: &Value) -> Self {
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("result").is_none(), "not an error: {answer}");
        let error = &answer["error"];
        Self {
            code: error["code"]
                .as_i64()
                .unwrap_or_else(|| panic!("no code: {answer}")),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error["data"].clone(),
        }
    }

    /// Fails unless the error has this code and this `data.kind`.
    #[track_caller]
    pub fn assert_is(&self, code: i64, kind: &str) {
        self.assert_is_in("", code, kind);
    }

    /// The same. The failure names the case, such as the params of one round of a loop.
    #[track_caller]
    pub fn assert_is_in(&self, case: impl Display, code: i64, kind: &str) {
        assert_eq!((self.code, self.kind()), (code, kind), "{case} {self:?}");
    }

    /// Fails unless the error is "invalid params" and names this field.
    #[track_caller]
    pub fn assert_invalid(&self, field: &str) {
        self.assert_invalid_in("", field);
    }

    /// The same. The failure names the case, such as the params of one round of a loop.
    #[track_caller]
    pub fn assert_invalid_in(&self, case: impl Display, field: &str) {
        assert_eq!(
            (self.code, &self.data["field"]),
            (-32602, &json!(field)),
            "{case} {self:?}"
        );
    }
}

/// The daemon has closed the connection.
#[derive(Debug)]
pub struct Disconnected;

/// One connection.
#[derive(Debug)]
pub struct RawClient {
    stream: UnixStream,
    unread: Vec<u8>,
    /// The length of the start of `unread` that holds no newline.
    scanned: usize,
    /// Messages that came while an answer was awaited.
    set_aside: VecDeque<Value>,
    last_id: u64,
}

impl RawClient {
    /// Connects to a socket, which must exist.
    #[track_caller]
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("the daemon's socket");
        Self {
            stream,
            unread: Vec::new(),
            scanned: 0,
            set_aside: VecDeque::new(),
            last_id: 0,
        }
    }

    /// The connected socket.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.set_write_timeout(Some(DEADLINE)).unwrap();
        self.stream.write_all(bytes).expect("write to the daemon");
    }

    /// Sends a request: its id.
    #[track_caller]
    pub fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.try_send(method, params).expect("write to the daemon")
    }

    /// Sends a request: its id, unless the connection is gone.
    pub fn try_send(&mut self, method: &str, params: &Value) -> Result<u64, Disconnected> {
        let line = self.next_request(method, params);
        let sent = self.stream.write_all(line.as_bytes());
        sent.map(|()| self.last_id).map_err(|_| Disconnected)
    }

    /// Sends a request with descriptors beside it: its id.
    #[track_caller]
    pub fn send_with_fds(&mut self, method: &str, params: &Value, fds: &[BorrowedFd<'_>]) -> u64 {
        let line = self.next_request(method, params);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            assert!(ancillary.push(SendAncillaryMessage::ScmRights(fds)));
        }
        let slices = [IoSlice::new(line.as_bytes())];
        let sent = sendmsg(&self.stream, &slices, &mut ancillary, SendFlags::NOSIGNAL);
        assert_eq!(sent, Ok(line.len()));
        self.last_id
    }

    fn next_request(&mut self, method: &str, params: &Value) -> String {
        self.last_id += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method });
        if !params.is_null() {
            request["params"] = params.clone();
        }
        format!("{request}\n")
    }

    /// Sends a notification.
    #[track_caller]
    pub fn notify(&mut self, method: &str, params: &Value) {
        let line = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_raw(format!("{line}\n").as_bytes());
    }

    /// The next line.
    #[track_caller]
    pub fn read_line(&mut self) -> String {
        match self.try_read_line(Deadline::after(DEADLINE)) {
            Ok(Some(line)) => line,
            Ok(None) => panic!("the daemon said nothing in time"),
            Err(Disconnected) => panic!("the daemon closed the connection"),
        }
    }

    /// The next line, or `None` at the deadline.
    pub fn try_read_line(&mut self, deadline: Deadline) -> Result<Option<String>, Disconnected> {
        let mut chunk = vec![0; 256 * 1024];
        loop {
            if let Some(at) = self.unread[self.scanned..].iter().position(|b| *b == b'\n') {
                let rest = self.unread.split_off(self.scanned + at + 1);
                let mut line = std::mem::replace(&mut self.unread, rest);
                line.pop();
                self.scanned = 0;
                return Ok(Some(String::from_utf8(line).expect("a line of UTF-8")));
            }
            self.scanned = self.unread.len();
            let left = deadline.left().max(Duration::from_millis(1));
            self.stream.set_read_timeout(Some(left)).unwrap();
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(Disconnected),
                Ok(count) => self.unread.extend_from_slice(&chunk[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut if deadline.passed() => {
                        return Ok(None);
                    }
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                    _ => return Err(Disconnected),
                },
            }
        }
    }

    /// The next message: an event, or an answer that no call of `answer` has taken.
    #[track_caller]
    pub fn next_message(&mut self) -> Value {
        if let Some(message) = self.set_aside.pop_front() {
            return message;
        }
        let line = self.read_line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message, or `None` at the deadline.
    pub fn message_by(&mut self, deadline: Deadline) -> Option<Value> {
        if let Some(message) = self.set_aside.pop_front() {
            return Some(message);
        }
        let line = self.try_read_line(deadline).ok()??;
        Some(serde_json::from_str(&line).expect("a line of JSON"))
    }

    /// The whole answer to the request with this id. Other messages are kept for later calls.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        match self.try_answer(id) {
            Ok(answer) => answer,
            Err(Disconnected) => panic!("the daemon closed the connection"),
        }
    }

    /// The whole answer to the request with this id, unless the connection is gone.
    #[track_caller]
    pub fn try_answer(&mut self, id: u64) -> Result<Value, Disconnected> {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        if let Some(at) = self.set_aside.iter().position(is_it) {
            return Ok(self.set_aside.remove(at).unwrap());
        }
        let deadline = Deadline::after(DEADLINE);
        loop {
            let line = self.try_read_line(deadline)?;
            let line = line.unwrap_or_else(|| panic!("no answer to request {id} in time"));
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if is_it(&message) {
                return Ok(message);
            }
            self.set_aside.push_back(message);
        }
    }

    /// Makes a call: the result or the error.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let id = self.send(method, params);
        let answer = self.answer(id);
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(RpcError::of(&answer)),
        }
    }

    /// Makes a call that must succeed: the result.
    #[track_caller]
    pub fn ok(&mut self, method: &str, params: &Value) -> Value {
        match self.request(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{method} {params}: {error:?}"),
        }
    }

    /// Makes a call that must fail: the error.
    #[track_caller]
    pub fn err(&mut self, method: &str, params: &Value) -> RpcError {
        match self.request(method, params) {
            Ok(result) => panic!("{method} {params} succeeded: {result}"),
            Err(error) => error,
        }
    }

    /// `session.create`: the id of the terminal.
    #[track_caller]
    pub fn create_terminal(&mut self, params: &Value) -> String {
        let info = self.ok("session.create", params);
        info["id"].as_str().expect("an id").to_owned()
    }

    /// `session.send` of this text, which must be accepted: the result.
    #[track_caller]
    pub fn send_text(&mut self, id: &str, text: &str) -> Value {
        self.ok("session.send", &json!({ "id": id, "text": text }))
    }

    /// The next event of the connection's subscriptions. Other messages are dropped.
    #[track_caller]
    pub fn next_event(&mut self) -> Value {
        loop {
            let message = self.next_message();
            if message["method"] == "session.event" {
                return message["params"]["result"].clone();
            }
        }
    }

    /// The next event of this type. Other events are dropped.
    #[track_caller]
    pub fn wait_for_event(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next_event();
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// A page of audit records that pass this filter, newest first.
    #[track_caller]
    pub fn audit_records(&mut self, filter: &Value) -> Vec<Value> {
        let page = self.ok("audit.list", &json!({ "filter": filter }));
        page["records"].as_array().expect("records").clone()
    }

    /// Fails unless the chain of audit records is whole: the verdict of `audit.verify`.
    #[track_caller]
    pub fn assert_audit_is_whole(&mut self) -> Value {
        let verdict = self.ok("audit.verify", &Value::Null);
        assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
        verdict
    }

    /// `session.read` into a pipe: the answer, with the bytes in `data` as base64, as if that had been
    /// requested.
    #[track_caller]
    pub fn read_by_pipe(&mut self, params: &Value) -> Value {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut params = params.clone();
        params["encoding"] = json!("pipe");
        let id = self.send_with_fds("session.read", &params, &[writer.as_fd()]);
        drop(writer);
        let mut answer = self.answer(id)["result"].take();
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert_eq!(answer["written"], bytes.len(), "{answer}");
        assert!(answer.get("text").is_none() && answer.get("data").is_none());
        answer["data"] = json!(STANDARD.encode(bytes));
        answer
    }

    /// Waits until no output of any terminal is on its way to the database.
    #[track_caller]
    pub fn wait_until_stored(&mut self) {
        wait_until("all output is stored", || {
            self.ok("daemon.stats", &Value::Null)["unstored_bytes"] == 0
        });
    }

    /// All output of a terminal as exact bytes, by `session.read` until the exit.
    #[track_caller]
    pub fn transcript(&mut self, id: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let page = self.ok(
                "session.read",
                &json!({ "id": id, "since": bytes.len(), "max_bytes": 1 << 20,
                         "encoding": "base64", "wait_ms": 1000 }),
            );
            assert_eq!(page["start"], bytes.len(), "a gap in the transcript");
            bytes.extend(STANDARD.decode(page["data"].as_str().unwrap()).unwrap());
            assert_eq!(page["end"], bytes.len(), "end is not where the bytes end");
            if page["at_end"] == true && page["state"] != "running" {
                return bytes;
            }
        }
    }

    /// Reads the output of a terminal until it holds this text: the output so far.
    #[track_caller]
    pub fn wait_for_text(&mut self, id: &str, text: &str) -> String {
        let deadline = Deadline::after(DEADLINE);
        let (mut seen, mut since) = (Vec::new(), 0);
        while !deadline.passed() {
            let page = self.ok(
                "session.read",
                &json!({ "id": id, "since": since, "encoding": "base64", "wait_ms": 500 }),
            );
            seen.extend(STANDARD.decode(page["data"].as_str().unwrap()).unwrap());
            since = page["end"].as_u64().unwrap();
            let so_far = String::from_utf8_lossy(&seen);
            if so_far.contains(text) {
                return so_far.into_owned();
            }
            assert!(
                page["state"] == "running" || page["at_end"] != true,
                "ended without saying {text:?}: {so_far:?}"
            );
        }
        panic!("never said {text:?}: {:?}", String::from_utf8_lossy(&seen));
    }
}
