//! `session_wait_for`.

use serde::Deserialize;
use serde_json::json;
use termd_proto::Offset;
use termd_proto::interact::Until;

use super::facts::{add, describe_wait, success};
use super::fields;
use super::interact::since_last_read;
use super::output::Manner;
use super::read::timeout_of;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::settings::{Settings, Truncation};
use crate::tool::{Effect, Tool, run};

/// terminal-mcp's default, below the minute after which clients give a call up.
const DEFAULT_TIMEOUT: f64 = 30.0;

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
    pattern: String,
    timeout: f64,
    strip_ansi: bool,
    truncation: Option<Truncation>,
    offset: Option<Offset>,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let mut output = fields::text();
    output.extend(fields::waiting());
    output.extend(fields::facts());
    Tool {
        name: "session_wait_for",
        title: "Wait for output",
        description: "Wait until a regular expression matches what was printed since your last read \
                      or send (what came before this call counts, the echo of your input does not), \
                      the program exits, or the time is over. matched says which; not matched yet: \
                      call again to go on.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            fields::session_id(),
            fields::pattern(
                "pattern",
                "Regular expression on plain text; ^ and $ match at line ends; no look-around",
            )
            .required(),
            fields::timeout(DEFAULT_TIMEOUT, "Most seconds to wait"),
            fields::strip_ansi(),
            fields::truncation(settings),
            Field::integer("offset", "Look from here on instead").between(0, u64::MAX >> 11),
        ]),
        output: Some(fields::output(output)),
        run: run(wait_for),
        error: ToolError::to_session_answer,
    }
}

async fn wait_for(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let id = call.backend().resolve(&arguments.session_id).await?;
    let cursor = call.shared.cursors.of(&id);
    let since = arguments.offset.unwrap_or_else(|| cursor.wait_from());
    let until = Until {
        pattern: Some(arguments.pattern),
        ..Until::default()
    };
    let backend = call.backend();
    let timeout = timeout_of(arguments.timeout);
    let waiting = backend.wait_for(&id, Some(since), &until, timeout);
    let wait = call
        .progress
        .during(backend, &(&id).into(), waiting)
        .await?;
    let manner = Manner::new(
        &call.shared.settings,
        arguments.truncation,
        arguments.strip_ansi,
    );
    let mut facts = success();
    let output = since_last_read(&call.shared, &id, &wait, manner).await?;
    output.describe(&mut facts);
    describe_wait(&mut facts, &wait);
    add(&mut facts, json!({ "matched": wait.matched.is_some() }));
    Ok(ToolAnswer::Facts(facts.into()))
}
