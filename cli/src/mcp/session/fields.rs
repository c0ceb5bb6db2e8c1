//! Parameters and results that several tools of the set have.

use serde_json::json;

use crate::mcp::schema::{Field, Schema};

/// Longest id or label.
const MAX_NAME_CHARS: usize = 64;

/// Which terminal.
pub(super) fn session_id() -> Field {
    Field::string("session_id", "The terminal: its session_id, or its label")
        .required()
        .at_least(1)
        .at_most(MAX_NAME_CHARS)
}

/// A result: `success`, an error's body, and these.
pub(super) fn output(mut fields: Vec<Field>) -> Schema {
    let mut all = vec![
        Field::boolean("success", "").required(),
        Field::object("error", "Why not: {type, message}"),
    ];
    all.append(&mut fields);
    Schema::output(all)
}

/// Output that a limit left out.
pub(super) fn omitted() -> Field {
    let range = json!({
        "type": "object",
        "properties": { "from": { "type": "integer" }, "to": { "type": "integer" } },
        "required": ["from", "to"],
    });
    Field::list(
        "omitted",
        range,
        "Output left out, by offset; session_read with offset=from reads it",
    )
}
