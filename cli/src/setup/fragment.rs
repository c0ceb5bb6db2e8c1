//! What would stand in a client's file, for a person to put there. Pure.

use std::fmt::Write as _;

use serde_json::Value;

use super::clients::Format;
use super::entry::{Content, Field, Server, fields};
use super::{json, toml};

/// The least file that has the server in it, in the client's own form, with a newline at its end.
pub(crate) fn fragment(format: Format, server: &Server) -> String {
    let fields = fields(format, server);
    match format {
        Format::CodexToml => toml::block(server, &fields),
        Format::GooseYaml => yaml(server, &fields),
        // An empty text holds nothing that an edit could fail at.
        _ => json::add("", format.container(), server, &fields)
            .map_or_else(|fault| fault.to_string(), |edited| edited.text),
    }
}

/// YAML reads JSON's strings, lists and objects as its own.
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
