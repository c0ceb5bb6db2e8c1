//! The fields of the set's results, and its errors.

use serde_json::{Value, json};
use termd_client::ClientError;
use termd_proto::{Offset, TerminalId};

use crate::tool::{
    Call, Facts, Field, Omitted, OutputSchema, ScreenChange, ScreenRows, Standing, ToolAnswer,
    ToolError, add, changed_lines, object,
};

/// The fields of the `session` set's results that this set has too.
const FIELDS: [&str; 15] = [
    "state",
    "known_by",
    "exit_code",
    "signal",
    "end_cause",
    "closed_because",
    "prompt",
    "output",
    "changed_lines",
    "moved_lines",
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
    facts
}

/// What is shown of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// What changed since this client last saw it.
    Changes,
}

/// A part of the screen. Where a full-screen program is on, what it printed to draw the screen, until
/// `end`, needs no reading.
pub(super) async fn screen(
    call: &Call,
    id: &TerminalId,
    end: Offset,
    part: Part,
) -> Result<Facts, ClientError> {
    let seen = ScreenRows::see(&call.shared, id).await?;
    if seen.screen.full_screen {
        call.shared.cursors.set_read(id, end);
    }
    let mut facts = Facts::new();
    let change = match part {
        Part::All => ScreenChange::Most(seen.text()),
        Part::Changes => seen.change(),
    };
    match change {
        ScreenChange::Most(text) => add(&mut facts, json!({ "output": text })),
        ScreenChange::Some { rows, moved } => add(
            &mut facts,
            json!({
                "changed_lines": changed_lines(rows),
                "moved_lines": (!moved.is_empty()).then_some(moved),
            }),
        ),
    }
    let at = seen.screen.cursor;
    let place = format!("row {} column {}", at.row + 1, at.column + 1);
    facts.insert("cursor".to_owned(), place.into());
    Ok(facts)
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
        Field::list(
            "moved_lines",
            json!({ "type": "string" }),
            "Rows that only stand elsewhere now",
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
