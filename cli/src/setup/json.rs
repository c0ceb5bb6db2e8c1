//! An entry in JSON settings, which may have comments and trailing commas. Pure.
//!
//! The edit is made in a concrete syntax tree and then verified: the new text must parse to the old
//! value with the entry, or without it, and nothing else.

use jsonc_parser::ast::{Object, Value as Ast};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::entry::{Content, Field, Server, Upkeep, is_ours, taken};
use super::{Change, Edited, Fault};

/// Some editors put it before UTF-8. It is not part of the JSON.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// In place of an empty text.
pub(super) const EMPTY: &str = "{}\n";

/// Comments and trailing commas, as Zed, VS Code and opencode allow. No client reads the rest of
/// JSON5.
const fn dialect() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The text with the server in `container`.
pub(super) fn add(
    text: &str,
    container: &str,
    server: &Server,
    fields: &[Field],
) -> Result<Edited, Fault> {
    let (mark, body) = split_mark(text);
    let before = check(body, container, server)?;
    let mut wanted = before.unwrap_or_default();
    let servers = (wanted.entry(container)).or_insert_with(|| Value::Object(Map::new()));
    let Some(servers) = servers.as_object_mut() else {
        return Err(Fault::at(body, 0, not_an_object(container)));
    };
    let change = if let Some(Value::Object(entry)) = servers.get_mut(&server.name) {
        let was = entry.clone();
        merge(entry, fields, Upkeep::Held);
        if *entry == was {
            return Ok(Edited::unchanged(Change::AlreadyThere, text));
        }
        Change::Updated
    } else {
        let mut entry = Map::new();
        merge(&mut entry, fields, Upkeep::Initial);
        servers.insert(server.name.clone(), Value::Object(entry));
        Change::Added
    };
    // The tree of an empty text has no newline at its end.
    let body = if body.trim().is_empty() { EMPTY } else { body };
    let tree = parse(body)?;
    let servers = (tree.object_value_or_create())
        .and_then(|root| root.object_value_or_create(container))
        .ok_or_else(|| Fault::at(body, 0, not_an_object(container)))?;
    match servers.object_value(&server.name) {
        Some(entry) => fields
            .iter()
            .filter(|field| field.upkeep == Upkeep::Held)
            .for_each(|field| set(&entry, field)),
        None => {
            servers.append(&server.name, object_input(fields));
        }
    }
    finish(mark, body, &tree, change, wanted)
}

/// The arguments of the server's entry, where one is there.
pub(super) fn arguments(text: &str, container: &str, server: &Server) -> Option<Vec<String>> {
    let (_, body) = split_mark(text);
    let settings = check(body, container, server).ok()??;
    let entry = settings.get(container)?.get(&server.name)?;
    let words = match entry.get("args") {
        Some(args) => args.as_array()?.as_slice(),
        // The program and its arguments are one list.
        None => entry.get("command")?.as_array()?.get(1..)?,
    };
    words
        .iter()
        .map(|word| word.as_str().map(str::to_owned))
        .collect()
}

/// The text without the server.
pub(super) fn remove(text: &str, container: &str, server: &Server) -> Result<Edited, Fault> {
    let (mark, body) = split_mark(text);
    let Some(mut wanted) = check(body, container, server)? else {
        return Ok(Edited::unchanged(Change::NotThere, text));
    };
    let gone = (wanted.get_mut(container))
        .and_then(Value::as_object_mut)
        .and_then(|servers| servers.remove(&server.name));
    if gone.is_none() {
        return Ok(Edited::unchanged(Change::NotThere, text));
    }
    let tree = parse(body)?;
    let entry = (tree.object_value())
        .and_then(|root| root.object_value(container))
        .and_then(|servers| servers.get(&server.name));
    if let Some(entry) = entry {
        entry.remove();
    }
    let root = tree.object_value();
    let servers = root.as_ref().and_then(|root| root.object_value(container));
    if servers.as_ref().is_some_and(is_bare) {
        if let Some(servers) = root.and_then(|root| root.get(container)) {
            servers.remove();
        }
        wanted.remove(container);
    }
    finish(mark, body, &tree, Change::Removed, wanted)
}

/// Whether an object is empty. A comment keeps the object that it stands in.
pub(super) fn is_bare(object: &CstObject) -> bool {
    let text = object.to_string();
    text.trim_matches(['{', '}']).trim().is_empty()
}

pub(super) fn finish(
    mark: &str,
    body: &str,
    tree: &CstRootNode,
    change: Change,
    wanted: Map<String, Value>,
) -> Result<Edited, Fault> {
    let edited = tree.to_string();
    if value_of(&parse(&edited)?) == Some(Value::Object(wanted)) {
        Ok(Edited {
            change,
            text: format!("{mark}{edited}"),
        })
    } else {
        Err(Fault::at(
            body,
            0,
            "cannot be edited without changing something else",
        ))
    }
}

pub(super) fn split_mark(text: &str) -> (&str, &str) {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split_at(text.len().saturating_sub(body.len()))
}

pub(super) fn parse(body: &str) -> Result<CstRootNode, Fault> {
    CstRootNode::parse(body, &dialect()).map_err(|error| Fault {
        line: error.line_display(),
        column: error.column_display(),
        reason: lower_first(&error.kind().to_string()),
    })
}

/// The settings' object; `None` in a text without a value.
pub(super) fn root(body: &str) -> Result<Option<Object<'_>>, Fault> {
    let ast = parse_to_ast(body, &CollectOptions::default(), &dialect())
        .map_err(|error| Fault::at(body, error.range().start, error.kind().to_string()))?;
    match ast.value {
        None => Ok(None),
        Some(Ast::Object(root)) => Ok(Some(root)),
        Some(other) => Err(Fault::at(
            body,
            other.start(),
            "the settings are not an object",
        )),
    }
}

/// The text's value; `None` if it has none. A value in the place of the entry's containers is a fault
/// with its place.
fn check(
    body: &str,
    container: &str,
    server: &Server,
) -> Result<Option<Map<String, Value>>, Fault> {
    let tree = parse(body)?;
    let Some(root) = root(body)? else {
        return Ok(None);
    };
    if let Some(servers) = only(body, &root, container)? {
        let Ast::Object(servers) = servers else {
            return Err(Fault::at(body, servers.start(), not_an_object(container)));
        };
        if let Some(entry) = only(body, servers, &server.name)? {
            let theirs = || Fault::at(body, entry.start(), taken(&server.name));
            let Ast::Object(members) = entry else {
                return Err(theirs());
            };
            let command = match only(body, members, "command")? {
                Some(Ast::StringLit(command)) => Some(&command.value),
                Some(Ast::Array(argv)) => match argv.elements.first() {
                    Some(Ast::StringLit(command)) => Some(&command.value),
                    _ => None,
                },
                _ => None,
            };
            if !command.is_some_and(|command| is_ours(command)) {
                return Err(theirs());
            }
        }
    }
    match value_of(&tree) {
        Some(Value::Object(map)) => Ok(Some(map)),
        _ => Err(Fault::at(body, 0, "the settings cannot be read")),
    }
}

/// The member of that name. Two are a fault, because readers differ in which one they take.
pub(super) fn only<'a, 'b>(
    body: &str,
    object: &'b Object<'a>,
    name: &str,
) -> Result<Option<&'b Ast<'a>>, Fault> {
    let mut found = (object.properties.iter()).filter(|member| member.name.as_str() == name);
    let first = found.next();
    if let Some(second) = found.next() {
        return Err(Fault::at(
            body,
            second.range.start,
            format!("\"{name}\" is there twice"),
        ));
    }
    Ok(first.map(|member| &member.value))
}

fn value_of(tree: &CstRootNode) -> Option<Value> {
    tree.to_serde_value()
}

pub(super) fn not_an_object(container: &str) -> String {
    format!("\"{container}\" is not an object")
}

/// Sets an entry's members: the held ones, and in a new entry the initial ones too.
fn merge(entry: &mut Map<String, Value>, fields: &[Field], least: Upkeep) {
    let due = |field: &&Field| field.upkeep == Upkeep::Held || least == Upkeep::Initial;
    for field in fields.iter().filter(due) {
        let value = match &field.content {
            Content::Map(variables) => {
                let mut map = match entry.get(field.key) {
                    Some(Value::Object(map)) => map.clone(),
                    _ => Map::new(),
                };
                for (name, value) in variables {
                    map.insert(name.clone(), Value::String(value.clone()));
                }
                Value::Object(map)
            }
            plain => value(plain),
        };
        entry.insert(field.key.to_owned(), value);
    }
}

fn value(content: &Content) -> Value {
    match content {
        Content::Text(text) => Value::String(text.clone()),
        Content::Flag(flag) => Value::Bool(*flag),
        Content::List(items) => items.iter().cloned().map(Value::String).collect(),
        Content::Map(variables) => {
            let pairs = variables.iter();
            pairs
                .map(|(name, value)| (name.clone(), Value::String(value.clone())))
                .collect()
        }
    }
}

/// Sets a member in the tree. An equal value stays as it is.
fn set(entry: &CstObject, field: &Field) {
    if let Content::Map(variables) = &field.content
        && let Some(map) = entry.object_value(field.key)
    {
        for (name, value) in variables {
            put(&map, name, &Content::Text(value.clone()));
        }
        return;
    }
    put(entry, field.key, &field.content);
}

fn put(object: &CstObject, key: &str, content: &Content) {
    match object.get(key) {
        Some(member) => {
            let is = member.value().and_then(|node| node.to_serde_value());
            if is != Some(value(content)) {
                member.set_value(input(content));
            }
        }
        None => {
            object.append(key, input(content));
        }
    }
}

fn input(content: &Content) -> CstInputValue {
    let text = |text: &String| CstInputValue::String(text.clone());
    match content {
        Content::Text(value) => text(value),
        Content::Flag(flag) => CstInputValue::Bool(*flag),
        Content::List(items) => CstInputValue::Array(items.iter().map(text).collect()),
        Content::Map(variables) => {
            let pairs = variables.iter();
            CstInputValue::Object(
                pairs
                    .map(|(name, value)| (name.clone(), text(value)))
                    .collect(),
            )
        }
    }
}

fn object_input(fields: &[Field]) -> CstInputValue {
    let member = |field: &Field| (field.key.to_owned(), input(&field.content));
    CstInputValue::Object(fields.iter().map(member).collect())
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}
