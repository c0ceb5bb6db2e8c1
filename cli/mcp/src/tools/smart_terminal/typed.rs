//! `terminal_write`, `terminal_send_key`, `terminal_resize`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::interact::TypedInput;
use termd_proto::terminal::ResizeTerminal;

use super::escapes::unescaped;
use super::fields::{self, add, bad};
use super::session::{alive, type_once};
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

/// Most characters in one write: what the daemon takes in one.
const MAX_DATA_CHARS: usize = 1 << 20;
/// Longest name of a key.
const MAX_KEY_CHARS: usize = 64;
/// What the original says there is; there are more.
const KEYS: &str = "ctrl+c, ctrl+d, ctrl+z, ctrl+l, ctrl+a, ctrl+e, ctrl+u, ctrl+k, ctrl+w, tab, enter, \
                    escape, up, down, right, left, home, end, pageup, pagedown, backspace, delete, \
                    insert, space, f1 to f24, kp-0 to kp-9, and any character with ctrl+, alt+, shift+";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WriteArguments {
    session_id: String,
    data: String,
    confirmed: bool,
}

pub(super) fn write_tool() -> Tool {
    Tool {
        name: "terminal_write",
        title: "Type into a terminal",
        description: "Type exact characters into a terminal and return at once; \\r is Enter, \\x03 is \
                      Ctrl+C, \\t, \\n, \\e, \\xNN. For a program that asks something. To run a command \
                      use terminal_exec.",
        effect: Effect::Runs,
        input: Schema::input(vec![
            fields::session_id(),
            Field::string("data", "What to type")
                .required()
                .at_most(MAX_DATA_CHARS),
            fields::confirmed(),
        ]),
        output: Some(fields::output_or_question(vec![
            Field::string("sessionId", ""),
            Field::integer("queued", "Bytes not taken yet: the program is not reading"),
            Field::integer("position", "The end of the output before it"),
        ])),
        run: run(write),
        error: fields::error,
    }
}

async fn write(call: Call) -> Outcome {
    let arguments: WriteArguments = call.arguments()?;
    let info = alive(&call, &arguments.session_id).await?;
    let bytes = unescaped(&arguments.data);
    if bytes.is_empty() {
        return Err(bad("'data' is empty: there is nothing to type"));
    }
    let input = TypedInput {
        data: Some(STANDARD.encode(bytes)),
        ..TypedInput::default()
    };
    let sent = type_once(&call, &info.id, &input, arguments.confirmed).await?;
    let mut facts = fields::Facts::new();
    add(
        &mut facts,
        json!({
            "success": true,
            "sessionId": arguments.session_id,
            "queued": (sent.queued > 0).then_some(sent.queued),
            "position": sent.offset,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyArguments {
    session_id: String,
    key: String,
    confirmed: bool,
}

pub(super) fn key_tool() -> Tool {
    Tool {
        name: "terminal_send_key",
        title: "Press a key",
        description: "Press one key in a terminal, such as enter, tab, escape, up, f5, ctrl+c, alt+x; \
                      it is sent as the program in it wants keys.",
        effect: Effect::Runs,
        input: Schema::input(vec![
            fields::session_id(),
            Field::string("key", "The key's name")
                .required()
                .at_least(1)
                .at_most(MAX_KEY_CHARS),
            fields::confirmed(),
        ]),
        output: Some(fields::output_or_question(vec![Field::string("key", "")])),
        run: run(press),
        error: fields::error,
    }
}

async fn press(call: Call) -> Outcome {
    let arguments: KeyArguments = call.arguments()?;
    let info = alive(&call, &arguments.session_id).await?;
    let input = TypedInput {
        keys: vec![arguments.key.clone()],
        ..TypedInput::default()
    };
    let typed = type_once(&call, &info.id, &input, arguments.confirmed).await;
    typed.map_err(|error| match error {
        ToolError::Failed {
            kind: "validation_error",
            ..
        } => bad(format!(
            "Unknown key: \"{}\". Supported: {KEYS}",
            arguments.key
        )),
        error => error,
    })?;
    Ok(ToolAnswer::Facts(
        json!({ "success": true, "key": arguments.key }),
    ))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResizeArguments {
    session_id: String,
    cols: u16,
    rows: u16,
}

pub(super) fn resize_tool() -> Tool {
    Tool {
        name: "terminal_resize",
        title: "Resize a terminal",
        description: "Resize terminal dimensions; its program is told (SIGWINCH).",
        effect: Effect::Sets,
        input: Schema::input(vec![
            fields::session_id(),
            Field::integer("cols", "Width").required().between(20, 500),
            Field::integer("rows", "Height").required().between(5, 200),
        ]),
        output: Some(fields::output(vec![
            Field::boolean("success", "").required(),
            Field::integer("cols", "").required(),
            Field::integer("rows", "").required(),
        ])),
        run: run(resize),
        error: fields::error,
    }
}

async fn resize(call: Call) -> Outcome {
    let ResizeArguments {
        session_id,
        cols,
        rows,
    } = call.arguments()?;
    let info = alive(&call, &session_id).await?;
    call.backend()
        .pool()
        .repeat(&ResizeTerminal {
            id: TerminalRef::from(&info.id),
            cols,
            rows,
        })
        .await?;
    Ok(ToolAnswer::Facts(
        json!({ "success": true, "cols": cols, "rows": rows }),
    ))
}
