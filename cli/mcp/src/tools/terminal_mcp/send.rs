//! `session_send`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::input::Typing;
use super::params::SessionName;
use super::results::{self, success};
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, add};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
    #[serde(flatten)]
    typing: Typing,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_send",
        title: "Type into a terminal",
        description: "Type and return at once: one of input, control_char, key, password, or only Enter. \
                      session_interact returns what comes of it.",
        effect: Effect::Runs,
        output: results::output(vec![
            Field::integer("bytes_sent", ""),
            Field::integer("bytes_queued", "Not taken yet: the program is not reading"),
            Field::integer("offset", "The end of the output before it"),
        ]),
        handler: Handler::new(send),
    }
}

async fn send(call: Call, arguments: Arguments) -> Outcome {
    let id = call.backend().resolve(&arguments.session_id.0).await?;
    let sent = arguments.typing.send(&call, &id).await?;
    let mut facts = success();
    add(
        &mut facts,
        json!({
            "bytes_sent": sent.sent,
            "bytes_queued": (sent.queued > 0).then_some(sent.queued),
            "offset": sent.offset,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
