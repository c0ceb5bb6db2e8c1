//! The fields of the set's results, and its errors.

use serde_json::{Value, json};
use termd_client::ClientError;
use termd_proto::{Offset, TerminalId};

use crate::tool::{
    Call, Facts, Field, Omitted, OutputSchema, Standing, ToolAnswer, ToolError, object,
};
use crate::tools::terminal_mcp::screen;

/// The fields of the `session` set's results that this set has too.
const FIELDS: [&str; 14] = [
    "state",
    "known_by",
    "exit_code",
    "signal",
    "end_cause",
    "closed_because",
    "prompt",
    "output",
    "changed_lines",
    "cursor",
    "offset",
    "omitted",
    "matches",
    "matched",
];
/// The names that errors have for the tools, and this set's.
const NAMES: [(&str, &str); 4] = [
    ("session_list", "term_list"),
    ("session_read", "term_read"),
    ("session_close", "term_close"),
    ("session_create", "term_run"),
];

/// A result of the `session` set as this set gives it.
pub(super) fn lean(mut facts: Facts) -> Facts {
    // What `omitted` says already.
    let is_cut = facts.get("truncated") == Some(&json!(true)) && !facts.contains_key("omitted");
    facts.retain(|name, _| FIELDS.contains(&name.as_str()));
    if is_cut {
        facts.insert("truncated".to_owned(), true.into());
    }
    match facts.get("state").and_then(Value::as_str) {
        // That the next command is taken is what `done` says.
        Some("done") => drop(facts.remove("prompt")),
        Some("exited") => {}
        // That of the command before.
        _ => drop(facts.remove("exit_code")),
    }
    if let Some(place) = facts.get("cursor").and_then(place) {
        facts.insert("cursor".to_owned(), place.into());
    }
    facts
}

/// Adds the screen of a full-screen program: the rows that changed since this client last saw it, or
/// all. What was printed to draw it, until `end`, needs no reading.
pub(super) async fn add_screen(
    call: &Call,
    id: &TerminalId,
    end: Offset,
    facts: &mut Facts,
) -> Result<(), ClientError> {
    screen::changes_or_all(&call.shared, id, facts).await?;
    call.shared.cursors.set_read(id, end);
    Ok(())
}

/// The place of the cursor in words.
fn place(cursor: &Value) -> Option<String> {
    let at = |name: &str| cursor.get(name).and_then(Value::as_u64);
    Some(format!("row {} column {}", at("row")?, at("column")?))
}

/// The schema of a result, or of the gate's question.
pub(super) fn output(mut fields: Vec<Field>) -> OutputSchema {
    fields.extend(Standing::fields());
    fields.extend([
        Field::integer("exit_code", ""),
        Field::string("signal", ""),
        Field::end_cause("end_cause"),
    ]);
    object(fields)
}

/// The fields of a result with output.
pub(super) fn text() -> Vec<Field> {
    let row = json!({
        "type": "object",
        "properties": { "line": { "type": "integer" }, "content": { "type": "string" } },
        "required": ["line", "content"],
    });
    vec![
        Field::string("output", ""),
        Field::list(
            "changed_lines",
            row,
            "Rows of the screen that changed, from 1",
        ),
        Field::string("cursor", "Where it is on the screen, from 1"),
        Field::string("prompt", "What the program asks"),
        Field::integer("offset", "Where the next read goes on"),
        Omitted::field("by offset; term_read with offset=from reads it"),
        Field::boolean("matched", "Whether wait_for has come"),
        Field::string("id", "The terminal, which stays"),
        Field::boolean("requires_confirmation", "Nothing was run: ask the user").default(false),
        Field::string("message", ""),
    ]
}

/// An error in words alone. The gate's question is no error.
pub(crate) fn error(error: &ToolError) -> ToolAnswer {
    match error {
        ToolError::Gate(question) => question.to_answer(),
        ToolError::Failed { kind, message } => {
            let message = NAMES.iter().fold(message.clone(), |message, (name, ours)| {
                message.replace(name, ours)
            });
            ToolAnswer::Refusal(format!("{kind}: {message}"))
        }
    }
}
