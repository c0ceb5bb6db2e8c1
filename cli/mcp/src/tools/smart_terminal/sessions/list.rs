//! `terminal_list`.

use futures_util::StreamExt as _;
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use termd_client::timestamp::{now_ms, utc};
use termd_proto::terminal::{TerminalInfo, TerminalState};

use super::session::{base_name, is_busy};
use super::start::NAME_KEY;
use crate::backend::Backend;
use crate::tool::{
    Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add, object, set,
};

/// Most terminals in one answer.
const MAX_LISTED: usize = 1_000;
/// Calls for terminals' activity at a time.
const AT_ONCE: usize = 16;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(extend("default" = true))]
    verbose: bool,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_list",
        title: "List terminals",
        description: "The user's open terminals, whoever opened them; take one up by its id.",
        effect: Effect::Reads,
        output: object(vec![
            Field::list("sessions", json!({ "type": "object" }), "").required(),
            Field::integer("count", "").required(),
        ]),
        handler: Handler::new(list),
    }
}

async fn list(call: Call, Arguments { verbose }: Arguments) -> Outcome {
    let backend = call.backend();
    let terminals = backend.open_terminals(MAX_LISTED).await?;
    let now = now_ms();
    let described = terminals
        .into_iter()
        .map(|info| describe(backend, info, verbose, now));
    let sessions: Vec<Value> = stream::iter(described).buffered(AT_ONCE).collect().await;
    Ok(ToolAnswer::Facts(
        json!({ "count": sessions.len(), "sessions": sessions }),
    ))
}

async fn describe(backend: &Backend, info: TerminalInfo, verbose: bool, now: i64) -> Value {
    let alive = info.state == TerminalState::Running;
    let now_in_it = if alive {
        // A terminal that has gone meanwhile is listed as it was.
        backend.activity(&info.id).await.ok()
    } else {
        None
    };
    let cwd = now_in_it.as_ref().and_then(|it| it.cwd.clone());
    let mut facts = Facts::new();
    set(
        &mut facts,
        json!({
            "id": info.id,
            "name": name(&info),
            "cwd": cwd.as_ref().unwrap_or(&info.cwd),
            "alive": alive,
            "busy": now_in_it.as_ref().is_some_and(is_busy),
        }),
    );
    add(&mut facts, json!({ "endCause": info.end_cause }));
    if verbose {
        let shell = info.argv.first().map_or("", String::as_str);
        let idle_ms = match &now_in_it {
            Some(activity) => i64::try_from(activity.quiet_ms).unwrap_or(i64::MAX),
            None => now - info.exited_at_ms.unwrap_or(now),
        };
        let idle_ms = idle_ms.clamp(0, now - info.created_at_ms.min(now));
        set(
            &mut facts,
            json!({
                "shell": shell,
                "shellType": base_name(shell),
                "cols": info.cols,
                "rows": info.rows,
                "createdAt": iso(info.created_at_ms),
                "lastActivity": iso(now - idle_ms),
                "idleSeconds": idle_ms / 1_000,
            }),
        );
    }
    facts.into()
}

/// A terminal's name: its label, else the name it was started with.
fn name(info: &TerminalInfo) -> Value {
    let label = info.label.as_ref().map(|label| label.as_str().into());
    let kept = || {
        info.meta
            .as_ref()
            .and_then(|meta| meta.get(NAME_KEY))
            .cloned()
    };
    label.or_else(kept).unwrap_or_default()
}

/// A point in time as JavaScript writes it: with milliseconds.
fn iso(milliseconds: i64) -> String {
    let seconds = utc(milliseconds);
    let seconds = seconds.trim_end_matches('Z');
    format!("{seconds}.{:03}Z", milliseconds.rem_euclid(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(iso(1_795_238_722_632), "2026-11-21T05:25:22.632Z");
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
    }
}
