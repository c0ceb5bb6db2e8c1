//! `session_attach_hint`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::params::SessionName;
use super::results::{self, success};
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, add};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_attach_hint",
        title: "How the user can watch",
        description: "The line that the user types in a terminal of their own to watch this one or type into it. Give it word for word.",
        effect: Effect::Reads,
        output: results::output(vec![
            Field::string("watch", "To look on"),
            Field::string("attach", "To type too; ctrl-] leaves it"),
        ]),
        handler: Handler::new(hint),
    }
}

async fn hint(call: Call, arguments: Arguments) -> Outcome {
    let id = call.backend().show(&arguments.session_id.0).await?.id;
    let mut facts = success();
    add(
        &mut facts,
        json!({
            "watch": format!("termctl attach --read-only {id}"),
            "attach": format!("termctl attach {id}"),
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
