//! What a line of the agent's tells of a tool call, and the lines that we tell of it. Pure.

use std::fmt::Write as _;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::edit;
use crate::wire::message::{Members, elements};

/// What a line tells of a tool call. All of it is borrowed from the line.
#[derive(Debug)]
pub(super) struct Told<'a> {
    /// By which message.
    pub(super) by: By,
    /// The ACP session.
    pub(super) session: String,
    /// The tool call (`toolCallId`), one of the session's.
    pub(super) call: String,
    /// How far it is, where the line says so.
    pub(super) status: Option<Status>,
    /// Its content, whole, where the line gives one.
    pub(super) content: Option<Vec<Entry<'a>>>,
    /// Everything that the line says of it.
    pub(super) members: Members<'a>,
}

/// The messages that tell of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// `session/update` with a `tool_call`: all of it.
    Call,
    /// `session/update` with a `tool_call_update`: what has changed.
    Update,
    /// `session/request_permission`: what has changed, too.
    Permission,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Status {
    /// `pending` or `in_progress`, or a word that ACP may learn.
    #[default]
    Open,
    /// `completed` or `failed`.
    Over,
}

/// One element of a tool call's content.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// As it stands in the line.
    pub(super) raw: &'a RawValue,
    /// The terminal that it embeds, if it does that.
    pub(super) terminal: Option<Embedded<'a>>,
}

/// A terminal in a tool call's content.
#[derive(Debug)]
pub(super) struct Embedded<'a> {
    /// Its id; anybody's.
    pub(super) id: String,
    /// The entry's `_meta`.
    pub(super) meta: Option<&'a RawValue>,
}

impl By {
    /// Where in the line the tool call's members stand.
    pub(super) fn path(self) -> [&'static str; 2] {
        match self {
            Self::Call | Self::Update => ["params", "update"],
            Self::Permission => ["params", "toolCall"],
        }
    }
}

impl<'a> Told<'a> {
    /// What these params of a `session/update` or `session/request_permission` tell; `None` where
    /// that is nothing of a tool call.
    pub(super) fn read(params: &'a RawValue) -> Option<Self> {
        let params = Members::of(params.get())?;
        let (by, members) = if let Some(update) = params.object("update") {
            let by = match update.string("sessionUpdate")?.as_str() {
                "tool_call" => By::Call,
                "tool_call_update" => By::Update,
                _ => return None,
            };
            (by, update)
        } else {
            (By::Permission, params.object("toolCall")?)
        };
        let status = members
            .string("status")
            .map(|status| match status.as_str() {
                "completed" | "failed" => Status::Over,
                _ => Status::Open,
            });
        Some(Self {
            by,
            session: params.string("sessionId")?,
            call: members.string("toolCallId")?,
            status,
            content: members.get("content").and_then(entries),
            members,
        })
    }

    /// Whether its content embeds a terminal, anybody's.
    pub(super) fn embeds(&self) -> bool {
        let mut entries = self.content.iter().flatten();
        entries.any(|entry| entry.terminal.is_some())
    }
}

/// The elements of a content array; `None` where it is none (`null`: unchanged).
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

/// An element of a content array that is this text, with the `_meta` of the one in whose place it
/// stands.
pub(super) fn text_entry(text: &str, meta: Option<&str>) -> String {
    let text = Value::from(text);
    let meta = meta.map_or_else(String::new, |meta| format!(r#","_meta":{meta}"#));
    format!(r#"{{"type":"content","content":{{"type":"text","text":{text}}}{meta}}}"#)
}

/// The line with some entries of its content replaced, and every other byte as it came.
pub(super) fn with_entries(
    line: &str,
    entries: &[Entry<'_>],
    texts: impl IntoIterator<Item = Option<String>>,
) -> String {
    let replaced = entries.iter().zip(texts);
    let edits = replaced.filter_map(|(entry, text)| edit::replace(line, entry.raw, text?));
    edit::apply(line, edits.collect())
}

/// A `session/update` of ours: a line, with its end. The members are raw JSON.
pub(super) fn update_line<'m>(
    session: &str,
    kind: &str,
    call: &str,
    members: impl IntoIterator<Item = (&'m str, &'m str)>,
) -> Vec<u8> {
    let mut line = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":{},"update":{{"sessionUpdate":{},"toolCallId":{}"#,
        Value::from(session),
        Value::from(kind),
        Value::from(call),
    );
    for (name, raw) in members {
        // Writing to a string does not fail.
        let _ = write!(line, ",{}:{raw}", Value::from(name));
    }
    line.push_str("}}}\n");
    line.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a table can hold of it.
    fn summary(params: &str) -> Option<String> {
        let told = Told::read(serde_json::from_str(params).ok()?)?;
        let content = told.content.as_ref().map(|entries| {
            let ids = entries.iter().map(|entry| match &entry.terminal {
                Some(terminal) => terminal.id.clone(),
                None => "-".to_owned(),
            });
            ids.collect::<Vec<_>>().join(" ")
        });
        Some(format!(
            "{:?} {} {} {:?} {content:?}",
            told.by, told.session, told.call, told.status
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
            let told = Told::read(params).unwrap();
            let entries = told.content.as_ref().unwrap();
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
