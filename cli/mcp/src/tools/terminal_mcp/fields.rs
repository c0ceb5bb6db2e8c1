//! Parameters and results that several tools of the set have.

use serde_json::json;

use crate::end_cause;
use crate::omitted::Omitted;
use crate::schema::{Field, Schema};
use crate::settings::{MAX_TIMEOUT, Settings, TRUNCATIONS, Truncation};

/// Longest id or label.
const MAX_NAME_CHARS: usize = 64;
/// Longest text that one call types, in characters.
const MAX_INPUT_CHARS: usize = 1 << 20;
/// Longest pattern of a wait, in characters.
const MAX_PATTERN_CHARS: usize = 4_096;

/// Which terminal.
pub(super) fn session_id() -> Field {
    Field::string("session_id", "The terminal: its session_id, or its label")
        .required()
        .at_least(1)
        .at_most(MAX_NAME_CHARS)
}

/// How long to wait.
pub(super) fn timeout(default: f64, description: &str) -> Field {
    Field::number("timeout", description)
        .between(0, MAX_TIMEOUT.as_secs())
        .default(default)
}

/// Plain text, or what the program sent.
pub(super) fn strip_ansi() -> Field {
    Field::boolean(
        "strip_ansi",
        "false: with the escape sequences as they came",
    )
    .default(true)
}

/// What to leave out of long output.
pub(super) fn truncation(settings: &Settings) -> Field {
    let word = match settings.truncation {
        Truncation::Tail => "tail",
        Truncation::HeadTail => "head_tail",
        Truncation::TailOnly => "tail_only",
        Truncation::None => "none",
    };
    Field::string(
        "truncation",
        "Of long output keep: tail the beginning (the next read goes on), head_tail both ends, \
         tail_only the end, none up to 1 MiB",
    )
    .one_of(&TRUNCATIONS)
    .default(word)
}

/// That somebody has agreed.
pub(super) fn confirmed() -> Field {
    Field::boolean(
        "confirmed",
        "The user has agreed to run it though it is dangerous",
    )
    .default(false)
}

/// A regular expression.
pub(super) fn pattern(name: &'static str, description: &str) -> Field {
    Field::string(name, description)
        .at_least(1)
        .at_most(MAX_PATTERN_CHARS)
}

/// What to type: of `session_send` and `session_interact`.
pub(super) fn typing() -> Vec<Field> {
    vec![
        Field::string("input", "Text to type; several lines are pasted").at_most(MAX_INPUT_CHARS),
        Field::boolean("press_enter", "Press Enter after input or password").default(true),
        Field::string(
            "control_char",
            "Control key: c (interrupt), d (end of file), z (suspend), l (clear), ] (telnet)",
        )
        .one_of(&["c", "d", "z", "l", "]"]),
        Field::string(
            "key",
            "Key to press: up down left right home end page-up page-down insert delete backspace \
             tab escape enter space f1-f24 kp-0…kp-9, with ctrl- alt- shift- (or C- M- S-), such as \
             ctrl-a, alt-x, shift-tab",
        )
        .at_least(1)
        .at_most(MAX_NAME_CHARS),
        Field::string(
            "password",
            "Secret to type at a prompt that hides it; stored nowhere. Refused where no secret is \
             awaited (see awaiting_secret), unless force",
        )
        .at_most(MAX_INPUT_CHARS),
        confirmed(),
        Field::boolean(
            "force",
            "Type although it will not arrive as meant: a password where none is awaited, a line \
             too long for the program",
        )
        .default(false),
    ]
}

/// A result: `success`, an error's body, the gate's question, and these.
pub(super) fn output(mut fields: Vec<Field>) -> Schema {
    let mut all = vec![
        Field::boolean("success", "").required(),
        Field::object("error", "Why not: {type, message}"),
        Field::boolean("requires_confirmation", "Nothing was run: ask the user"),
        Field::string("command", ""),
        Field::string("reason", ""),
        Field::string("message", ""),
    ];
    all.retain(|field| !fields.iter().any(|own| own.name() == field.name()));
    all.append(&mut fields);
    Schema::output(all)
}

/// Output and where it was read.
pub(super) fn text() -> Vec<Field> {
    vec![
        Field::string("output", ""),
        Field::integer("bytes_read", "Bytes of output gone through"),
        Field::boolean("truncated", ""),
        Field::integer("offset", "Where the next read goes on"),
        Omitted::field("by offset; session_read with offset=from reads it"),
    ]
}

/// What goes on in the terminal.
pub(super) fn facts() -> Vec<Field> {
    vec![
        Field::boolean("is_alive", ""),
        Field::boolean("tui_active", "A full-screen program is on: read snapshots"),
        Field::boolean("snapshot_available", ""),
        Field::boolean("prompt_detected", "It seems to wait for input"),
        Field::number(
            "prompt_confidence",
            "How sure that is: 1 where the shell says so",
        ),
        Field::boolean("awaiting_secret", "It asks for a password: send `password`"),
        Field::boolean("osc133", "The shell tells where commands begin and end"),
        Field::string("command_state", "prompt, running or unknown"),
        Field::boolean("command_complete", ""),
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
    ]
}

/// Which limit ended a program.
pub(super) fn end_cause() -> Field {
    end_cause::field("end_cause")
}

/// How a wait ended.
pub(super) fn waiting() -> Vec<Field> {
    vec![
        Field::boolean("matched", ""),
        Field::string("matched_text", ""),
        Field::string("matched_line", ""),
        Field::boolean("timed_out", "Not over yet: call again to go on"),
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
        Field::string("mode_used", ""),
        Field::list(
            "changed_lines",
            line,
            "Rows that changed since the last diff, from 1",
        ),
        Field::boolean("is_first_read", ""),
        Field::integer("total_lines", ""),
        Field::object(
            "cursor",
            "Where the cursor is: row and column from 1, visible",
        ),
    ]
}
