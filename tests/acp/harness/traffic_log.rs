//! Everything that passes a proxy. The proxy's own messages are recognized and checked against
//! ACP's schema in every test.
//!
//! A line that one end receives and the other has not written, byte for byte, is the proxy's own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::harness::schema::{Direction, validate};

/// Longer lines are not parsed.
const MAX_READ_BYTES: usize = 1 << 20;

/// The traffic between the two ends of a proxy.
#[derive(Debug, Default)]
pub(crate) struct TrafficLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How often a line was written and not received yet, by its reader and hash.
    written: HashMap<(Direction, u64), usize>,
    /// An unfinished line, by its reader.
    half: HashMap<Direction, Vec<u8>>,
    /// The methods of unanswered requests, by the answering party and the id.
    open_requests: HashMap<(Direction, String), Vec<String>>,
    /// Whether another version than 1 is spoken, whose messages are not checked.
    is_other_version: bool,
    /// The proxy's own messages in order.
    own_messages: Vec<(Direction, Value)>,
    violations: Vec<String>,
}

impl TrafficLog {
    /// Records bytes that are about to be written.
    pub(crate) fn record_write(&self, to: Direction, bytes: &[u8]) {
        let mut state = self.lock();
        let mut lines = state.half.remove(&to).unwrap_or_default();
        lines.extend_from_slice(bytes);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &lines) {
            state.written(to, &lines[start..=end]);
            start = end + 1;
        }
        lines.drain(..start);
        state.half.insert(to, lines);
    }

    /// Records a received line.
    pub(crate) fn record_receipt(&self, by: Direction, line: &[u8]) {
        let mut state = self.lock();
        if let Some(count) = state.written.get_mut(&(by, hash(line)))
            && *count > 0
        {
            *count -= 1;
            state.note_passed(by, line);
            return;
        }
        // The last line was written without a newline.
        if state.half.get(&by).is_some_and(|half| half == line) {
            return;
        }
        state.record_own(by, line);
    }

    /// The proxy's own messages to this reader so far.
    pub(crate) fn own_messages_to(&self, to: Direction) -> Vec<Value> {
        let state = self.lock();
        let own_messages = state
            .own_messages
            .iter()
            .filter(|(direction, _)| *direction == to);
        own_messages.map(|(_, message)| message.clone()).collect()
    }

    /// The proxy's own messages that are not ACP v1.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn written(&mut self, to: Direction, line: &[u8]) {
        *self.written.entry((to, hash(line))).or_default() += 1;
        let Some(message) = read(line) else { return };
        if message["method"] == "initialize" {
            self.is_other_version = message["params"]["protocolVersion"] != 1;
        }
        // The request is noted when it is written, because the proxy may answer it itself.
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let key = (to, id.to_string());
            self.open_requests
                .entry(key)
                .or_default()
                .push(method.to_owned());
        }
    }

    /// Notes a passed message: an answer ends its request.
    fn note_passed(&mut self, by: Direction, line: &[u8]) {
        if let Some(message) = read(line)
            && message.get("method").is_none()
        {
            self.take_request(by, &message);
        }
    }

    fn record_own(&mut self, by: Direction, line: &[u8]) {
        if line.len() > MAX_READ_BYTES {
            return;
        }
        let Some(message) = read(line) else {
            // JSON with a number that serde_json cannot hold was written by a peer.
            if serde_json::from_slice::<IgnoredAny>(line).is_ok() {
                return;
            }
            let line = String::from_utf8_lossy(line);
            self.violations.push(format!("not JSON, {by:?}: {line}"));
            return;
        };
        let request = if message.get("method").is_some() {
            None
        } else {
            self.take_request(by, &message)
        };
        // The proxy's own requests are answered as well.
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let key = (by, id.to_string());
            let requests = self.open_requests.entry(key).or_default();
            if requests.is_empty() {
                requests.push(method.to_owned());
            }
        }
        if !self.is_other_version
            && let Err(error) = validate(by, &message, request.as_deref())
        {
            self.violations.push(format!("{error}\n{by:?}: {message}"));
        }
        self.own_messages.push((by, message));
    }

    /// Takes the method of the request that this message answers.
    fn take_request(&mut self, by: Direction, message: &Value) -> Option<String> {
        let key = (by.other(), message.get("id")?.to_string());
        let requests = self.open_requests.get_mut(&key)?;
        (!requests.is_empty()).then(|| requests.remove(0))
    }
}

fn read(line: &[u8]) -> Option<Value> {
    if line.len() > MAX_READ_BYTES {
        return None;
    }
    serde_json::from_slice(line).ok()
}

fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}
