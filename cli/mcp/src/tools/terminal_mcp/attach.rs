//! `session_attach_hint`.

use serde::Deserialize;
use serde_json::json;

use super::facts::{add, success};
use super::fields;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_attach_hint",
        title: "How the user can watch",
        description: "The line that the user types in a terminal of their own to watch this one, or to \
                      type into it (a password, a choice). Give it to them word for word.",
        effect: Effect::Reads,
        input: Schema::input(vec![fields::session_id()]),
        output: Some(fields::output(vec![
            Field::string("watch", "To look on"),
            Field::string("attach", "To type too; ctrl-] leaves it"),
        ])),
        run: run(hint),
        error: ToolError::to_session_answer,
    }
}

async fn hint(call: Call) -> Outcome {
    let Arguments { session_id } = call.arguments()?;
    let id = call.backend().show(&session_id).await?.id;
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
