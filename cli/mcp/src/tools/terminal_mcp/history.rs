//! `session_history`.

use serde::Deserialize;
use serde_json::{Value, json};
use termd_proto::TerminalRef;
use termd_proto::command::{CommandFilter, CommandInfo, ListCommands, MAX_QUERY_BYTES};

use super::create::seconds;
use super::facts::{Facts, add, success};
use super::fields;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: Option<String>,
    search: Option<String>,
    failed: Option<bool>,
    limit: u32,
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_history",
        title: "What was run",
        description: "Commands that were run in terminals, newest first, with exit codes and where \
                      their output is (session_read with offset=from); of closed terminals too.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            Field::string("session_id", "Only this terminal's")
                .at_least(1)
                .at_most(64),
            Field::string("search", "Only those that hold these words")
                .at_least(1)
                .at_most(MAX_QUERY_BYTES / 4),
            Field::boolean(
                "failed",
                "Only those that failed, or only those that did not",
            ),
            Field::integer("limit", "").between(1, 200).default(20),
            Field::string("cursor", "next_cursor of the page before"),
        ]),
        output: Some(fields::output(vec![
            Field::list("commands", json!({ "type": "object" }), ""),
            Field::integer("count", ""),
            Field::string("next_cursor", ""),
        ])),
        run: run(history),
        error: ToolError::to_session_answer,
    }
}

async fn history(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
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
