//! One line as JSON-RPC: which of the three kinds of message it is, and where its members stand.
//!
//! Nothing is decoded that nobody asked for: values stay raw, ids of any type stay as they are
//! written. A member that stands twice counts as its last, as `JSON.parse` has it.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::json::{self, Raw};

/// A JSON object's members, each with its raw value, in their order.
#[derive(Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// The members of an object; `None` where the text is anything else.
    pub fn of(text: &'a str) -> Option<Self> {
        json::members(text).map(Self)
    }

    /// A member's value.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        let mut members = self.0.iter().rev();
        members
            .find(|(member, _)| member == name)
            .map(|&(_, value)| value)
    }

    /// A member's members, where it is an object.
    pub fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.get(name)?.get())
    }

    /// A member that is a string.
    pub fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A line that holds JSON.
#[derive(Debug)]
pub enum Message<'a> {
    /// Asks for an answer.
    Request {
        /// What the answer is to carry.
        id: RequestId,
        /// What is asked for.
        method: String,
        /// With what.
        params: Option<Raw<'a>>,
    },
    /// Tells something.
    Notification {
        /// What.
        method: String,
        /// With what.
        params: Option<Raw<'a>>,
    },
    /// Answers a request.
    Response {
        /// Which.
        id: RequestId,
        /// What came of it; absent: an error.
        result: Option<Raw<'a>>,
    },
    /// JSON, but nothing that JSON-RPC knows (a batch is one such): it goes on as it is.
    Other,
}

/// A line that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

impl<'a> Message<'a> {
    /// Reads a line, its end not included.
    pub fn read(line: &'a str) -> Result<Self, NotJson> {
        let Some(members) = Members::of(line) else {
            return Raw::of(line).map(|_| Self::Other).ok_or(NotJson);
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

/// A request's id, of whatever type: two are equal where their JSON is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// Of a raw id. Strings that are spelled in different ways are the same.
    pub fn of(raw: Raw<'_>) -> Self {
        let text = raw.get();
        // Numbers stay as they are written: one over 2^64 must not lose digits.
        if text.starts_with('"')
            && text.contains('\\')
            && let Ok(value) = serde_json::from_str::<Value>(text)
        {
            return Self(value.to_string());
        }
        Self(text.to_owned())
    }

    /// Of a string of ours.
    pub fn of_string(id: &str) -> Self {
        Self(Value::from(id).to_string())
    }

    /// As JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// Where in a text a part of it stands, in bytes; `None` where it is borrowed from another text.
pub fn span(text: &str, part: Raw<'_>) -> Option<Range<usize>> {
    let start = part
        .get()
        .as_ptr()
        .addr()
        .checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(part.get().len())?;
    (end <= text.len()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds_and_the_rest() {
        let table = [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}"#,
                "request 1 a/b",
            ),
            (
                r#" { "method" : "a\/b" , "id" : null } "#,
                "request null a/b",
            ),
            (r#"{"id":"\u0061","method":"x"}"#, r#"request "a" x"#),
            (
                r#"{"id":18446744073709551617,"method":"x"}"#,
                "request 18446744073709551617 x",
            ),
            (r#"{"id":1,"id":2,"method":"x"}"#, "request 2 x"),
            (r#"{"method":"x","params":[1]}"#, "notification x"),
            (
                r#"{"id":{"a":1},"result":null}"#,
                r#"response {"a":1} true"#,
            ),
            (
                r#"{"id":7,"error":{"code":1,"message":""}}"#,
                "response 7 false",
            ),
            (r#"{"id":7}"#, "other"),
            (r#"{"id":7,"method":5}"#, "other"),
            (r#"[{"id":1,"method":"x"}]"#, "other"),
            ("7", "other"),
            ("", "not json"),
            ("hello", "not json"),
            (r#"{"id":7"#, "not json"),
            (r#"{"id":7} x"#, "not json"),
        ];
        for (line, want) in table {
            let got = match Message::read(line) {
                Ok(Message::Request { id, method, .. }) => {
                    format!("request {} {method}", id.as_json())
                }
                Ok(Message::Notification { method, .. }) => format!("notification {method}"),
                Ok(Message::Response { id, result }) => {
                    format!("response {} {}", id.as_json(), result.is_some())
                }
                Ok(Message::Other) => "other".to_owned(),
                Err(NotJson) => "not json".to_owned(),
            };
            assert_eq!(got, want, "{line}");
        }
    }

    #[test]
    fn a_part_is_found_where_it_stands() {
        let line = r#"{"a": {"b" :  [1, 2] }}"#;
        let a = Members::of(line).unwrap().get("a").unwrap();
        let b = Members::of(a.get()).unwrap().get("b").unwrap();
        assert_eq!(&line[span(line, b).unwrap()], "[1, 2]");
        assert_eq!(span("another", b), None);
    }
}
