//! What a tool call is called and where it stands, as the agent has said it: for saying it again.

use super::told::{By, Told};
use crate::wire::message::Members;

/// The members of ACP's `ToolCall` that are said again. Its content follows, and its raw input and
/// output stay what they are where they are left out.
const NAMES: [&str; 5] = ["title", "name", "kind", "status", "locations"];
/// Most of one member that is kept, in bytes: all but odd titles and long lists of locations.
const KEPT_BYTES: usize = 4 << 10;

/// Some of a tool call's members.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// As raw JSON, in the order of [`NAMES`].
    members: [Option<String>; NAMES.len()],
    /// The `_meta` of its `tool_call`.
    meta: Option<String>,
}

impl Head {
    /// Takes what a line says.
    pub(super) fn take(&mut self, told: &Told<'_>) {
        if told.by == By::Call {
            *self = Self::default();
            self.meta = kept(&told.members, "_meta").filter(|meta| meta.starts_with('{'));
        }
        for (member, name) in self.members.iter_mut().zip(NAMES) {
            if let Some(said) = kept(&told.members, name) {
                *member = Some(said);
            }
        }
    }

    /// What is kept, each with its name. A tool call must have a title: where there is none, this.
    pub(super) fn members(&self, title: &str) -> Vec<(&'static str, String)> {
        let said = self.members.iter().zip(NAMES);
        said.filter_map(|(member, name)| match (member, name) {
            (Some(raw), _) => Some((name, raw.clone())),
            (None, "title") => Some((name, serde_json::Value::from(title).to_string())),
            (None, _) => None,
        })
        .collect()
    }

    /// The `_meta` of its `tool_call`: an object, or empty.
    pub(super) fn meta(&self) -> serde_json::Map<String, serde_json::Value> {
        let meta = self.meta.as_deref();
        meta.and_then(|meta| serde_json::from_str(meta).ok())
            .unwrap_or_default()
    }
}

fn kept(members: &Members<'_>, name: &str) -> Option<String> {
    let said = members.get(name)?.get();
    (said != "null" && said.len() <= KEPT_BYTES).then(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(head: &mut Head, params: &str) {
        head.take(&Told::read(serde_json::from_str(params).unwrap()).unwrap());
    }

    #[test]
    fn the_newest_of_each_member_is_kept() {
        let mut head = Head::default();
        take(
            &mut head,
            r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"a","kind":"execute","_meta":{"x":1.0},"rawInput":{"y":2}}}"#,
        );
        take(
            &mut head,
            r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"b","kind":null,"status":"in_progress","_meta":{"z":1}}}"#,
        );
        let want = [
            ("title", "\"b\""),
            ("kind", "\"execute\""),
            ("status", "\"in_progress\""),
        ];
        assert_eq!(
            head.members("-"),
            want.map(|(name, raw)| (name, raw.to_owned()))
        );
        assert_eq!(
            serde_json::Value::from(head.meta()).to_string(),
            r#"{"x":1.0}"#
        );
    }

    #[test]
    fn a_title_is_found_and_what_is_too_long_is_left_out() {
        let mut head = Head::default();
        let long = "x".repeat(KEPT_BYTES);
        take(
            &mut head,
            &format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c","title":"{long}"}}}}"#),
        );
        assert_eq!(head.members("make"), [("title", "\"make\"".to_owned())]);
        assert!(head.meta().is_empty());
    }
}
