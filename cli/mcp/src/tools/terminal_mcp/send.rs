//! `session_send`.

use serde::Deserialize;
use serde_json::json;

use super::facts::{add, success};
use super::fields;
use super::input::Typing;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
    #[serde(flatten)]
    typing: Typing,
}

pub(super) fn tool() -> Tool {
    let mut input = vec![fields::session_id()];
    input.extend(fields::typing());
    Tool {
        name: "session_send",
        title: "Type into a terminal",
        description: "Type into a terminal and return at once: one of input, control_char, key, \
                      password, or only Enter. To see what comes of it use session_interact instead, \
                      or session_wait_for afterwards.",
        effect: Effect::Runs,
        input: Schema::input(input),
        output: Some(fields::output(vec![
            Field::integer("bytes_sent", ""),
            Field::integer("bytes_queued", "Not taken yet: the program is not reading"),
            Field::integer("offset", "The end of the output before it"),
        ])),
        run: run(send),
        error: ToolError::to_session_answer,
    }
}

async fn send(call: Call) -> Outcome {
    let Arguments { session_id, typing } = call.arguments()?;
    let id = call.backend().resolve(&session_id).await?;
    let sent = typing.send(&call.shared, &id).await?;
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
