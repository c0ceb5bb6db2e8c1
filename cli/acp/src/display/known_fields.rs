//! The members of a tool call that the proxy repeats when it has to send the `tool_call` again.

use super::tool_call_update::{Kind, ToolCallUpdate};
use crate::wire::message::Members;

/// The members of ACP's `ToolCall` that are repeated. The content follows in the agent's line, and a
/// client keeps raw input and output that are left out.
const NAMES: [&str; 5] = ["title", "name", "kind", "status", "locations"];
/// Longest member that is kept, in bytes. Only odd titles and long lists of locations are longer.
const MAX_FIELD_BYTES: usize = 4 << 10;

/// The last known members of a tool call.
#[derive(Debug, Default)]
pub(super) struct KnownFields {
    /// Raw JSON in the order of [`NAMES`].
    members: [Option<String>; NAMES.len()],
    /// The `_meta` of the `tool_call`.
    meta: Option<String>,
}

impl KnownFields {
    /// Takes the members of a line.
    pub(super) fn take(&mut self, update: &ToolCallUpdate<'_>) {
        if update.kind == Kind::Call {
            *self = Self::default();
            self.meta = kept(&update.members, "_meta").filter(|meta| meta.starts_with('{'));
        }
        for (member, name) in self.members.iter_mut().zip(NAMES) {
            if let Some(value) = kept(&update.members, name) {
                *member = Some(value);
            }
        }
    }

    /// The known members with their names. A tool call must have a title, so `title` is the fallback.
    pub(super) fn members(&self, title: &str) -> Vec<(&'static str, String)> {
        let fields = self.members.iter().zip(NAMES);
        fields
            .filter_map(|(member, name)| match (member, name) {
                (Some(raw), _) => Some((name, raw.clone())),
                (None, "title") => Some((name, serde_json::Value::from(title).to_string())),
                (None, _) => None,
            })
            .collect()
    }

    /// The `_meta` of the `tool_call`, or an empty object.
    pub(super) fn meta(&self) -> serde_json::Map<String, serde_json::Value> {
        let meta = self.meta.as_deref();
        meta.and_then(|meta| serde_json::from_str(meta).ok())
            .unwrap_or_default()
    }
}

fn kept(members: &Members<'_>, name: &str) -> Option<String> {
    let value = members.get(name)?.get();
    (value != "null" && value.len() <= MAX_FIELD_BYTES).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(fields: &mut KnownFields, params: &str) {
        fields.take(&ToolCallUpdate::read(serde_json::from_str(params).unwrap()).unwrap());
    }

    #[test]
    fn the_newest_of_each_member_is_kept() {
        let mut fields = KnownFields::default();
        take(
            &mut fields,
            r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"a","kind":"execute","_meta":{"x":1.0},"rawInput":{"y":2}}}"#,
        );
        take(
            &mut fields,
            r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"b","kind":null,"status":"in_progress","_meta":{"z":1}}}"#,
        );
        let want = [
            ("title", "\"b\""),
            ("kind", "\"execute\""),
            ("status", "\"in_progress\""),
        ];
        assert_eq!(
            fields.members("-"),
            want.map(|(name, raw)| (name, raw.to_owned()))
        );
        assert_eq!(
            serde_json::Value::from(fields.meta()).to_string(),
            r#"{"x":1.0}"#
        );
    }

    #[test]
    fn a_title_is_found_and_what_is_too_long_is_left_out() {
        let mut fields = KnownFields::default();
        let long = "x".repeat(MAX_FIELD_BYTES);
        take(
            &mut fields,
            &format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c","title":"{long}"}}}}"#),
        );
        assert_eq!(fields.members("make"), [("title", "\"make\"".to_owned())]);
        assert!(fields.meta().is_empty());
    }
}
