//! `session_list`.

use futures_util::StreamExt as _;
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use termd_client::timestamp::now_ms;
use termd_proto::terminal::{TerminalInfo, TerminalState};

use super::create::{command_of, name_of, seconds};
use super::results::{self, success};
use super::status::exit;
use crate::backend::Backend;
use crate::tool::{Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add};

/// Most terminals that one call lists.
const MAX_LISTED: usize = 10_000;
/// Calls for terminals' activity at a time.
const AT_ONCE: usize = 16;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_list",
        title: "List terminals",
        description: "The user's open terminals, whoever opened them: look here first, to take up one from before.",
        effect: Effect::Reads,
        output: results::output(vec![
            Field::list("sessions", json!({ "type": "object" }), "Oldest first"),
            Field::integer("count", ""),
        ]),
        handler: Handler::new(list),
    }
}

async fn list(call: Call, _: Arguments) -> Outcome {
    let backend = call.backend();
    let terminals = backend.open_terminals(MAX_LISTED).await?;
    let now = now_ms();
    let sessions: Vec<Value> = stream::iter(terminals)
        .map(|info| describe(backend, info, now))
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut facts = success();
    add(
        &mut facts,
        json!({ "count": sessions.len(), "sessions": sessions }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}

async fn describe(backend: &Backend, info: TerminalInfo, now: i64) -> Value {
    let info = &info;
    let mut facts = Facts::new();
    let last = info.last_activity_ms.max(info.created_at_ms);
    add(
        &mut facts,
        json!({
            "session_id": info.id,
            "label": name_of(info),
            "command": command_of(info),
            "pid": info.pid,
            "is_alive": info.state == TerminalState::Running,
            "created_at": seconds(info.created_at_ms),
            "last_activity": seconds(last),
            "idle_seconds": seconds((now - last).max(0) / 100 * 100),
            "tui_active": false,
            "snapshot_available": true,
            "rows": info.rows,
            "cols": info.cols,
            "cwd": info.cwd,
            "offset": info.end,
            "owner": { "front": info.owner.front, "client": info.owner.client },
        }),
    );
    exit(&mut facts, info.exit_status.as_ref(), info.end_cause);
    if info.state == TerminalState::Running {
        // A terminal that has gone meanwhile is listed as it was.
        if let Ok(activity) = backend.activity(&info.id).await {
            add(
                &mut facts,
                json!({
                    "tui_active": activity.full_screen,
                    "awaiting_secret": activity.awaiting_secret.then_some(true),
                    "cwd": activity.cwd,
                    "foreground": activity.foreground.map(|foreground| foreground.program),
                }),
            );
        }
    }
    facts.into()
}
