//! `session_resize`.

use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::terminal::{MAX_DIMENSION, MIN_COLS, ResizeTerminal};

use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

use super::fields;

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
    rows: u16,
    cols: u16,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_resize",
        title: "Resize a terminal",
        description: "Set a terminal's size; its program is told (SIGWINCH). A wider one wraps less \
                      output, a taller one shows more in snapshots.",
        effect: Effect::Sets,
        input: Schema::input(vec![
            fields::session_id(),
            Field::integer("rows", "Height in rows")
                .required()
                .between(1, MAX_DIMENSION),
            Field::integer("cols", "Width in columns")
                .required()
                .between(MIN_COLS, MAX_DIMENSION),
        ]),
        output: Some(fields::output(vec![
            Field::integer("rows", ""),
            Field::integer("cols", ""),
        ])),
        run: run(resize),
        error: ToolError::to_session_answer,
    }
}

async fn resize(call: Call) -> Outcome {
    let Arguments {
        session_id,
        rows,
        cols,
    } = call.arguments()?;
    call.backend()
        .pool()
        .repeat(&ResizeTerminal {
            id: TerminalRef(session_id.clone()),
            cols,
            rows,
        })
        .await?;
    Ok(ToolAnswer::Facts(
        json!({ "success": true, "rows": rows, "cols": cols }),
    ))
}
