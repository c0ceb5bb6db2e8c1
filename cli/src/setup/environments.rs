//! Codex's `environments.toml`: an environment that `termctl codex-exec-server` serves. Pure.
//!
//! What is new is added as text, at the start and the end, so the text between stays by construction.

use toml_edit::{Document, DocumentMut, Item, Table};

use super::entry::is_ours;
use super::toml::{faithful, finish};
use super::{Change, Edited, Fault};

/// The environment's id.
const ID: &str = "termd";
/// The verb that serves it.
const VERB: &str = "codex-exec-server";

/// The text with the environment in it, which is the default one.
pub(super) fn add(text: &str, program: &str) -> Result<Edited, Fault> {
    match found(text)? {
        Some(there) if there == program => {
            return Ok(Edited::unchanged(Change::AlreadyThere, text));
        }
        Some(_) => {
            let mut document = faithful(text)?;
            if let Some(entry) =
                entries(&mut document).and_then(|mut them| them.find(|table| is_entry(table)))
            {
                entry.insert("program", program.into());
            }
            return Ok(finish(text, &document, Change::Updated));
        }
        None => {}
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    // Without the commands on this machine themselves, which would pass by the shell.
    let head = format!("default = \"{ID}\"\ninclude_local = false\n");
    let head = if document(text)?.contains_key("include_local") {
        format!("default = \"{ID}\"\n")
    } else {
        head
    };
    let entry = format!(
        "[[environments]]\nid = \"{ID}\"\nprogram = {}\nargs = [\"{VERB}\"]\n",
        toml_edit::Value::from(program)
    );
    let is_ended = text.is_empty() || text.ends_with('\n');
    let mut edited = head.replace('\n', newline);
    edited.push_str(text);
    if !is_ended {
        edited.push_str(newline);
    }
    edited.push_str(newline);
    edited.push_str(&entry.replace('\n', newline));
    if !is_ended {
        let kept = edited.trim_end_matches(['\r', '\n']).len();
        edited.truncate(kept);
    }
    if found(&edited).is_ok_and(|there| there.as_deref() == Some(program)) {
        Ok(Edited {
            change: Change::Added,
            text: edited,
        })
    } else {
        let reason = "environments is written in a way that cannot be added to";
        Err(Fault::at(text, 0, reason))
    }
}

/// The text without the environment, and without what made it the default one.
pub(super) fn remove(text: &str) -> Result<Edited, Fault> {
    let is_there = document(text)?
        .get("environments")
        .and_then(Item::as_array_of_tables)
        .is_some_and(|tables| tables.iter().any(is_entry));
    if !is_there {
        return Ok(Edited::unchanged(Change::NotThere, text));
    }
    let mut document = faithful(text)?;
    let mut comments = String::new();
    if let Some(tables) = (document.get_mut("environments")).and_then(Item::as_array_of_tables_mut)
    {
        tables.retain(|table| {
            let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str());
            // A comment above the entry may be about anything, so it stays, at the end.
            if let Some(prefix) = prefix.filter(|prefix| is_entry(table) && prefix.contains('#')) {
                comments.push_str(prefix);
            }
            !is_entry(table)
        });
        if tables.is_empty() {
            document.remove("environments");
        }
    }
    if document.get("default").and_then(Item::as_str) == Some(ID) {
        document.remove("default");
        // Alone it would leave Codex without any environment.
        if document.get("include_local").and_then(Item::as_bool) == Some(false) {
            document.remove("include_local");
        }
    }
    if !comments.is_empty() {
        let below = document.trailing().as_str().unwrap_or_default();
        let both = format!("{comments}{below}");
        document.set_trailing(both);
    }
    Ok(finish(text, &document, Change::Removed))
}

/// The program of the entry, if it is there and the default. Another one in its place is a fault.
pub(super) fn found(text: &str) -> Result<Option<String>, Fault> {
    let document = document(text)?;
    let start = |item: &Item| item.span().map_or(0, |span| span.start);
    if let Some(default) = document.get("default")
        && default.as_str() != Some(ID)
    {
        let reason = "default is set to something else, and stays; take it out first";
        return Err(Fault::at(text, start(default), reason));
    }
    let Some(environments) = document.get("environments") else {
        return Ok(None);
    };
    let Some(tables) = environments.as_array_of_tables() else {
        return Ok(None);
    };
    let named = |table: &&Table| table.get("id").and_then(Item::as_str) == Some(ID);
    let Some(entry) = tables.iter().find(named) else {
        return Ok(None);
    };
    if !is_entry(entry) {
        let at = entry.span().map_or(0, |span| span.start);
        let reason = format!("the environment \"{ID}\" is somebody else's, and stays");
        return Err(Fault::at(text, at, reason));
    }
    if !document.contains_key("default") {
        return Ok(None);
    }
    Ok(entry
        .get("program")
        .and_then(Item::as_str)
        .map(str::to_owned))
}

fn document(text: &str) -> Result<Document<String>, Fault> {
    Document::parse(text.to_owned()).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::at(text, at, error.message().replace('\n', ", "))
    })
}

fn entries(document: &mut DocumentMut) -> Option<impl Iterator<Item = &mut Table>> {
    let tables = document.get_mut("environments")?;
    Some(tables.as_array_of_tables_mut()?.iter_mut())
}

/// Whether an environment is termctl's.
fn is_entry(table: &Table) -> bool {
    let text = |key| table.get(key).and_then(Item::as_str);
    text("id") == Some(ID) && text("program").is_some_and(is_ours)
}
