//! Fields that the results of several tools have, and the set's errors.

use serde_json::json;
use termd_proto::terminal::ExitStatus;

use crate::tool::{
    Facts, Field, Omitted, OutputSchema, Standing, ToolAnswer, ToolError, add, object,
};

/// The schema of a result of a tool that runs something, or of the gate's question.
pub(crate) fn output_or_question(mut fields: Vec<Field>) -> OutputSchema {
    let question = vec![
        Field::boolean("success", ""),
        Field::boolean("requires_confirmation", "Nothing was run: ask the user"),
        Field::string("command", ""),
        Field::string("reason", ""),
        Field::string("message", ""),
    ];
    let missing = question
        .into_iter()
        .filter(|field| !fields.iter().any(|own| own.name == field.name));
    let missing: Vec<_> = missing.collect();
    fields.extend(missing);
    object(fields)
}

/// Output, and the ranges that were left out.
pub(crate) fn text() -> Vec<Field> {
    vec![
        Field::string("output", ""),
        Field::boolean("truncated", "").default(false),
        Omitted::field("by position; terminal_read with since=from reads it"),
        Field::integer("position", "Where the next read goes on"),
    ]
}

/// The prompt, which is no part of the output.
pub(crate) fn prompt() -> Field {
    Field::string("prompt", "The prompt that is shown")
}

/// How a terminal's program ended; `exit_code` says what the exit code is of.
pub(crate) fn exit(exit_code: &str) -> [Field; 2] {
    [
        Field::integer("exitCode", exit_code),
        Field::string("signal", "The signal that ended the program"),
    ]
}

/// Adds how a terminal's program ended, where it has.
pub(crate) fn describe_exit(facts: &mut Facts, status: Option<&ExitStatus>) {
    add(
        facts,
        json!({
            "exitCode": status.and_then(|status| status.exit_code),
            "signal": status.and_then(|status| status.signal.as_ref()),
        }),
    );
}

/// The limit that ended a program.
pub(crate) fn end_cause() -> Field {
    Field::end_cause("endCause")
}

/// The result of a command in a terminal.
pub(crate) fn ran() -> Vec<Field> {
    let mut fields = text();
    fields.extend(Standing::fields());
    fields.extend([
        Field::integer("exitCode", "null: not known, or it still runs").or_null(),
        Field::string("cwd", "").or_null(),
        prompt(),
        Field::boolean("timedOut", "").default(false),
        Field::string(
            "completedBy",
            "How it is known that it is done: marks (certain), foreground (likely), prompt (a guess)",
        ),
        Field::boolean("running", "It still runs").default(false),
        Field::boolean("quietExited", "quietExitMs ended the call").default(false),
        end_cause(),
    ]);
    fields
}

/// An error as smart-terminal-mcp writes it: plain text. The gate's question is no error.
pub(crate) fn error(error: &ToolError) -> ToolAnswer {
    match error {
        ToolError::Gate(question) => question.to_answer(),
        ToolError::Failed { message, .. } => ToolAnswer::Refusal(
            message
                .replace("session_list", "terminal_list")
                .replace("session_read", "terminal_read")
                .replace("session_close", "terminal_stop"),
        ),
    }
}

/// An error of a call that makes no sense.
pub(crate) fn bad(message: impl Into<String>) -> ToolError {
    ToolError::validation(message)
}
