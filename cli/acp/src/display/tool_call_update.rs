//! Reads what a line of the agent says of a tool call, and writes the proxy's own lines.

use std::fmt::Write as _;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::edit;
use crate::wire::message::{Members, elements};

/// What a line says of a tool call, borrowed from the line.
#[derive(Debug)]
pub(super) struct ToolCallUpdate<'a> {
    pub(super) kind: Kind,
    pub(super) session: String,
    /// The `toolCallId`, unique within the session.
    pub(super) call: String,
    pub(super) status: Option<Status>,
    /// The whole content, if the line has one.
    pub(super) content: Option<Vec<Entry<'a>>>,
    /// All members of the tool call in the line.
    pub(super) members: Members<'a>,
}

/// The messages about tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `session/update` with a `tool_call`: a whole tool call.
    Call,
    /// `session/update` with a `tool_call_update`: changed members.
    Update,
    /// `session/request_permission`: changed members.
    Permission,
}

/// The status of a tool call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Status {
    /// `pending`, `in_progress`, or a status that ACP may add.
    #[default]
    Open,
    /// `completed` or `failed`.
    Over,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The line is to be forwarded unchanged.
    Unchanged,
    /// The line was sent, changed or after another one.
    Sent,
}

/// An element of a tool call's content.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) raw: &'a RawValue,
    /// The terminal that the entry embeds.
    pub(super) terminal: Option<Embedded<'a>>,
}

/// A terminal in a tool call's content.
#[derive(Debug)]
pub(super) struct Embedded<'a> {
    /// An id that may not be the proxy's.
    pub(super) id: String,
    pub(super) meta: Option<&'a RawValue>,
}

impl Kind {
    /// The path of the tool call in the line.
    pub(super) fn path(self) -> [&'static str; 2] {
        match self {
            Self::Call | Self::Update => ["params", "update"],
            Self::Permission => ["params", "toolCall"],
        }
    }
}

impl<'a> ToolCallUpdate<'a> {
    /// Reads the params of a `session/update` or `session/request_permission`. `None` if they are not
    /// about a tool call.
    pub(super) fn read(params: &'a RawValue) -> Option<Self> {
        let params = Members::of(params.get())?;
        let (kind, members) = if let Some(update) = params.object("update") {
            let kind = match update.string("sessionUpdate")?.as_str() {
                "tool_call" => Kind::Call,
                "tool_call_update" => Kind::Update,
                _ => return None,
            };
            (kind, update)
        } else {
            (Kind::Permission, params.object("toolCall")?)
        };
        let status = members
            .string("status")
            .map(|status| match status.as_str() {
                "completed" | "failed" => Status::Over,
                _ => Status::Open,
            });
        Some(Self {
            kind,
            session: params.string("sessionId")?,
            call: members.string("toolCallId")?,
            status,
            content: members.get("content").and_then(entries),
            members,
        })
    }

    /// Whether the content embeds a terminal, which may not be the proxy's.
    pub(super) fn embeds_terminal(&self) -> bool {
        let mut entries = self.content.iter().flatten();
        entries.any(|entry| entry.terminal.is_some())
    }
}

/// Reads a content array. Another value, such as `null`, leaves the content unchanged.
fn entries(content: &RawValue) -> Option<Vec<Entry<'_>>> {
    let entries = elements(content)?.into_iter().map(|raw| Entry {
        raw,
        terminal: embedded(raw),
    });
    Some(entries.collect())
}

fn embedded(raw: &RawValue) -> Option<Embedded<'_>> {
    let members = Members::of(raw.get())?;
    if members.string("type")? != "terminal" {
        return None;
    }
    Some(Embedded {
        id: members.string("terminalId")?,
        meta: members.get("_meta"),
    })
}

/// Formats an element of a content array, with the `_meta` of the element that it replaces.
pub(super) fn text_entry(text: &str, meta: Option<&str>) -> String {
    let text = Value::from(text);
    let meta = meta.map_or_else(String::new, |meta| format!(r#","_meta":{meta}"#));
    format!(r#"{{"type":"content","content":{{"type":"text","text":{text}}}{meta}}}"#)
}

/// Replaces some entries of the content in a line, and leaves every other byte alone.
pub(super) fn with_entries(
    line: &str,
    entries: &[Entry<'_>],
    texts: impl IntoIterator<Item = Option<String>>,
) -> String {
    let replaced = entries.iter().zip(texts);
    let edits = replaced.filter_map(|(entry, text)| edit::replace(line, entry.raw, text?));
    edit::apply(line, edits.collect())
}

/// Formats a `session/update` of the proxy as a line with its end. The members are raw JSON.
pub(super) fn update_line<'m>(
    session: &str,
    variant: &str,
    call: &str,
    members: impl IntoIterator<Item = (&'m str, &'m str)>,
) -> Vec<u8> {
    let mut line = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":{},"update":{{"sessionUpdate":{},"toolCallId":{}"#,
        Value::from(session),
        Value::from(variant),
        Value::from(call),
    );
    for (name, raw) in members {
        // Writing to a string cannot fail.
        let _ = write!(line, ",{}:{raw}", Value::from(name));
    }
    line.push_str("}}}\n");
    line.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats an update for the tables.
    fn summary(params: &str) -> Option<String> {
        let update = ToolCallUpdate::read(serde_json::from_str(params).ok()?)?;
        let content = update.content.as_ref().map(|entries| {
            let ids = entries.iter().map(|entry| match &entry.terminal {
                Some(terminal) => terminal.id.clone(),
                None => "-".to_owned(),
            });
            ids.collect::<Vec<_>>().join(" ")
        });
        Some(format!(
            "{:?} {} {} {:?} {content:?}",
            update.kind, update.session, update.call, update.status
        ))
    }

    #[test]
    fn what_tells_of_tool_calls_is_read() {
        let table = [
            (
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}"#,
                Some("Call s c None None"),
            ),
            (
                r#"{"update":{"toolCallId":"c","status":"completed","content":null,"session\u0055pdate":"tool_call_update"},"sessionId":"s"}"#,
                Some("Update s c Some(Over) None"),
            ),
            (
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"diff","path":"/a"},{"type":"terminal","terminalId":"t1"},7,{"terminal\u0049d":"t2","type":"\u0074erminal"}]}}"#,
                Some(r#"Update s c Some(Open) Some("- t1 - t2")"#),
            ),
            (
                r#"{"sessionId":"s","options":[],"toolCall":{"toolCallId":"c","content":[]}}"#,
                Some(r#"Permission s c None Some("")"#),
            ),
            (
                r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"tool_call"}}}"#,
                None,
            ),
            (
                r#"{"sessionId":7,"update":{"sessionUpdate":"tool_call","toolCallId":"c"}}"#,
                None,
            ),
            (
                r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call"}}"#,
                None,
            ),
            ("[]", None),
        ];
        for (params, want) in table {
            assert_eq!(summary(params).as_deref(), want, "{params}");
        }
    }

    #[test]
    fn only_embedded_terminals_are_replaced() {
        let table = [
            (
                r#" { "params":{"sessionId":"s" ,"update":{"content":[ {"type":"terminal","terminalId":"a"} ],"toolCallId":"c","new":1.50,"sessionUpdate":"tool_call","_meta":{"\u0061":null}}},"method":"session/update"}"#,
                r#" { "params":{"sessionId":"s" ,"update":{"content":[ <a> ],"toolCallId":"c","new":1.50,"sessionUpdate":"tool_call","_meta":{"\u0061":null}}},"method":"session/update"}"#,
            ),
            (
                r#"{"id":"\u0031","params":{"sessionId":"s","options":[ ],"toolCall":{"toolCallId":"c","content":[{"x":"é"},{"type":"terminal","terminalId":"a"},7,{"terminal\u0049d":"b","type":"terminal","new":[]}]}}}"#,
                r#"{"id":"\u0031","params":{"sessionId":"s","options":[ ],"toolCall":{"toolCallId":"c","content":[{"x":"é"},<a>,7,<b>]}}}"#,
            ),
            (
                r#"{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"a"}],"content":[{"type":"terminal","terminalId":"a"},{"type":"terminal","terminalId":"a"}]}}}"#,
                r#"{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"a"}],"content":[<a>,<a>]}}}"#,
            ),
            (
                r#"{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal"},{"type":"diff","terminalId":"a"},{"type":"terminal","terminalId":1}]}}}"#,
                r#"{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal"},{"type":"diff","terminalId":"a"},{"type":"terminal","terminalId":1}]}}}"#,
            ),
        ];
        for (line, want) in table {
            let params = Members::of(line).unwrap().get("params").unwrap();
            let update = ToolCallUpdate::read(params).unwrap();
            let entries = update.content.as_ref().unwrap();
            let texts = entries.iter().map(|entry| {
                let terminal = entry.terminal.as_ref()?;
                Some(format!("<{}>", terminal.id))
            });
            assert_eq!(with_entries(line, entries, texts), want);
        }
    }

    #[test]
    fn our_lines_are_json_whatever_they_say() {
        let entry = text_entry("a \"b\"\n", Some(r#"{"x":1}"#));
        let content = format!("[{entry}]");
        let line = update_line(
            "s\"",
            "tool_call_update",
            "c\n",
            [("content", content.as_str())],
        );
        let value: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(
            value,
            serde_json::json!({
                "jsonrpc": "2.0",
                "method": "session/update",
                "params": { "sessionId": "s\"", "update": {
                    "sessionUpdate": "tool_call_update",
                    "toolCallId": "c\n",
                    "content": [{
                        "type": "content",
                        "content": { "type": "text", "text": "a \"b\"\n" },
                        "_meta": { "x": 1 },
                    }],
                }},
            })
        );
        assert!(line.ends_with(b"}\n"));
    }
}
