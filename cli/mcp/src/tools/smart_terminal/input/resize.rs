//! `terminal_resize`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;

use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, object};
use crate::tools::smart_terminal::params::SessionName;
use crate::tools::smart_terminal::sessions::session::alive;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// Width
    #[schemars(range(min = 20, max = 500))]
    cols: u16,
    /// Height
    #[schemars(range(min = 5, max = 200))]
    rows: u16,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_resize",
        title: "Resize a terminal",
        description: "Resize terminal dimensions; its program is told (SIGWINCH).",
        effect: Effect::Sets,
        output: object(vec![
            Field::boolean("success", "").required(),
            Field::integer("cols", "").required(),
            Field::integer("rows", "").required(),
        ]),
        handler: Handler::new(resize),
    }
}

async fn resize(call: Call, arguments: Arguments) -> Outcome {
    let Arguments {
        session_id,
        cols,
        rows,
    } = arguments;
    let info = alive(&call, &session_id.0).await?;
    let id = TerminalRef::from(&info.id);
    call.backend().resize(id, cols, rows).await?;
    Ok(ToolAnswer::Facts(
        json!({ "success": true, "cols": cols, "rows": rows }),
    ))
}
