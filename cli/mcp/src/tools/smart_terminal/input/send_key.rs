//! `terminal_send_key`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::TypedInput;

use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError};
use crate::tools::smart_terminal::params::{Confirmed, MAX_NAME_CHARS, SessionName};
use crate::tools::smart_terminal::results::{self, bad};
use crate::tools::smart_terminal::sessions::session::alive;

/// The keys that smart-terminal-mcp lists in its error. There are more.
const KEYS: &str = "ctrl+c, ctrl+d, ctrl+z, ctrl+l, ctrl+a, ctrl+e, ctrl+u, ctrl+k, ctrl+w, tab, enter, \
                    escape, up, down, right, left, home, end, pageup, pagedown, backspace, delete, \
                    insert, space, f1 to f24, kp-0 to kp-9, and any character with ctrl+, alt+, shift+";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// The key's name
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))]
    key: String,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_send_key",
        title: "Press a key",
        description: "Press one key in a terminal, such as enter, tab, escape, up, f5, ctrl+c, alt+x; \
                      it is sent as the program in it wants keys.",
        effect: Effect::Runs,
        output: results::output_or_question(vec![Field::string("key", "")]),
        handler: Handler::new(press),
    }
}

async fn press(call: Call, arguments: Arguments) -> Outcome {
    let info = alive(&call, &arguments.session_id.0).await?;
    let input = TypedInput {
        keys: vec![arguments.key.clone()],
        ..TypedInput::default()
    };
    let typed = call.type_once(&info.id, input, arguments.confirmed.0).await;
    typed.map_err(|error| match ToolError::from(error) {
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
