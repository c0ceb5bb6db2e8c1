//! `term_list`.

use futures_util::StreamExt as _;
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use termd_proto::terminal::{TerminalInfo, TerminalState};

use crate::backend::Backend;
use crate::tool::{
    Call, Effect, Facts, Field, Handler, Outcome, Standing, Tool, ToolAnswer, add, object,
};
use crate::tools::terminal_mcp::create::command_of;
use crate::tools::terminal_mcp::status::exit;

/// Most terminals that one call lists.
const MAX_LISTED: usize = 1_000;
/// Calls for terminals' activity at a time.
const AT_ONCE: usize = 16;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {}

pub(super) fn tool() -> Tool {
    Tool {
        name: "term_list",
        title: "List terminals",
        description: "The user's open terminals, whoever opened them; take one up by its id.",
        effect: Effect::Reads,
        output: object(vec![
            Field::list("terminals", json!({ "type": "object" }), "Oldest first"),
            Field::integer("count", ""),
        ]),
        handler: Handler::new(list),
    }
}

async fn list(call: Call, _: Arguments) -> Outcome {
    let backend = call.backend();
    let terminals = backend.open_terminals(MAX_LISTED).await?;
    let terminals: Vec<Value> = stream::iter(terminals)
        .map(|info| describe(backend, info))
        .buffered(AT_ONCE)
        .collect()
        .await;
    Ok(ToolAnswer::Facts(
        json!({ "count": terminals.len(), "terminals": terminals }),
    ))
}

async fn describe(backend: &Backend, info: TerminalInfo) -> Value {
    let activity = match info.state {
        // A terminal that has gone meanwhile is listed as ended.
        TerminalState::Running => backend.activity(&info.id).await.ok(),
        _ => None,
    };
    let standing = activity.as_ref().map_or(Standing::EXITED, Standing::of);
    let cwd = activity.and_then(|activity| activity.cwd);
    let mut facts = Facts::new();
    add(
        &mut facts,
        json!({
            "id": info.id,
            "label": info.label,
            "state": standing.state,
            "command": command_of(&info),
            "cwd": cwd.as_ref().unwrap_or(&info.cwd),
        }),
    );
    exit(&mut facts, info.exit_status.as_ref(), info.end_cause);
    facts.into()
}
