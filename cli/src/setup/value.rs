//! One value in JSON settings, at a path of members. Pure.
//!
//! A value of termctl's is replaced; a value that a person has set stays, and is a fault with its place.

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::{Map, Value};

use super::json::{EMPTY, finish, is_bare, not_an_object, only, parse, root, split_mark};
use super::{Change, Edited, Fault};

/// A value, and the place where it belongs.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    /// The names of the members from the outside in.
    pub(super) path: &'a [&'a str],
    pub(super) value: Value,
    /// Whether a value that is there is termctl's.
    pub(super) is_ours: fn(&Value) -> bool,
}

impl Setting<'_> {
    /// The text with the value in it.
    pub(super) fn add(&self, text: &str) -> Result<Edited, Fault> {
        let (mark, body) = split_mark(text);
        let (name, containers) = self.split()?;
        let change = match self.found(body)? {
            None => Change::Added,
            Some((value, _)) if value == self.value => {
                return Ok(Edited::unchanged(Change::AlreadyThere, text));
            }
            Some((value, _)) if (self.is_ours)(&value) => Change::Updated,
            Some((_, start)) => return Err(Fault::at(body, start, self.taken())),
        };
        let body = if body.trim().is_empty() { EMPTY } else { body };
        let tree = parse(body)?;
        let mut wanted = settings(tree.to_serde_value());
        let mut inner = &mut wanted;
        let mut object = tree.object_value_or_create();
        for container in containers {
            object = object.and_then(|object| object.object_value_or_create(container));
            let member = inner.entry(*container).or_insert_with(|| Map::new().into());
            inner = member
                .as_object_mut()
                .ok_or_else(|| Fault::at(body, 0, not_an_object(container)))?;
        }
        inner.insert((*name).to_owned(), self.value.clone());
        let object = object.ok_or_else(|| Fault::at(body, 0, "the settings are not an object"))?;
        match object.get(name) {
            Some(member) => member.set_value(input(&self.value)),
            None => {
                object.append(name, input(&self.value));
            }
        }
        finish(mark, body, &tree, change, wanted)
    }

    /// The text without the value, if it is termctl's, and without the objects that held nothing else.
    pub(super) fn remove(&self, text: &str) -> Result<Edited, Fault> {
        let (mark, body) = split_mark(text);
        let (name, containers) = self.split()?;
        let found = self.found(body)?;
        if !found.is_some_and(|(value, _)| (self.is_ours)(&value)) {
            return Ok(Edited::unchanged(Change::NotThere, text));
        }
        let tree = parse(body)?;
        let mut wanted = settings(tree.to_serde_value());
        if let Some(root) = tree.object_value() {
            take(&root, &mut wanted, containers, name);
        }
        finish(mark, body, &tree, Change::Removed, wanted)
    }

    /// The value that is there, and its first byte.
    fn found(&self, body: &str) -> Result<Option<(Value, usize)>, Fault> {
        let (name, containers) = self.split()?;
        let Some(root) = root(body)? else {
            return Ok(None);
        };
        let mut object = &root;
        for container in containers {
            match only(body, object, container)? {
                None => return Ok(None),
                Some(Ast::Object(inner)) => object = inner,
                Some(other) => {
                    return Err(Fault::at(body, other.start(), not_an_object(container)));
                }
            }
        }
        let Some(value) = only(body, object, name)? else {
            return Ok(None);
        };
        Ok(Some((value.clone().into(), value.start())))
    }

    fn split(&self) -> Result<(&&str, &[&str]), Fault> {
        let split = self.path.split_last();
        split.ok_or_else(|| Fault::at("", 0, "a setting without a name"))
    }

    fn taken(&self) -> String {
        let name = self.path.join(".");
        format!("{name} is set to something else, and stays; take it out first")
    }
}

/// The value at a path of members in a text.
pub(super) fn found(text: &str, path: &[&str]) -> Result<Option<Value>, Fault> {
    let setting = Setting {
        path,
        value: Value::Null,
        is_ours: |_| false,
    };
    let (_, body) = split_mark(text);
    Ok(setting.found(body)?.map(|(value, _)| value))
}

/// The members of the settings' object.
pub(super) fn settings(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// Removes a member, and each object around it that is then empty.
fn take(object: &CstObject, wanted: &mut Map<String, Value>, containers: &[&str], name: &str) {
    let Some((container, inner)) = containers.split_first() else {
        if let Some(member) = object.get(name) {
            member.remove();
        }
        wanted.remove(name);
        return;
    };
    let (Some(held), Some(Value::Object(map))) =
        (object.object_value(container), wanted.get_mut(*container))
    else {
        return;
    };
    take(&held, map, inner, name);
    if is_bare(&held) {
        if let Some(member) = object.get(container) {
            member.remove();
        }
        wanted.remove(*container);
    }
}

/// A value as the tree takes it.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let pairs = members.iter();
            CstInputValue::Object(
                pairs
                    .map(|(name, value)| (name.clone(), input(value)))
                    .collect(),
            )
        }
    }
}
