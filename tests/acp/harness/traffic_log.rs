//! All that passes a proxy, so that what it says itself is told from what it passes on, and is held
//! to ACP's schema in every test.
//!
//! What one side receives and the other has not written, byte for byte, is the proxy's own: written
//! or changed by it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::harness::schema::{Direction, validate};

/// Longer lines are passed on or not, but not looked into.
const MAX_READ_BYTES: usize = 1 << 20;

/// What has passed between two sides.
#[derive(Debug, Default)]
pub(crate) struct TrafficLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Written by a side and not received by the other yet; by who is to read it.
    written: HashMap<(Direction, u64), usize>,
    /// The half of a line that a side has written; by who is to read it.
    half: HashMap<Direction, Vec<u8>>,
    /// Requests without an answer: by who answers, and the id.
    asked: HashMap<(Direction, String), Vec<String>>,
    /// Another version than 1 is spoken: its messages are not version 1's.
    is_other_version: bool,
    /// The proxy's own messages, in their order.
    own: Vec<(Direction, Value)>,
    wrong: Vec<String>,
}

impl TrafficLog {
    /// A side is about to write this.
    pub(crate) fn writes(&self, to: Direction, bytes: &[u8]) {
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

    /// A side has received this line.
    pub(crate) fn received(&self, by: Direction, line: &[u8]) {
        let mut state = self.lock();
        if let Some(count) = state.written.get_mut(&(by, hash(line)))
            && *count > 0
        {
            *count -= 1;
            state.note(by, line);
            return;
        }
        // The last line that was written has no end.
        if state.half.get(&by).is_some_and(|half| half == line) {
            return;
        }
        state.own(by, line);
    }

    /// The proxy's own messages to one side until now.
    pub(crate) fn own_to(&self, to: Direction) -> Vec<Value> {
        let state = self.lock();
        let own = state.own.iter().filter(|(direction, _)| *direction == to);
        own.map(|(_, message)| message.clone()).collect()
    }

    /// What the proxy has said that is not ACP v1.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.lock().wrong.clone()
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
        // Noted here, not where it is received: the proxy may answer it itself.
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let key = (to, id.to_string());
            self.asked.entry(key).or_default().push(method.to_owned());
        }
    }

    /// A message that was passed on: an answer's request is done.
    fn note(&mut self, by: Direction, line: &[u8]) {
        if let Some(message) = read(line)
            && message.get("method").is_none()
        {
            self.answered(by, &message);
        }
    }

    fn own(&mut self, by: Direction, line: &[u8]) {
        if line.len() > MAX_READ_BYTES {
            return;
        }
        let Some(message) = read(line) else {
            // A number that serde_json's own cannot hold is JSON, and was somebody else's.
            if serde_json::from_slice::<IgnoredAny>(line).is_ok() {
                return;
            }
            let line = String::from_utf8_lossy(line);
            self.wrong.push(format!("not JSON, {by:?}: {line}"));
            return;
        };
        let asked = if message.get("method").is_some() {
            None
        } else {
            self.answered(by, &message)
        };
        // What it asks itself is to be answered too.
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let key = (by, id.to_string());
            let asked = self.asked.entry(key).or_default();
            if asked.is_empty() {
                asked.push(method.to_owned());
            }
        }
        if !self.is_other_version
            && let Err(error) = validate(by, &message, asked.as_deref())
        {
            self.wrong.push(format!("{error}\n{by:?}: {message}"));
        }
        self.own.push((by, message));
    }

    /// The method that this answers.
    fn answered(&mut self, by: Direction, message: &Value) -> Option<String> {
        let key = (by.other(), message.get("id")?.to_string());
        let asked = self.asked.get_mut(&key)?;
        (!asked.is_empty()).then(|| asked.remove(0))
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
