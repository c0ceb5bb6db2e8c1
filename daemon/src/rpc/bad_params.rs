//! Which param was wrong, found from what serde said of it. Pure.
//!
//! serde names a missing member; for anything else it gives the column at which it gave up. The
//! params are read again, level by level, for the value that spans that column.
//! Must not know: methods, types, connections.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::limits::DETAIL_SHOWN_CHARS;

/// A deeper path helps nobody, and each level reads the params once more.
const DEPTH_MAX: usize = 8;

/// What is wrong with the params of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadParam {
    /// The path to it, such as `env[0].value`; `params` for the whole.
    pub(super) field: String,
    /// serde's words, without the position.
    pub(super) detail: String,
}

/// Finds the field that `error`, a `serde_json` message about `params`, is about.
pub(super) fn locate(params: &str, error: &str) -> BadParam {
    let (detail, column) = split_position(error);
    // Params trims what it is given, so columns count from the first byte that is not blank.
    let params = params.trim();
    // Positional params are read one at a time: their columns count from who knows where.
    let column = column.filter(|_| params.starts_with('{'));
    let mut path = column
        .map(|column| descend(params, column, detail))
        .unwrap_or_default();
    if let Some(name) = quoted_after(detail, &["missing field `", "duplicate field `"]) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    }
    if path.is_empty() {
        path.push_str("params");
    }
    BadParam {
        field: shorten(&path),
        detail: shorten(detail),
    }
}

/// `"what at line 1 column 5"` as `("what", Some(5))`.
fn split_position(error: &str) -> (&str, Option<usize>) {
    let split = error.rsplit_once(" at line 1 column ");
    split.map_or((error, None), |(detail, column)| {
        (detail, column.parse().ok())
    })
}

fn quoted_after<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    let rest = prefixes
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))?;
    rest.split('`').next()
}

/// The path to the innermost value that the column, a count of consumed bytes, points at.
fn descend(params: &str, column: usize, detail: &str) -> String {
    // These are about the object around, which ends or goes on at the column.
    let about_container = detail.starts_with("missing field") || detail.starts_with("duplicate");
    let mut path = String::new();
    let mut value = params;
    for _ in 0..DEPTH_MAX {
        let Ok(Members(members)) = serde_json::from_str::<Members<'_>>(value) else {
            break;
        };
        // A custom error is placed after its value, at the next `,` or after the last `}`.
        let Some((key, raw)) = members
            .into_iter()
            .rev()
            .find(|(_, raw)| offset_in(params, raw) <= column)
        else {
            break;
        };
        let spans = column <= offset_in(params, raw) + raw.len();
        if about_container && !spans {
            break;
        }
        match key {
            Key::Name(name) if path.is_empty() => path = name,
            Key::Name(name) => path.extend([".", name.as_str()]),
            Key::Index(index) => path.extend(["[", index.to_string().as_str(), "]"]),
        }
        if !spans {
            break;
        }
        value = raw;
    }
    path
}

/// Where a slice of `whole` begins in it.
fn offset_in(whole: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

/// Bounded, and without control characters: it may be shown on a tty.
fn shorten(text: &str) -> String {
    let shown = text.chars().take(DETAIL_SHOWN_CHARS);
    shown
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

enum Key {
    Name(String),
    Index(usize),
}

/// An object's or an array's members in order, unread.
struct Members<'a>(Vec<(Key, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, raw)) = map.next_entry::<String, &RawValue>()? {
            members.push((Key::Name(name), raw.get()));
        }
        Ok(Members(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(raw) = seq.next_element::<&RawValue>()? {
            members.push((Key::Index(members.len()), raw.get()));
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use termd_proto::acp::EnvVariable;
    use termd_proto::id::Label;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only whether it reads matters")]
    struct Create {
        command: String,
        args: Option<Vec<String>>,
        env: Option<Vec<EnvVariable>>,
        label: Option<Label>,
        cols: Option<u16>,
    }

    #[test]
    fn the_field_is_named() {
        let table = [
            ("{}", "command"),
            (r#"{"args":[]}"#, "command"),
            (r#"{"command":5}"#, "command"),
            (r#"  {"command":5}"#, "command"),
            (r#"{"command":null}"#, "command"),
            (r#"{"command":["ls","-l"]}"#, "command"),
            (r#"{"command":{"a":1}}"#, "command"),
            (r#"{"command" : 5.5 , "cols":1}"#, "command"),
            (r#"{"command":"ü","cols":"80"}"#, "cols"),
            (r#"{"command":"a","cols":70000}"#, "cols"),
            (r#"{"command":"a","cols":-1,"label":"b"}"#, "cols"),
            (r#"{"cols":80.5,"command":"a"}"#, "cols"),
            (r#"{"command":"a","args":"-l"}"#, "args"),
            (r#"{"command":"a","args":{"x":1}}"#, "args"),
            (r#"{"command":"a","args":["-l",5]}"#, "args[1]"),
            (r#"{"command":"a","args":[["-l"]]}"#, "args[0]"),
            (
                r#"{"command":"a","env":[{"name":"A","value":"1"},{"name":"B"}]}"#,
                "env[1].value",
            ),
            (
                r#"{"command":"a","env":[{"name":"A","value":1}]}"#,
                "env[0].value",
            ),
            (r#"{"command":"a","env":["A=1"]}"#, "env[0]"),
            (
                r#"{"command":"a","env":[{"name":1,"value":"1"}], "cols":1}"#,
                "env[0].name",
            ),
            (r#"{"command":"a","label":"a/b"}"#, "label"),
            (r#"{"command":"a","label":"a/b" , "cols":80}"#, "label"),
            (r#"{"label":"","command":"a"}"#, "label"),
            (r#"{"command":"a","command":"b"}"#, "command"),
        ];
        for (params, field) in table {
            // As jsonrpsee does it: trimmed, then read.
            let error = serde_json::from_str::<Create>(params.trim())
                .unwrap_err()
                .to_string();
            let bad = locate(params, &error);
            assert_eq!(bad.field, field, "{params}: {error}");
            assert!(!bad.detail.contains("column"), "{params}: {}", bad.detail);
        }
    }

    #[test]
    fn what_has_no_place_is_the_params() {
        for (params, error) in [
            ("[]", "No more params"),
            ("{}", "nonsense at line 1 column 99999999999999999999999"),
            ("[1]", "invalid type"),
            ("", "EOF while parsing a value at line 1 column 0"),
        ] {
            assert_eq!(locate(params, error).field, "params", "{params} {error}");
        }
    }

    #[test]
    fn long_values_and_control_characters_are_not_repeated() {
        let params = format!(r#"{{"cols":"{}"}}"#, "x".repeat(10_000));
        let error = serde_json::from_str::<Create>(&params)
            .unwrap_err()
            .to_string();
        assert_eq!(
            locate(&params, &error).detail.chars().count(),
            DETAIL_SHOWN_CHARS
        );
        assert_eq!(locate("{}", "a\u{1b}[31m").detail, "a\u{fffd}[31m");
    }
}
