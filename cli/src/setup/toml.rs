//! An entry in TOML settings (Codex). Pure.
//!
//! A new entry is appended as text, so the text before it stays by construction. An existing entry is
//! edited in `toml_edit`'s document, which keeps comments and order.

use std::fmt::Write as _;

use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, TableLike, Value};

use super::clients::Format;
use super::entry::{Content, Field, Server, Upkeep, is_ours, taken};
use super::{Change, Edited, Fault};

const CONTAINER: &str = Format::CodexToml.container();

/// The text with the server in it.
pub(super) fn add(text: &str, server: &Server, fields: &[Field]) -> Result<Edited, Fault> {
    if !is_there(text, server)? {
        return append(text, server, fields);
    }
    let mut document = faithful(text)?;
    let entry = (document.get_mut(CONTAINER))
        .and_then(Item::as_table_like_mut)
        .and_then(|servers| servers.get_mut(&server.name))
        .and_then(Item::as_table_like_mut)
        .ok_or_else(|| Fault::at(text, 0, taken(&server.name)))?;
    let mut is_changed = false;
    for field in fields.iter().filter(|field| field.upkeep == Upkeep::Held) {
        is_changed |= set(entry, field);
    }
    if is_changed {
        Ok(finish(text, &document, Change::Updated))
    } else {
        Ok(Edited::unchanged(Change::AlreadyThere, text))
    }
}

/// The arguments of the server's entry, where one is there.
pub(super) fn arguments(text: &str, server: &Server) -> Option<Vec<String>> {
    let document = Document::parse(text).ok()?;
    let entries = document.get(CONTAINER)?.as_table_like()?;
    let entry = entries.get(&server.name)?.as_table_like()?;
    let words = entry.get("args")?.as_array()?.iter();
    words.map(|word| word.as_str().map(str::to_owned)).collect()
}

/// The text without the server.
pub(super) fn remove(text: &str, server: &Server) -> Result<Edited, Fault> {
    if !is_there(text, server)? {
        return Ok(Edited::unchanged(Change::NotThere, text));
    }
    let mut document = faithful(text)?;
    let servers = (document.get_mut(CONTAINER)).and_then(Item::as_table_like_mut);
    let gone = servers.and_then(|servers| servers.remove(&server.name));
    // A comment above the entry may be about anything, so it stays, at the end.
    let above = gone
        .as_ref()
        .and_then(Item::as_table)
        .and_then(|table| table.decor().prefix())
        .and_then(|prefix| prefix.as_str())
        .filter(|prefix| prefix.contains('#'));
    if let Some(above) = above {
        let below = document.trailing().as_str().unwrap_or_default();
        let both = format!("{above}{below}");
        document.set_trailing(both);
    }
    Ok(finish(text, &document, Change::Removed))
}

/// The entry as text of its own.
pub(super) fn block(server: &Server, fields: &[Field]) -> String {
    let mut block = format!("[{CONTAINER}.{}]\n", server.name);
    for field in fields {
        let _ = writeln!(block, "{} = {}", field.key, value(&field.content));
    }
    block
}

/// Whether the entry is there. Another value in its place is a fault with its place.
fn is_there(text: &str, server: &Server) -> Result<bool, Fault> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::at(text, at, error.message().replace('\n', ", "))
    })?;
    let start = |item: &Item| item.span().map_or(0, |span| span.start);
    let Some(servers) = document.get(CONTAINER) else {
        return Ok(false);
    };
    let Some(entries) = servers.as_table_like() else {
        let reason = format!("{CONTAINER} is not a table");
        return Err(Fault::at(text, start(servers), reason));
    };
    let Some(entry) = entries.get(&server.name) else {
        return Ok(false);
    };
    let command = (entry.as_table_like())
        .and_then(|members| members.get("command"))
        .and_then(Item::as_str);
    if command.is_some_and(is_ours) {
        Ok(true)
    } else {
        Err(Fault::at(text, start(entry), taken(&server.name)))
    }
}

fn append(text: &str, server: &Server, fields: &[Field]) -> Result<Edited, Fault> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut edited = text.to_owned();
    let is_ended = text.is_empty() || text.ends_with('\n');
    if !is_ended {
        edited.push_str(newline);
    }
    if !text.trim().is_empty() {
        edited.push_str(newline);
    }
    edited.push_str(&block(server, fields).replace('\n', newline));
    if !is_ended {
        let kept = edited.trim_end_matches(['\r', '\n']).len();
        edited.truncate(kept);
    }
    if is_there(&edited, server).unwrap_or(false) {
        return Ok(Edited {
            change: Change::Added,
            text: edited,
        });
    }
    // The servers are one inline table, to which no header can add.
    let mut document = faithful(text)?;
    let servers = (document.get_mut(CONTAINER)).and_then(Item::as_inline_table_mut);
    let Some(servers) = servers else {
        let reason = format!("{CONTAINER} is written in a way that cannot be added to");
        return Err(Fault::at(text, 0, reason));
    };
    let mut entry = InlineTable::new();
    for field in fields {
        entry.insert(field.key, value(&field.content));
    }
    servers.insert(&server.name, Value::InlineTable(entry));
    Ok(finish(text, &document, Change::Added))
}

/// The document, if writing it gives the same text.
pub(super) fn faithful(text: &str) -> Result<DocumentMut, Fault> {
    let document: DocumentMut = (text.parse())
        .map_err(|error: toml_edit::TomlError| Fault::at(text, 0, error.message().to_owned()))?;
    if written(text, &document) == text {
        Ok(document)
    } else {
        let reason = "cannot be edited without changing something else";
        Err(Fault::at(text, 0, reason))
    }
}

pub(super) fn finish(text: &str, document: &DocumentMut, change: Change) -> Edited {
    Edited {
        change,
        text: written(text, document),
    }
}

/// The document's text. `toml_edit` ends it with a newline, which a text without one does not get, and ends lines
/// with LF, also where the text has CR LF.
pub(super) fn written(text: &str, document: &DocumentMut) -> String {
    let mut out = document.to_string();
    if text.contains("\r\n") {
        out = out.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let kept = out.trim_end_matches(['\r', '\n']).len();
        out.truncate(kept);
    }
    out
}

/// Sets one member. Returns whether it changed.
fn set(entry: &mut dyn TableLike, field: &Field) -> bool {
    if let Content::Map(variables) = &field.content
        && let Some(map) = entry.get_mut(field.key).and_then(Item::as_table_like_mut)
    {
        let mut is_changed = false;
        for (name, text) in variables {
            is_changed |= put(map, name, &Content::Text(text.clone()));
        }
        return is_changed;
    }
    put(entry, field.key, &field.content)
}

fn put(table: &mut dyn TableLike, key: &str, content: &Content) -> bool {
    let Some(item) = table.get_mut(key) else {
        table.insert(key, Item::Value(value(content)));
        return true;
    };
    if holds(item, content) {
        return false;
    }
    let mut new = value(content);
    if let Some(old) = item.as_value() {
        // In the document, a comment behind the value is part of the value.
        *new.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(new);
    true
}

fn holds(item: &Item, content: &Content) -> bool {
    match content {
        Content::Text(text) => item.as_str() == Some(text),
        Content::Flag(flag) => item.as_bool() == Some(*flag),
        Content::List(items) => item.as_array().is_some_and(|array| {
            let texts: Vec<Option<&str>> = array.iter().map(Value::as_str).collect();
            texts
                == items
                    .iter()
                    .map(|item| Some(item.as_str()))
                    .collect::<Vec<_>>()
        }),
        Content::Map(_) => false,
    }
}

pub(super) fn value(content: &Content) -> Value {
    match content {
        Content::Text(text) => Value::from(text.as_str()),
        Content::Flag(flag) => Value::from(*flag),
        Content::List(items) => Value::Array(items.iter().collect::<Array>()),
        Content::Map(variables) => {
            let mut table = InlineTable::new();
            for (name, text) in variables {
                table.insert(name, Value::from(text.as_str()));
            }
            Value::InlineTable(table)
        }
    }
}
