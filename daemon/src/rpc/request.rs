//! What a line is: a request, a notification, or why it is neither. Pure.
//!
//! Promises: no line, however nested, uses stack in proportion to its depth; ids and params go on
//! as they were written.
//! Must not know: which methods there are.
//!
//! Source: JSON-RPC 2.0, sections 4 to 6; `$/cancel_request` from ACP v1.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The method, of the protocol itself, that ends a call under way.
pub const CANCEL_METHOD: &str = "$/cancel_request";

/// A line, understood.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// To be answered under `id`, which is a string, a number or null, as it was written.
    Request {
        id: &'a str,
        method: Cow<'a, str>,
        params: Params<'a>,
    },
    /// Not to be answered.
    Notification {
        method: Cow<'a, str>,
        params: Params<'a>,
    },
    /// To be answered with an error, under `id` if it could be read, else null.
    Invalid { id: &'a str, why: Invalid },
}

/// Why a line is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// Not UTF-8, or not JSON.
    NotJson,
    /// A JSON array.
    Batch,
    /// JSON, but no request; says what is wrong with it.
    NotARequest(&'static str),
}

/// The params of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Params<'a> {
    /// None, or null: the same as `{}`.
    Absent,
    /// An object or an array, as it was written.
    Structured(&'a str),
    /// Something else, which JSON-RPC does not allow.
    Unstructured,
}

/// The members as they were written: what they are is judged after, so that only broken JSON and
/// repeated members fail here. A member that is null is there.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Incoming<'a> {
    /// Reads one line.
    pub fn parse(line: &'a [u8]) -> Self {
        let Ok(line) = std::str::from_utf8(line) else {
            return Self::Invalid {
                id: "null",
                why: Invalid::NotJson,
            };
        };
        match serde_json::from_str::<Members<'_>>(line) {
            // A struct is read from an array too, by position.
            Ok(_) if line.starts_with('[') => Self::Invalid {
                id: "null",
                why: Invalid::Batch,
            },
            Ok(members) => members.into_incoming(),
            Err(_) => Self::Invalid {
                id: "null",
                why: classify(line),
            },
        }
    }
}

/// Why a line did not read as an object with our members.
fn classify(line: &str) -> Invalid {
    // Skipping a value does not recurse, so a megabyte of `[` is safe here.
    if serde_json::from_str::<&RawValue>(line).is_err() {
        Invalid::NotJson
    } else if line.starts_with('[') {
        Invalid::Batch
    } else if line.starts_with('{') {
        Invalid::NotARequest("a member stands there twice")
    } else {
        Invalid::NotARequest("a request is an object")
    }
}

impl<'a> Members<'a> {
    fn into_incoming(self) -> Incoming<'a> {
        let id = match self.id.map(RawValue::get) {
            None => None,
            Some(id) if id == "null" || id.starts_with(['"', '-']) => Some(id),
            Some(id) if id.starts_with(|first: char| first.is_ascii_digit()) => Some(id),
            Some(_) => {
                let why = Invalid::NotARequest("`id` is a string, a number or null");
                return Incoming::Invalid { id: "null", why };
            }
        };
        let invalid = |why| Incoming::Invalid {
            id: id.unwrap_or("null"),
            why: Invalid::NotARequest(why),
        };
        if self.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return invalid("`jsonrpc` is \"2.0\"");
        }
        let Some(method) = self.method.and_then(|raw| text(raw.get())) else {
            return invalid("`method` is a string");
        };
        let params = match self.params.map(RawValue::get) {
            None | Some("null") => Params::Absent,
            Some(raw) if raw.starts_with(['{', '[']) => Params::Structured(raw),
            Some(_) => Params::Unstructured,
        };
        match id {
            Some(id) => Incoming::Request { id, method, params },
            None => Incoming::Notification { method, params },
        }
    }
}

/// A JSON string's text, copied only where it has escapes.
fn text(raw: &str) -> Option<Cow<'_, str>> {
    match serde_json::from_str::<&str>(raw) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => serde_json::from_str::<String>(raw).ok().map(Cow::Owned),
    }
}

/// The id that a `$/cancel_request` names, as it was written.
pub fn cancelled_id<'a>(params: Params<'a>) -> Option<&'a str> {
    #[derive(Deserialize)]
    struct Cancel<'a> {
        #[serde(borrow, rename = "requestId", deserialize_with = "present")]
        request_id: Option<&'a RawValue>,
    }
    let Params::Structured(raw) = params else {
        return None;
    };
    let cancel: Cancel<'a> = serde_json::from_str(raw).ok()?;
    cancel.request_id.map(RawValue::get)
}

/// Whether two ids, as they were written, are one: strings may be escaped differently.
pub fn same_id(left: &str, right: &str) -> bool {
    let both_strings = left.starts_with('"') && right.starts_with('"');
    left == right || (both_strings && text(left).is_some_and(|left| Some(left) == text(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line in one word, for the table.
    fn read(line: &[u8]) -> String {
        match Incoming::parse(line) {
            Incoming::Request { id, method, params } => format!("request {id} {method} {params:?}"),
            Incoming::Notification { method, params } => format!("notify {method} {params:?}"),
            Incoming::Invalid { id, why } => format!("invalid {id} {why:?}"),
        }
    }

    #[test]
    fn lines_are_told_apart() {
        let table: [(&str, &str); 21] = [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
                "request 1 a Absent",
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
                "request null a Absent",
            ),
            (
                r#"{"jsonrpc":"2.0","id":-1.5e3,"method":"a"}"#,
                "request -1.5e3 a Absent",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"\u0061","method":"a"}"#,
                r#"request "\u0061" a Absent"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"\u0061\n"}"#,
                "request 1 a\n Absent",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#,
                "request 1 a Absent",
            ),
            (
                r#"{"params":{"x": 1},"jsonrpc":"2.0","id":1,"method":"a","more":[]}"#,
                r#"request 1 a Structured("{\"x\": 1}")"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":5}"#,
                "request 1 a Unstructured",
            ),
            (r#"{"jsonrpc":"2.0","method":"a"}"#, "notify a Absent"),
            (
                r#"{"id":1,"method":"a"}"#,
                r#"invalid 1 NotARequest("`jsonrpc` is \"2.0\"")"#,
            ),
            (
                r#"{"jsonrpc":"1.0","id":"x"}"#,
                r#"invalid "x" NotARequest("`jsonrpc` is \"2.0\"")"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7}"#,
                r#"invalid 7 NotARequest("`method` is a string")"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":null}"#,
                r#"invalid 7 NotARequest("`method` is a string")"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":[7],"method":"a"}"#,
                r#"invalid null NotARequest("`id` is a string, a number or null")"#,
            ),
            (
                r#"{"id":1,"id":2}"#,
                r#"invalid null NotARequest("a member stands there twice")"#,
            ),
            (
                "42",
                r#"invalid null NotARequest("a request is an object")"#,
            ),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
                "invalid null Batch",
            ),
            ("[]", "invalid null Batch"),
            ("[1,2,3,4]", "invalid null Batch"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":5,"#,
                "invalid null NotJson",
            ),
            ("hello", "invalid null NotJson"),
        ];
        for (line, expected) in table {
            assert_eq!(read(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(read(b"{\"\xff\":1}"), "invalid null NotJson");
    }

    #[test]
    fn nesting_costs_no_stack() {
        let open = "[".repeat(1 << 20);
        let closed = format!("{open}{}", "]".repeat(1 << 20));
        assert_eq!(read(open.as_bytes()), "invalid null NotJson");
        assert_eq!(read(closed.as_bytes()), "invalid null Batch");
        let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","more":{closed}}}"#);
        assert_eq!(read(inside.as_bytes()), "request 1 a Absent");
    }

    #[test]
    fn ids_are_compared_by_what_they_mean() {
        for (left, right, same) in [
            ("1", "1", true),
            ("1", "2", false),
            ("1", "\"1\"", false),
            ("null", "null", true),
            (r#""a""#, r#""\u0061""#, true),
            (r#""\ud800""#, r#""\ud801""#, false),
        ] {
            assert_eq!(same_id(left, right), same, "{left} {right}");
        }
    }

    #[test]
    fn a_cancel_names_an_id() {
        for (params, id) in [
            (Params::Structured(r#"{"requestId":5}"#), Some("5")),
            (Params::Structured(r#"{"requestId":null}"#), Some("null")),
            (Params::Structured("{}"), None),
            (Params::Structured("[5]"), Some("5")),
            (Params::Absent, None),
        ] {
            assert_eq!(cancelled_id(params), id, "{params:?}");
        }
    }
}
