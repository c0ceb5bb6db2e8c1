//! Fields that the results of several tools have, and the set's errors.

use serde_json::json;

use crate::tool::{Facts, Field, Omitted, OutputSchema, Standing, ToolAnswer, ToolError, object};

/// A result of a call that went well.
pub(super) fn success() -> Facts {
    let mut facts = Facts::new();
    facts.insert("success".to_owned(), true.into());
    facts
}

/// An error as terminal-mcp writes it: `{"success": false, "error": {"type", "message"}}`. The gate's
/// question is no error.
pub(crate) fn error(error: &ToolError) -> ToolAnswer {
    match error {
        ToolError::Gate(question) => question.to_answer(),
        ToolError::Failed { kind, message } => ToolAnswer::Failure(json!({
            "success": false,
            "error": { "type": kind, "message": message },
        })),
    }
}

/// The schema of a result: `success`, an error, the gate's question, and these fields.
pub(super) fn output(mut fields: Vec<Field>) -> OutputSchema {
    let mut all = vec![
        Field::boolean("success", "").default(true),
        Field::object("error", "Why not: {type, message}"),
        Field::boolean("requires_confirmation", "Nothing was run: ask the user"),
        Field::string("command", ""),
        Field::string("reason", ""),
        Field::string("message", ""),
    ];
    all.retain(|field| !fields.iter().any(|own| own.name == field.name));
    all.append(&mut fields);
    object(all)
}

/// Output, and its place in the terminal's.
pub(super) fn text() -> Vec<Field> {
    vec![
        Field::string("output", ""),
        Field::integer("bytes_read", "Bytes of output gone through"),
        Field::boolean("truncated", "").default(false),
        Field::integer("offset", "Where the next read goes on"),
        Omitted::field("by offset; session_read with offset=from reads it"),
    ]
}

/// What goes on in the terminal.
pub(super) fn facts() -> Vec<Field> {
    let mut fields = Standing::fields().to_vec();
    fields.extend([
        Field::boolean("is_alive", "").default(true),
        Field::boolean("tui_active", "A full-screen program is on: read snapshots").default(false),
        Field::boolean("snapshot_available", "").default(true),
        Field::boolean("prompt_detected", "It waits for a line").default(true),
        Field::string("prompt", "The prompt that is shown"),
        Field::number(
            "prompt_confidence",
            "How sure that is, where it is not certain",
        ),
        Field::boolean("awaiting_secret", "It asks for a password: send `password`").default(false),
        Field::boolean("osc133", "The shell tells where commands begin and end").default(true),
        Field::string("command_state", "prompt, running or unknown").default("prompt"),
        Field::boolean("command_complete", "").default(true),
        Field::integer(
            "exit_code",
            "Of the last command, or of the program once it has exited",
        ),
        Field::string("signal", "The signal that ended the program"),
        end_cause(),
        Field::string("cwd", ""),
        Field::string(
            "closed_because",
            "idle or disconnect, where nobody asked for it",
        ),
    ]);
    fields
}

/// The limit that ended a program.
pub(super) fn end_cause() -> Field {
    Field::end_cause("end_cause")
}

/// How a wait ended.
pub(super) fn waiting() -> Vec<Field> {
    vec![
        Field::boolean("matched", ""),
        Field::string("matched_text", ""),
        Field::string("matched_line", ""),
        Field::boolean("timed_out", "Not over yet: call again to go on").default(false),
        Field::string(
            "completed_by",
            "How it is known that the command is done: marks (certain), foreground (likely), prompt (a guess)",
        ),
    ]
}

/// A screen.
pub(super) fn screen() -> Vec<Field> {
    let line = json!({
        "type": "object",
        "properties": { "line": { "type": "integer" }, "content": { "type": "string" } },
        "required": ["line", "content"],
    });
    vec![
        Field::string("mode_used", "").default("stream"),
        Field::list(
            "changed_lines",
            line,
            "Rows that changed since the last diff, from 1",
        ),
        Field::boolean("is_first_read", "").default(false),
        Field::integer("total_lines", ""),
        Field::object(
            "cursor",
            "Where the cursor is: row and column from 1, visible",
        ),
    ]
}
