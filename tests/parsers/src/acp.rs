//! What holds for every line that an agent or a client sends to the ACP proxy.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use termd_acp::wire::cut_message::CutMessage;
use termd_acp::wire::edit::{apply, push, set};
use termd_acp::wire::message::{Members, Message};

/// Any bytes are read; a whole line's head says what the line says; a change sets what it is told
/// to set, leaves the other members, and JSON stays JSON.
pub fn holds(data: &[u8]) {
    for end in [data.len() / 3, data.len() / 2, data.len()] {
        CutMessage::read(data.get(..end).unwrap_or_default());
    }
    let Ok(line) = std::str::from_utf8(data) else {
        return;
    };
    let message = Message::read(line);
    let is_json = serde_json::from_str::<&RawValue>(line).is_ok();
    assert_eq!(message.is_ok(), is_json, "{line}");
    let Some(members) = Members::of(line) else {
        assert!(!matches!(
            message,
            Ok(Message::Request { .. } | Message::Response { .. })
        ));
        return;
    };
    head_agrees(line, &members);
    for path in [&["params", "clientCapabilities", "terminal"][..], &["id"]] {
        let value = json!({ "planted": [1, "\u{1}\""] });
        if let Some(edit) = set(line, path, &value) {
            let changed = apply(line, vec![edit]);
            assert_eq!(raw_at(&changed, path), Some(value.to_string()), "{line}");
            others_are_the_same(line, &changed, path[0]);
        }
    }
    if let Some(edit) = push(line, &["params", "mcpServers"], &json!(7)) {
        let changed = apply(line, vec![edit]);
        let pushed = raw_at(&changed, &["params", "mcpServers"]).unwrap_or_default();
        assert!(
            pushed.starts_with('[') && pushed.ends_with("7]"),
            "{line} became {changed}"
        );
        others_are_the_same(line, &changed, "params");
    }
}

fn head_agrees(line: &str, members: &Members<'_>) {
    let has = |name: &str| members.get(name).is_some();
    // A member that stands twice is seen at its first place by one and at its last by the other.
    let names: Vec<&str> = line.matches("id").chain(line.matches("\\u")).collect();
    if names.len() > 1 {
        return;
    }
    match Message::read(line) {
        Ok(Message::Request { id, .. }) if !has("result") && !has("error") => {
            assert_eq!(
                CutMessage::read(line.as_bytes()),
                CutMessage::Request(id),
                "{line}"
            );
        }
        Ok(Message::Response { id, .. }) if !has("method") && !has("params") => {
            assert_eq!(
                CutMessage::read(line.as_bytes()),
                CutMessage::Response(id),
                "{line}"
            );
        }
        _ => {}
    }
}

fn raw_at(line: &str, path: &[&str]) -> Option<String> {
    let (last, before) = path.split_last()?;
    let mut members = Members::of(line)?;
    for name in before {
        members = members.object(name)?;
    }
    members.get(last).map(|raw| raw.get().to_owned())
}

fn others_are_the_same(before: &str, after: &str, changed: &str) {
    // Deeper than serde_json goes: what it is cannot be compared.
    let (Ok(Value::Object(mut before)), Ok(Value::Object(mut after))) =
        (serde_json::from_str(before), serde_json::from_str(after))
    else {
        return;
    };
    before.remove(changed);
    after.remove(changed);
    assert_eq!(before, after);
}
