//! `session_list`.

use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};
use termd_client::ClientError;
use termd_proto::TerminalRef;
use termd_proto::interact::GetActivity;
use termd_proto::terminal::{ListTerminals, TerminalInfo, TerminalState};

use super::create::{command_of, name_of, seconds};
use super::facts::{Facts, add, exit, success};
use super::fields;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::backend::Backend;
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

/// Terminals a page.
const PAGE: u32 = 1_000;
/// Most terminals that one call lists.
const MAX_LISTED: usize = 10_000;
/// Terminals that are asked at once what goes on in them.
const AT_ONCE: usize = 16;

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_list",
        title: "List terminals",
        description: "The user's open terminals, whoever opened them, with what each runs and whether \
                      it lives: look here first, to take up one from before. Those that have exited \
                      stay until closed, and can be read.",
        effect: Effect::Reads,
        input: Schema::input(Vec::new()),
        output: Some(fields::output(vec![
            Field::list("sessions", json!({ "type": "object" }), "Oldest first"),
            Field::integer("count", ""),
        ])),
        run: run(list),
        error: ToolError::to_session_answer,
    }
}

async fn list(call: Call) -> Outcome {
    let backend = call.backend();
    let terminals = open_terminals(backend).await?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
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

async fn open_terminals(backend: &Backend) -> Result<Vec<TerminalInfo>, ClientError> {
    let mut terminals = Vec::new();
    let mut cursor = None;
    loop {
        let page = backend
            .pool()
            .repeat(&ListTerminals {
                scope: None,
                cursor,
                limit: Some(PAGE),
            })
            .await?;
        terminals.extend(page.terminals);
        cursor = page.next_cursor;
        if cursor.is_none() || terminals.len() >= MAX_LISTED {
            return Ok(terminals);
        }
    }
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
        let activity = backend
            .pool()
            .repeat(&GetActivity {
                id: TerminalRef::from(&info.id),
            })
            .await;
        // One that has gone meanwhile is listed as it was.
        if let Ok(activity) = activity {
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
