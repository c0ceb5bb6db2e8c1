//! `session_history`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use termd_proto::TerminalRef;
use termd_proto::command::{CommandFilter, CommandInfo, ListCommands, MAX_QUERY_BYTES};

use super::create::seconds;
use super::params::MAX_NAME_CHARS;
use super::results::{self, success};
use crate::tool::{Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))]
    session_id: Option<String>,
    /// Only those that hold these words
    #[schemars(length(min = 1, max = MAX_QUERY_BYTES / 4))]
    search: Option<String>,
    failed: Option<bool>,
    #[schemars(range(min = 1, max = 200), extend("default" = 20))]
    limit: u32,
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_history",
        title: "What was run",
        description: "Commands that were run in terminals, newest first, with exit codes and the offsets of their output.",
        effect: Effect::Reads,
        output: results::output(vec![
            Field::list("commands", json!({ "type": "object" }), ""),
            Field::integer("count", ""),
            Field::string("next_cursor", ""),
        ]),
        handler: Handler::new(history),
    }
}

async fn history(call: Call, arguments: Arguments) -> Outcome {
    let filter = CommandFilter {
        terminal: arguments.session_id.map(TerminalRef),
        query: arguments.search,
        failed: arguments.failed,
        ..CommandFilter::default()
    };
    let page = call
        .backend()
        .pool()
        .repeat(&ListCommands {
            filter: Some(filter),
            cursor: arguments.cursor,
            limit: Some(arguments.limit),
        })
        .await?;
    let commands: Vec<Value> = page.commands.iter().map(describe).collect();
    let mut facts = success();
    add(
        &mut facts,
        json!({
            "count": commands.len(),
            "commands": commands,
            "next_cursor": page.next_cursor,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}

fn describe(command: &CommandInfo) -> Value {
    let mut facts = Facts::new();
    add(
        &mut facts,
        json!({
            "session_id": command.terminal,
            "command": command.text,
            "cwd": command.cwd,
            "started_at": seconds(command.started_at_ms),
            "ended_at": command.ended_at_ms.map(seconds),
            "exit_code": command.exit_code,
            "signal": command.signal,
            "from": command.start,
            "to": command.end,
        }),
    );
    facts.into()
}
