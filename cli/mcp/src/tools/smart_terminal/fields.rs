//! Parameters and results that several tools of the set have, and how the set writes an error.

use serde_json::{Map, Value};

use crate::answer::{ToolAnswer, ToolError};
use crate::end_cause;
use crate::omitted::Omitted;
use crate::schema::{Field, Schema};

/// Longest id or label.
const MAX_NAME_CHARS: usize = 64;
/// The largest whole number that every JSON reader takes exactly (2^53 - 1).
pub(super) const MAX_INTEGER: u64 = (1 << 53) - 1;
/// smart-terminal-mcp's bounds of a wait, in milliseconds.
const TIMEOUT_MS: (u64, u64) = (1_000, 600_000);
/// Its default: below the minute after which clients give a call up.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// A result that grows.
pub(super) type Facts = Map<String, Value>;

/// Adds members of an object, but for those that are null.
pub(super) fn add(facts: &mut Facts, more: Value) {
    if let Value::Object(more) = more {
        facts.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

/// Adds members of an object, also those that are null.
pub(super) fn set(facts: &mut Facts, more: Value) {
    if let Value::Object(more) = more {
        facts.extend(more);
    }
}

/// Which terminal.
pub(super) fn session_id() -> Field {
    Field::string("sessionId", "The terminal: its id, or its name")
        .required()
        .at_least(1)
        .at_most(MAX_NAME_CHARS)
}

/// How long a call may take.
pub(super) fn timeout(description: &str) -> Field {
    Field::integer("timeout", description)
        .between(TIMEOUT_MS.0, TIMEOUT_MS.1)
        .default(DEFAULT_TIMEOUT_MS)
}

/// How many lines an answer holds.
pub(super) fn max_lines() -> Field {
    Field::integer("maxLines", "Of more lines, both ends are kept")
        .between(10, 10_000)
        .default(200)
}

/// That somebody has agreed.
pub(super) fn confirmed() -> Field {
    Field::boolean(
        "confirmed",
        "The user has agreed to it though it is dangerous",
    )
    .default(false)
}

/// A result of a tool that runs nothing.
pub(super) fn output(fields: Vec<Field>) -> Schema {
    Schema::output(fields)
}

/// A result of a tool that runs something, or the gate's question.
pub(super) fn output_or_question(mut fields: Vec<Field>) -> Schema {
    let question = vec![
        Field::boolean("success", ""),
        Field::boolean("requires_confirmation", "Nothing was run: ask the user"),
        Field::string("command", ""),
        Field::string("reason", ""),
        Field::string("message", ""),
    ];
    let missing = question
        .into_iter()
        .filter(|field| !fields.iter().any(|own| own.name() == field.name()));
    let missing: Vec<_> = missing.collect();
    fields.extend(missing);
    Schema::output(fields)
}

/// Output, and what was left out of it.
pub(super) fn text() -> Vec<Field> {
    vec![
        Field::string("output", ""),
        Field::boolean("truncated", ""),
        Omitted::field("by position; terminal_read with since=from reads it"),
        Field::integer("position", "Where the next read goes on"),
    ]
}

/// Which limit ended a program.
pub(super) fn end_cause() -> Field {
    end_cause::field("endCause")
}

/// How a command in a terminal went.
pub(super) fn ran() -> Vec<Field> {
    let mut fields = text();
    fields.extend([
        Field::integer("exitCode", "null: not known, or it still runs").or_null(),
        Field::string("cwd", "").or_null(),
        Field::boolean("timedOut", ""),
        Field::string(
            "completedBy",
            "How it is known that it is done: marks (certain), foreground (likely), prompt (a guess)",
        ),
        Field::boolean("running", "It still runs"),
        end_cause(),
    ]);
    fields
}

/// An error as the set writes it: plain text; or the gate's question, which is none.
pub(super) fn error(error: &ToolError) -> ToolAnswer {
    match error {
        ToolError::Gate(_) => error.to_session_answer(),
        ToolError::Failed { message, .. } => ToolAnswer::Refusal(
            message
                .replace("session_list", "terminal_list")
                .replace("session_read", "terminal_read"),
        ),
    }
}

/// The call does not make sense.
pub(super) fn bad(message: impl Into<String>) -> ToolError {
    ToolError::validation(message)
}
