//! The text of a server's entry, for a person to put into a client's file. Pure.

use std::fmt::Write as _;

use serde_json::Value;

use super::clients::Format;
use super::entry::{Content, Field, Server, fields};
use super::{json, toml};

/// The smallest file with the server in it, in the client's format, with a newline at the end.
pub(crate) fn fragment(format: Format, server: &Server) -> String {
    let fields = fields(format, server, None);
    match format {
        Format::CodexToml => toml::block(server, &fields),
        Format::GooseYaml => yaml(server, &fields),
        // An edit of an empty text does not fail.
        _ => json::add("", format.container(), server, &fields)
            .map_or_else(|fault| fault.to_string(), |edited| edited.text),
    }
}

/// YAML, which reads JSON's strings, lists and objects.
fn yaml(server: &Server, fields: &[Field]) -> String {
    let container = Format::GooseYaml.container();
    let mut out = format!("{container}:\n  {}:\n", server.name);
    for field in fields {
        let value: Value = match &field.content {
            Content::Text(text) => Value::String(text.clone()),
            Content::Flag(flag) => Value::Bool(*flag),
            Content::List(items) => items.iter().cloned().map(Value::String).collect(),
            Content::Map(variables) => {
                let pairs = variables.iter();
                pairs
                    .map(|(name, text)| (name.clone(), Value::String(text.clone())))
                    .collect()
            }
        };
        let _ = writeln!(out, "    {}: {value}", field.key);
    }
    out
}
