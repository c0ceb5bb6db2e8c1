//! A result's facts as text for a model: a header line in brackets, and then plain lines. Pure.
//!
//! What a model pays for is the text, and clients cut it by lines. So it has no JSON, no escapes, and
//! no fact that is at its default.

use serde_json::{Map, Value};

/// Members whose text stands below the header, in this order.
const BODIES: [&str; 4] = ["output", "text", "stdout", "stderr"];
/// Where things stand, and how that is known: one word and another in parentheses.
const STATE: &str = "state";
const KNOWN_BY: &str = "known_by";
/// A list whose items are lines below the header.
const LINES: &str = "lines";
/// Members that say nothing that a model acts on: the structured content has them.
const LEFT_TO_STRUCTURE: [&str; 5] = [
    "bytes_read",
    "completed_by",
    "completedBy",
    "mode_used",
    "osc133",
];
/// Members that only lead to output that was left out, or that is still to come.
const PLACES: [&str; 4] = ["offset", "position", "session_id", "sessionId"];
/// What a shell shows when it is done says nothing more to a model.
const PROMPT: &str = "prompt";
/// That something was left out, which `omitted` says with its place.
const TRUNCATED: &str = "truncated";
/// Members that the header begins with, in this order. The others follow in the order of their names.
const FIRST: [&str; 5] = ["exit_code", "exitCode", "signal", "matched", "matched_line"];

/// The text of a result.
pub(super) fn text_of(facts: &Map<String, Value>) -> String {
    let mut text = header(facts);
    for name in BODIES {
        let Some(body) = facts.get(name).and_then(body) else {
            continue;
        };
        let body = body.trim_end_matches('\n');
        if body.is_empty() {
            continue;
        }
        next_line(&mut text);
        if name == "stderr" {
            text.push_str("[stderr]\n");
        }
        text.push_str(body);
    }
    for (name, value) in facts {
        let Value::Array(items) = value else { continue };
        if is_in_header(name, value) {
            continue;
        }
        next_line(&mut text);
        if name != LINES {
            text.extend(["[", name, "]"]);
        }
        for item in items {
            text.push('\n');
            text.push_str(&item_line(item));
        }
    }
    text
}

/// The text of a body: a string, or the `raw` of a stream.
fn body(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("raw")?.as_str())
}

fn header(facts: &Map<String, Value>) -> String {
    let mut words = Vec::new();
    match (word(facts, STATE), word(facts, KNOWN_BY)) {
        (Some(state), Some(known_by)) => words.push(format!("{state} ({known_by})")),
        (Some(state), None) => words.push(state),
        (None, _) => {}
    }
    let first = FIRST.iter().filter_map(|name| facts.get_key_value(*name));
    let others = (facts.iter()).filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let state = facts.get(STATE).and_then(Value::as_str);
    let is_done = state == Some("done");
    let is_cut = facts.contains_key("omitted");
    let is_all = facts.contains_key("output") && !is_cut && (is_done || state == Some("exited"));
    for (name, value) in first.chain(others) {
        let is_needless = [STATE, KNOWN_BY].contains(&name.as_str())
            || LEFT_TO_STRUCTURE.contains(&name.as_str())
            || (is_done && name == PROMPT)
            || (is_cut && name == TRUNCATED)
            || (is_all && PLACES.contains(&name.as_str()));
        if !is_needless && is_in_header(name, value) {
            words.push(format!("{name} {}", inline(value)));
        }
    }
    if words.is_empty() {
        "[ok]".to_owned()
    } else {
        format!("[{}]", words.join(", "))
    }
}

fn word(facts: &Map<String, Value>, name: &str) -> Option<String> {
    facts.get(name)?.as_str().map(str::to_owned)
}

/// Whether a member stands in the header: what is short, and no body.
fn is_in_header(name: &str, value: &Value) -> bool {
    match value {
        Value::Array(_) if name == "omitted" => true,
        Value::Array(items) => {
            let is_plain = |item: &Value| !item.is_object() && !item.is_array();
            items.is_empty() || (name != LINES && items.iter().all(is_plain))
        }
        _ => !BODIES.contains(&name) || body(value).is_none(),
    }
}

/// A value within a line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            items.join("; ")
        }
        Value::Object(members) => {
            let range = (members.get("from"), members.get("to"), members.len());
            if let (Some(from), Some(to), 2) = range {
                return format!("{from}-{to}");
            }
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members: Vec<String> = members
                .map(|(name, value)| format!("{name} {}", inline(value)))
                .collect();
            format!("({})", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// An item of a list: rows of a screen by their numbers, anything else by its members.
fn item_line(item: &Value) -> String {
    let Value::Object(members) = item else {
        return inline(item);
    };
    if let (Some(line), Some(content)) = (members.get("line"), members.get("content")) {
        return format!("{line}: {}", content.as_str().unwrap_or_default());
    }
    let members = members.iter().filter(|(_, value)| !value.is_null());
    let members: Vec<String> = members
        .map(|(name, value)| format!("{name} {}", inline(value)))
        .collect();
    members.join(", ")
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" ⏎ ")
}

fn next_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_a_header_and_plain_lines() {
        for (facts, text) in [
            (
                json!({ "output": "hi\n", "state": "done", "known_by": "exit", "exit_code": 0 }),
                "[done (exit), exit_code 0]\nhi",
            ),
            (
                json!({ "output": "a\"\\b\n\tc", "omitted": [{ "from": 3, "to": 9 }], "offset": 12 }),
                "[offset 12, omitted 3-9]\na\"\\b\n\tc",
            ),
            (
                json!({ "output": "x", "state": "done", "offset": 3, "bytes_read": 1, "cwd": "/" }),
                "[done, cwd /]\nx",
            ),
            (
                json!({
                    "output": "x", "state": "done", "prompt": "$ ", "truncated": true,
                    "omitted": [{ "from": 3, "to": 9 }],
                }),
                "[done, omitted 3-9]\nx",
            ),
            (
                json!({ "state": "awaiting_input", "prompt": "y/N? " }),
                "[awaiting_input, prompt y/N? ]",
            ),
            (json!({ "changed_lines": [] }), "[changed_lines none]"),
            (json!({}), "[ok]"),
            (
                json!({ "stdout": { "raw": "x\n", "parsed": null }, "stderr": { "raw": "y" }, "exitCode": 1 }),
                "[exitCode 1]\nx\n[stderr]\ny",
            ),
            (
                json!({ "count": 1, "sessions": [{ "id": "t", "label": null, "owner": { "front": "cli" } }] }),
                "[count 1]\n[sessions]\nid t, owner (front cli)",
            ),
            (
                json!({ "changed_lines": [{ "line": 3, "content": "x" }], "mode_used": "diff" }),
                "[ok]\n[changed_lines]\n3: x",
            ),
        ] {
            assert_eq!(text_of(facts.as_object().unwrap()), text, "{facts}");
        }
    }
}
