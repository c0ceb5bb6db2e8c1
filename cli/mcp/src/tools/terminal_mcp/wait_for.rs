//! `session_wait_for`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::Offset;

use super::interact::since_last_read;
use super::output::{self, Manner};
use super::params::{
    MAX_OFFSET, MAX_PATTERN_CHARS, MaxOutputBytes, Seconds, SessionName, StripAnsi,
};
use super::results::{self, success};
use super::status::describe_wait;
use crate::settings::{Settings, Truncation};
use crate::tool::{
    Awaited, Call, Effect, Field, Handler, MAX_OTHERS, Outcome, Tool, ToolAnswer, add,
};

/// terminal-mcp's default, below the minute after which clients give a call up.
const DEFAULT_TIMEOUT: f64 = 30.0;
/// Of what has not matched only the end is shown, as it says how far the program is.
pub(in crate::tools) const TAIL_BYTES: u64 = 1 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
    /// Regex; ^ and $ match at line ends
    #[schemars(length(min = 1, max = MAX_PATTERN_CHARS))]
    pattern: Option<String>,
    /// TCP
    #[schemars(range(min = 1, max = u16::MAX))]
    port: Option<u16>,
    /// More sessions; the first ends it
    #[schemars(length(min = 1, max = MAX_OTHERS))]
    any: Option<Vec<String>>,
    /// Seconds
    #[schemars(extend("default" = DEFAULT_TIMEOUT))]
    timeout: Seconds,
    strip_ansi: StripAnsi,
    truncation: Truncation,
    max_output_bytes: Option<MaxOutputBytes>,
    #[schemars(with = "Option<u64>", range(min = 0, max = MAX_OFFSET))]
    offset: Option<Offset>,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let mut output = results::text();
    output.extend(results::waiting());
    output.extend(results::facts());
    output.extend([
        Field::string("session_id", "Which, of several"),
        Field::boolean("listening", "A process of it listens on port"),
    ]);
    Tool {
        name: "session_wait_for",
        title: "Wait for output",
        description: "Wait until pattern matches output since your last read or send, port is open, or the \
                      program exits. Not matched: call again.",
        effect: Effect::Reads,
        output: results::output(output),
        handler: Handler::new(wait_for).default("truncation", settings.truncation.as_str()),
    }
}

async fn wait_for(call: Call, arguments: Arguments) -> Outcome {
    let id = call.backend().resolve(&arguments.session_id.0).await?;
    let cursor = call.shared.cursors.of(&id);
    let since = arguments.offset.unwrap_or_else(|| cursor.wait_from());
    let mut others = Vec::new();
    for named in arguments.any.iter().flatten() {
        let id = call.backend().resolve(named).await?;
        let since = call.shared.cursors.of(&id).wait_from();
        others.push((id, since));
    }
    let awaited = Awaited {
        pattern: arguments.pattern,
        port: arguments.port,
    };
    let timeout = arguments.timeout.to_duration();
    let first = awaited
        .in_any(&call, (&id, since), &others, timeout)
        .await?;
    let (id, wait) = (&first.id, &first.wait);
    let manner = Manner::new(
        &call.shared.settings,
        arguments.truncation,
        arguments.strip_ansi.0,
    )
    .within(arguments.max_output_bytes);
    let mut facts = success();
    let output = if first.is_timed_out() {
        // All of it is still to be read.
        let window = (wait.output_start.max(wait.start), wait.end);
        output::read(call.backend(), id, window, manner.tail_of(TAIL_BYTES)).await?
    } else {
        since_last_read(&call.shared, id, wait, manner).await?
    };
    output.describe(&mut facts);
    describe_wait(&mut facts, wait, call.shared.cursors.of(id).sent);
    facts.remove("timed_out");
    add(
        &mut facts,
        json!({
            "session_id": arguments.any.is_some().then_some(id),
            "matched": first.has_come(&awaited),
            "listening": awaited.port.map(|_| first.listening),
            "timed_out": first.is_timed_out().then_some(true),
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
