//! A client that speaks newline-delimited JSON-RPC over a blocking socket, a line at a time, with
//! a deadline on every read.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::wait::{DEADLINE, Deadline};

/// An error answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    /// JSON-RPC's number.
    pub(crate) code: i64,
    /// The text for a person.
    pub(crate) message: String,
    /// What a program looks at.
    pub(crate) data: Value,
}

impl RpcError {
    /// `data.kind`.
    pub(crate) fn kind(&self) -> &str {
        self.data["kind"].as_str().unwrap_or("")
    }

    /// Of an answer that is one.
    #[track_caller]
    pub(crate) fn of(answer: &Value) -> Self {
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
}

/// The other side closed the connection.
#[derive(Debug)]
pub(crate) struct Disconnected;

/// One connection.
#[derive(Debug)]
pub(crate) struct RawClient {
    stream: UnixStream,
    unread: Vec<u8>,
    /// How much of `unread` is known to hold no newline.
    scanned: usize,
    set_aside: VecDeque<Value>,
    last_id: u64,
}

impl RawClient {
    /// Connects to a socket that is there.
    #[track_caller]
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("the daemon's socket");
        Self {
            stream,
            unread: Vec::new(),
            scanned: 0,
            set_aside: VecDeque::new(),
            last_id: 0,
        }
    }

    /// The socket itself.
    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.set_write_timeout(Some(DEADLINE)).unwrap();
        self.stream.write_all(bytes).expect("write to the daemon");
    }

    /// Sends a request and returns its id.
    #[track_caller]
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.try_send(method, params).expect("write to the daemon")
    }

    /// Sends a request, unless the connection is gone.
    pub(crate) fn try_send(&mut self, method: &str, params: &Value) -> Result<u64, Disconnected> {
        self.last_id += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method });
        if !params.is_null() {
            request["params"] = params.clone();
        }
        let line = format!("{request}\n");
        let sent = self.stream.write_all(line.as_bytes());
        sent.map(|()| self.last_id).map_err(|_| Disconnected)
    }

    /// Sends a notification.
    #[track_caller]
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        let line = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_raw(format!("{line}\n").as_bytes());
    }

    /// The next line, whatever it is.
    #[track_caller]
    pub(crate) fn read_line(&mut self) -> String {
        match self.try_read_line(Deadline::after(DEADLINE)) {
            Ok(Some(line)) => line,
            Ok(None) => panic!("the daemon said nothing in time"),
            Err(Disconnected) => panic!("the daemon closed the connection"),
        }
    }

    /// The next line; none at the deadline.
    pub(crate) fn try_read_line(
        &mut self,
        deadline: Deadline,
    ) -> Result<Option<String>, Disconnected> {
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

    /// The next message that is no answer awaited by `answer`: an event, or an answer set aside.
    #[track_caller]
    pub(crate) fn next_message(&mut self) -> Value {
        if let Some(message) = self.set_aside.pop_front() {
            return message;
        }
        let line = self.read_line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message, if one comes before the deadline.
    pub(crate) fn message_by(&mut self, deadline: Deadline) -> Option<Value> {
        if let Some(message) = self.set_aside.pop_front() {
            return Some(message);
        }
        let line = self.try_read_line(deadline).ok()??;
        Some(serde_json::from_str(&line).expect("a line of JSON"))
    }

    /// The whole answer to the request of this id; what else comes meanwhile is set aside.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        match self.try_answer(id) {
            Ok(answer) => answer,
            Err(Disconnected) => panic!("the daemon closed the connection"),
        }
    }

    /// The whole answer to the request of this id, unless the connection is gone.
    #[track_caller]
    pub(crate) fn try_answer(&mut self, id: u64) -> Result<Value, Disconnected> {
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

    /// Asks and returns the result or the error.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let id = self.send(method, params);
        let answer = self.answer(id);
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(RpcError::of(&answer)),
        }
    }

    /// Asks for what must succeed.
    #[track_caller]
    pub(crate) fn ok(&mut self, method: &str, params: &Value) -> Value {
        match self.request(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{method} {params}: {error:?}"),
        }
    }

    /// Asks for what must fail.
    #[track_caller]
    pub(crate) fn err(&mut self, method: &str, params: &Value) -> RpcError {
        match self.request(method, params) {
            Ok(result) => panic!("{method} {params} succeeded: {result}"),
            Err(error) => error,
        }
    }

    /// `session.read` of all output from `since` on, as exact bytes; follows until the exit.
    #[track_caller]
    pub(crate) fn transcript(&mut self, id: &str) -> Vec<u8> {
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

    /// Reads a terminal's output until it holds this text; panics at the deadline.
    #[track_caller]
    pub(crate) fn wait_for_text(&mut self, id: &str, text: &str) -> String {
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
