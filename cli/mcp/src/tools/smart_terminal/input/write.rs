//! `terminal_write`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::TypedInput;

use super::escapes::unescaped;
use crate::tool::{Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add};
use crate::tools::smart_terminal::params::{Confirmed, SessionName};
use crate::tools::smart_terminal::results::{self, bad};
use crate::tools::smart_terminal::sessions::session::alive;

/// Most characters in one write: as many as the daemon takes in one.
const MAX_DATA_CHARS: usize = 1 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    #[schemars(length(max = MAX_DATA_CHARS))]
    data: String,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_write",
        title: "Type into a terminal",
        description: "Type exact characters and return at once; \\r is Enter, \\x03 Ctrl+C; \\t \\n \\e \\xNN.",
        effect: Effect::Runs,
        output: results::output_or_question(vec![
            Field::string("sessionId", ""),
            Field::integer("queued", "Bytes not taken yet: the program is not reading"),
            Field::integer("position", "The end of the output before it"),
        ]),
        handler: Handler::new(write),
    }
}

async fn write(call: Call, arguments: Arguments) -> Outcome {
    let info = alive(&call, &arguments.session_id.0).await?;
    let bytes = unescaped(&arguments.data);
    if bytes.is_empty() {
        return Err(bad("'data' is empty: there is nothing to type"));
    }
    let input = TypedInput {
        data: Some(STANDARD.encode(bytes)),
        ..TypedInput::default()
    };
    let sent = call
        .type_once(&info.id, input, arguments.confirmed.0)
        .await?;
    let mut facts = Facts::new();
    add(
        &mut facts,
        json!({
            "success": true,
            "sessionId": arguments.session_id.0,
            "queued": (sent.queued > 0).then_some(sent.queued),
            "position": sent.offset,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
