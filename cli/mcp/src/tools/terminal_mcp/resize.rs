//! `session_resize`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::terminal::{MAX_DIMENSION, MIN_COLS, TerminalState};

use super::params::SessionName;
use super::results;
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
    #[schemars(range(min = 1, max = MAX_DIMENSION))]
    rows: u16,
    #[schemars(range(min = MIN_COLS, max = MAX_DIMENSION))]
    cols: u16,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_resize",
        title: "Resize a terminal",
        description: "Set a terminal's size.",
        effect: Effect::Sets,
        output: results::output(vec![Field::integer("rows", ""), Field::integer("cols", "")]),
        handler: Handler::new(resize),
    }
}

async fn resize(call: Call, arguments: Arguments) -> Outcome {
    let Arguments {
        session_id,
        rows,
        cols,
    } = arguments;
    let backend = call.backend();
    let info = backend.show(&session_id.0).await?;
    // The daemon resizes an ended terminal for its viewers; no program learns of it.
    if info.state != TerminalState::Running {
        return Err(ToolError::Failed {
            kind: "session_dead",
            message: format!(
                "Session {} is no longer alive, so it is not resized. session_read with an offset \
                 still reads its output.",
                info.id
            ),
        });
    }
    backend.resize((&info.id).into(), cols, rows).await?;
    Ok(ToolAnswer::Facts(
        json!({ "success": true, "rows": rows, "cols": cols }),
    ))
}
