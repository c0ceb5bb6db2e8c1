//! One line as JSON-RPC: its kind, its members, and where each stands in the line.
//!
//! Values are not decoded before they are needed, so ids and numbers keep their digits. Of a
//! repeated member the last counts, as in `JSON.parse`. Nesting is bounded by the length alone.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

/// The members of a JSON object, borrowed from the text and not decoded.
#[derive(Debug, Default)]
pub struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    /// Reads an object; `None` for any other text.
    pub fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// A member's value.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    /// A member's own members, if its value is an object.
    pub fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.get(name)?.get())
    }

    /// A member's text, if its value is a string.
    pub fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Whether the object has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The elements of an array, not decoded; `None` for any other value.
pub fn elements(array: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(array.get()).ok()
}

/// A line that holds JSON.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request, which must be answered.
    Request {
        /// The id that the answer carries.
        id: RequestId,
        /// The method.
        method: String,
        /// The params, if there are any.
        params: Option<&'a RawValue>,
    },
    /// A notification, which has no answer.
    Notification {
        /// The method.
        method: String,
        /// The params, if there are any.
        params: Option<&'a RawValue>,
    },
    /// The answer to a request.
    Response {
        /// The request's id.
        id: RequestId,
        /// The result; absent for an error.
        result: Option<&'a RawValue>,
    },
    /// JSON that is no single JSON-RPC message, such as a batch.
    Other,
}

/// A line is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

impl<'a> Message<'a> {
    /// Reads a line.
    pub fn read(line: &'a str) -> Result<Self, NotJson> {
        let Some(members) = Members::of(line) else {
            return match serde_json::from_str::<&RawValue>(line) {
                Ok(_) => Ok(Self::Other),
                Err(_) => Err(NotJson),
            };
        };
        let id = members.get("id").map(RequestId::of);
        Ok(match (members.string("method"), id) {
            (Some(method), Some(id)) => Self::Request {
                id,
                method,
                params: members.get("params"),
            },
            (Some(method), None) => Self::Notification {
                method,
                params: members.get("params"),
            },
            (None, Some(id)) if members.get("result").or(members.get("error")).is_some() => {
                Self::Response {
                    id,
                    result: members.get("result"),
                }
            }
            (None, _) => Self::Other,
        })
    }
}

/// A request's id of any JSON type. Ids are equal if their JSON is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// Reads an id. Different spellings of one string are equal.
    pub fn of(raw: &RawValue) -> Self {
        let text = raw.get();
        // Numbers stay as written: one above 2^64 must not lose digits.
        if text.starts_with('"')
            && text.contains('\\')
            && let Ok(value) = serde_json::from_str::<Value>(text)
        {
            return Self(value.to_string());
        }
        Self(text.to_owned())
    }

    /// Makes an id of the proxy's own.
    pub fn of_string(id: &str) -> Self {
        Self(Value::from(id).to_string())
    }

    /// The id as JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// The byte range of a part within its text; `None` if it is borrowed from another text.
pub fn span(text: &str, part: &RawValue) -> Option<Range<usize>> {
    let start = part
        .get()
        .as_ptr()
        .addr()
        .checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(part.get().len())?;
    (end <= text.len()).then_some(start..end)
}

#[cfg(test)]
mod tests;
