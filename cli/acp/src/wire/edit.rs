//! Changes to a line: sets members and adds elements, and leaves every other byte alone.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{Members, span};

/// One change: the text replaces the bytes of the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    range: Range<usize>,
    text: String,
}

/// Applies changes, which may not overlap.
pub fn apply(line: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut changed = String::with_capacity(line.len() + grown);
    let mut at = 0;
    for edit in edits {
        changed.push_str(line.get(at..edit.range.start).unwrap_or_default());
        changed.push_str(&edit.text);
        at = edit.range.end;
    }
    changed.push_str(line.get(at..).unwrap_or_default());
    changed
}

/// Sets the member at a path of names. Missing objects are created, and a value on the path that is
/// no object is replaced by one. `None` if the line itself is no object.
pub fn set(line: &str, path: &[&str], value: &Value) -> Option<Edit> {
    let (name, rest) = path.split_first()?;
    let mut object = line;
    let mut members = Members::of(object)?;
    let mut name = *name;
    let mut rest = rest;
    loop {
        let Some(raw) = members.get(name) else {
            return insert(line, object, name, &nested(rest, value), members.is_empty());
        };
        match (rest.split_first(), Members::of(raw.get())) {
            (Some((next, after)), Some(inner)) => {
                object = raw.get();
                members = inner;
                name = next;
                rest = after;
            }
            _ => {
                return Some(Edit {
                    range: span(line, raw)?,
                    text: nested(rest, value).to_string(),
                });
            }
        }
    }
}

/// Replaces a value that is borrowed from the line. `None` if the value is borrowed from another
/// text.
pub fn replace(line: &str, value: &RawValue, text: String) -> Option<Edit> {
    Some(Edit {
        range: span(line, value)?,
        text,
    })
}

/// Wraps a value in one object for each name of the path.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, name| {
        Value::Object([((*name).to_owned(), inner)].into_iter().collect())
    })
}

/// Inserts a member in front of the others.
fn insert(line: &str, object: &str, name: &str, value: &Value, is_first: bool) -> Option<Edit> {
    let at = offset(line, object)? + object.find('{')? + 1;
    let comma = if is_first { "" } else { "," };
    Some(Edit {
        range: at..at,
        text: format!("{}:{value}{comma}", Value::from(name)),
    })
}

/// Appends an element to the array at a path of names. The array is created if there is none.
pub fn push(line: &str, path: &[&str], element: &Value) -> Option<Edit> {
    let mut object = Members::of(line)?;
    let (last, before) = path.split_last()?;
    for name in before {
        match object.object(name) {
            Some(inner) => object = inner,
            None => return set(line, path, &Value::Array(vec![element.clone()])),
        }
    }
    let array = object.get(last).filter(|raw| raw.get().starts_with('['));
    let Some(array) = array else {
        return set(line, path, &Value::Array(vec![element.clone()]));
    };
    let inner = array.get().strip_prefix('[')?.strip_suffix(']')?;
    let comma = if inner.trim().is_empty() { "" } else { "," };
    let at = span(line, array)?.end - 1;
    Some(Edit {
        range: at..at,
        text: format!("{comma}{element}"),
    })
}

fn offset(line: &str, part: &str) -> Option<usize> {
    part.as_ptr().addr().checked_sub(line.as_ptr().addr())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::message::elements;
    use super::*;

    #[test]
    fn setting_touches_nothing_else() {
        let path = &["params", "clientCapabilities", "terminal"][..];
        let table = [
            (
                r#"{"id":1, "params": {"clientCapabilities":{ "terminal" : false , "x":1.50}}}"#,
                r#"{"id":1, "params": {"clientCapabilities":{ "terminal" : true , "x":1.50}}}"#,
            ),
            (
                r#"{"params":{"clientCapabilities":{ }}}"#,
                r#"{"params":{"clientCapabilities":{"terminal":true }}}"#,
            ),
            (
                r#"{"params":{"clientCapabilities":{"fs":{}}}}"#,
                r#"{"params":{"clientCapabilities":{"terminal":true,"fs":{}}}}"#,
            ),
            (
                r#"{"params":{"a":"\u00e9"}}"#,
                r#"{"params":{"clientCapabilities":{"terminal":true},"a":"\u00e9"}}"#,
            ),
            (
                r#"{"params":{"clientCapabilities":null}}"#,
                r#"{"params":{"clientCapabilities":{"terminal":true}}}"#,
            ),
            (
                r#"{"id":1}"#,
                r#"{"params":{"clientCapabilities":{"terminal":true}},"id":1}"#,
            ),
        ];
        for (line, want) in table {
            let edit = set(line, path, &json!(true)).unwrap();
            assert_eq!(apply(line, vec![edit]), want);
        }
        assert_eq!(set("[]", path, &json!(true)), None);
    }

    #[test]
    fn pushing_adds_an_element() {
        let path = &["params", "mcpServers"][..];
        let table = [
            (
                r#"{"params":{"mcpServers":[ {"a":1} ]}}"#,
                r#"{"params":{"mcpServers":[ {"a":1} ,7]}}"#,
            ),
            (
                r#"{"params":{"mcpServers":[ ]}}"#,
                r#"{"params":{"mcpServers":[ 7]}}"#,
            ),
            (
                r#"{"params":{"mcpServers":null}}"#,
                r#"{"params":{"mcpServers":[7]}}"#,
            ),
            (r#"{"params":{}}"#, r#"{"params":{"mcpServers":[7]}}"#),
            ("{}", r#"{"params":{"mcpServers":[7]}}"#),
        ];
        for (line, want) in table {
            let edit = push(line, path, &json!(7)).unwrap();
            assert_eq!(apply(line, vec![edit]), want);
        }
    }

    #[test]
    fn replacing_takes_a_value_out_of_its_place() {
        let line = r#"{"a":[ 1 , {"b":2} ],"c":3}"#;
        let a = Members::of(line).unwrap().get("a").unwrap();
        let elements = elements(a).unwrap();
        let edit = replace(line, elements[1], "null".to_owned()).unwrap();
        assert_eq!(apply(line, vec![edit]), r#"{"a":[ 1 , null ],"c":3}"#);
        assert_eq!(replace("{}", elements[1], String::new()), None);
    }

    #[test]
    fn several_changes_of_one_line() {
        let line = r#"{"a":1,"b":2}"#;
        let edits = vec![
            set(line, &["b"], &json!("two")).unwrap(),
            set(line, &["a"], &json!([])).unwrap(),
        ];
        assert_eq!(apply(line, edits), r#"{"a":[],"b":"two"}"#);
    }
}
