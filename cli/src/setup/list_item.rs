//! One item of a list in JSON settings, in an object of them. Pure.
//!
//! The items of others stay, in their order. An item of termctl's is replaced where it differs.

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstArray, CstObject};
use serde_json::{Map, Value};

use super::json::{EMPTY, finish, is_bare, not_an_object, only, parse, root, split_mark};
use super::value::{input, settings};
use super::{Change, Edited, Fault};

/// An item, and the list that it belongs in.
#[derive(Debug)]
pub(super) struct ListItem<'a> {
    /// The object that holds the list.
    pub(super) container: &'a str,
    /// The list's name there.
    pub(super) list: &'a str,
    pub(super) item: Value,
    /// Whether an item that is there is termctl's.
    pub(super) is_ours: fn(&Value) -> bool,
}

impl ListItem<'_> {
    /// The text with the item in it.
    pub(super) fn add(&self, text: &str) -> Result<Edited, Fault> {
        let (mark, body) = split_mark(text);
        let there = self.ours(body)?;
        let change = match there.as_slice() {
            [(_, item)] if *item == self.item => {
                return Ok(Edited::unchanged(Change::AlreadyThere, text));
            }
            [] => Change::Added,
            _ => Change::Updated,
        };
        let body = if body.trim().is_empty() { EMPTY } else { body };
        let tree = parse(body)?;
        let mut wanted = settings(tree.to_serde_value());
        let member = (wanted.entry(self.container)).or_insert_with(|| Map::new().into());
        let lists = member.as_object_mut();
        let list = lists.map(|lists| {
            lists
                .entry(self.list)
                .or_insert_with(|| Value::Array(vec![]))
        });
        if let Some(items) = list.and_then(Value::as_array_mut) {
            items.retain(|item| !(self.is_ours)(item));
            items.push(self.item.clone());
        }
        let array = tree
            .object_value_or_create()
            .and_then(|root| root.object_value_or_create(self.container))
            .and_then(|lists| lists.array_value_or_create(self.list))
            .ok_or_else(|| Fault::at(body, 0, not_an_object(self.container)))?;
        take(&array, &there);
        array.append(input(&self.item));
        finish(mark, body, &tree, change, wanted)
    }

    /// The text without the item, and without the list and the object that held nothing else.
    pub(super) fn remove(&self, text: &str) -> Result<Edited, Fault> {
        let (mark, body) = split_mark(text);
        let there = self.ours(body)?;
        if there.is_empty() {
            return Ok(Edited::unchanged(Change::NotThere, text));
        }
        let tree = parse(body)?;
        let mut wanted = settings(tree.to_serde_value());
        let root = tree.object_value();
        let lists = root
            .as_ref()
            .and_then(|root| root.object_value(self.container));
        if let (Some(root), Some(lists)) = (&root, &lists)
            && let Some(array) = lists.array_value(self.list)
        {
            take(&array, &there);
            self.forget(&mut wanted);
            if array.elements().is_empty() {
                remove_member(lists, self.list);
            }
            if is_bare(lists) {
                remove_member(root, self.container);
                wanted.remove(self.container);
            }
        }
        finish(mark, body, &tree, Change::Removed, wanted)
    }

    /// Takes the item out of the settings' value, and a list that is then empty.
    fn forget(&self, wanted: &mut Map<String, Value>) {
        let lists = wanted.get_mut(self.container);
        let Some(lists) = lists.and_then(Value::as_object_mut) else {
            return;
        };
        let items = lists.get_mut(self.list).and_then(Value::as_array_mut);
        if let Some(items) = items {
            items.retain(|item| !(self.is_ours)(item));
            if items.is_empty() {
                lists.remove(self.list);
            }
        }
    }

    /// The items of termctl's that are there, by their places in the list.
    fn ours(&self, body: &str) -> Result<Vec<(usize, Value)>, Fault> {
        let Some(root) = root(body)? else {
            return Ok(Vec::new());
        };
        let lists = match only(body, &root, self.container)? {
            None => return Ok(Vec::new()),
            Some(Ast::Object(lists)) => lists,
            Some(other) => {
                let reason = not_an_object(self.container);
                return Err(Fault::at(body, other.start(), reason));
            }
        };
        let items = match only(body, lists, self.list)? {
            None => return Ok(Vec::new()),
            Some(Ast::Array(list)) => list.elements.iter(),
            Some(other) => {
                let reason = format!("\"{}\" is not a list", self.list);
                return Err(Fault::at(body, other.start(), reason));
            }
        };
        let items = items.map(|item| Value::from(item.clone()));
        let ours = items.enumerate().filter(|(_, item)| (self.is_ours)(item));
        Ok(ours.collect())
    }
}

/// Removes the items at these places.
fn take(array: &CstArray, items: &[(usize, Value)]) {
    let elements = array.elements();
    for (place, _) in items {
        if let Some(element) = elements.get(*place) {
            element.clone().remove();
        }
    }
}

fn remove_member(object: &CstObject, name: &str) {
    if let Some(member) = object.get(name) {
        member.remove();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(text: &str) -> ListItem<'static> {
        ListItem {
            container: "hooks",
            list: "Stop",
            item: json!({ "command": text }),
            is_ours: |item| {
                item["command"]
                    .as_str()
                    .is_some_and(|it| it.starts_with("ours"))
            },
        }
    }

    #[test]
    fn an_item_comes_and_goes_and_the_others_stay() {
        let theirs = "// mine\n{\n  \"hooks\": {\n    \"Stop\": [\n      { \"command\": \"theirs\" } // no\n    ]\n  },\n}\n";
        for before in ["", "{}", "{\r\n}", "{ \"a\": 1 }", theirs] {
            let added = item("ours 1").add(before).unwrap();
            assert_eq!(added.change, Change::Added, "{before}");
            assert!(added.text.contains("\"ours 1\""), "{}", added.text);
            let again = item("ours 1").add(&added.text).unwrap();
            assert_eq!(again.change, Change::AlreadyThere);
            let updated = item("ours 2").add(&added.text).unwrap();
            assert_eq!(updated.change, Change::Updated);
            assert!(!updated.text.contains("ours 1"), "{}", updated.text);
            let gone = item("").remove(&updated.text).unwrap();
            assert_eq!(gone.change, Change::Removed);
            assert!(!gone.text.contains("ours"), "{}", gone.text);
            for kept in ["theirs", "} // no", "// mine"] {
                assert_eq!(gone.text.contains(kept), before.contains(kept), "{kept}");
            }
        }
        assert_eq!(item("").remove(theirs).unwrap().change, Change::NotThere);
    }

    #[test]
    fn something_else_in_its_place_is_a_fault() {
        for (text, fault) in [
            ("{ \"hooks\": 1 }", "1:12: \"hooks\" is not an object"),
            (
                "{ \"hooks\": { \"Stop\": {} } }",
                "1:22: \"Stop\" is not a list",
            ),
            ("[", "1:1: "),
        ] {
            let error = item("ours").add(text).unwrap_err().to_string();
            assert!(error.starts_with(fault), "{error}");
        }
    }
}
