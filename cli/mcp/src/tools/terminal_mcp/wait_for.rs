//! `session_wait_for`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::Offset;
use termd_proto::interact::Until;

use super::interact::since_last_read;
use super::output::{self, Manner};
use super::params::{
    MAX_OFFSET, MAX_PATTERN_CHARS, MaxOutputBytes, Seconds, SessionName, StripAnsi,
};
use super::results::{self, success};
use super::status::describe_wait;
use crate::settings::{Settings, Truncation};
use crate::tool::{Call, Effect, Handler, Outcome, Tool, ToolAnswer, add};

/// terminal-mcp's default, below the minute after which clients give a call up.
const DEFAULT_TIMEOUT: f64 = 30.0;
/// Of what has not matched only the end is shown, as it says how far the program is.
const TAIL_BYTES: u64 = 1 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
    /// Regular expression on plain text; ^ and $ match at line ends; no look-around
    #[schemars(length(min = 1, max = MAX_PATTERN_CHARS))]
    pattern: String,
    /// Most seconds to wait
    #[schemars(extend("default" = DEFAULT_TIMEOUT))]
    timeout: Seconds,
    strip_ansi: StripAnsi,
    truncation: Truncation,
    max_output_bytes: Option<MaxOutputBytes>,
    /// Look from here on instead
    #[schemars(with = "Option<u64>", range(min = 0, max = MAX_OFFSET))]
    offset: Option<Offset>,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let mut output = results::text();
    output.extend(results::waiting());
    output.extend(results::facts());
    Tool {
        name: "session_wait_for",
        title: "Wait for output",
        description: "Wait until a regular expression matches what was printed since your last read \
                      or send (what came before this call counts, the echo of your input does not), \
                      the program exits, or the time is over. matched says which; not matched yet: \
                      call again to go on.",
        effect: Effect::Reads,
        output: results::output(output),
        handler: Handler::new(wait_for).default("truncation", settings.truncation.as_str()),
    }
}

async fn wait_for(call: Call, arguments: Arguments) -> Outcome {
    let id = call.backend().resolve(&arguments.session_id.0).await?;
    let cursor = call.shared.cursors.of(&id);
    let since = arguments.offset.unwrap_or_else(|| cursor.wait_from());
    let until = Until {
        pattern: Some(arguments.pattern),
        ..Until::default()
    };
    let backend = call.backend();
    let timeout = arguments.timeout.to_duration();
    let waiting = backend.wait_for(&id, Some(since), &until, timeout);
    let wait = call
        .progress
        .during(backend, &(&id).into(), waiting)
        .await?;
    let manner = Manner::new(
        &call.shared.settings,
        arguments.truncation,
        arguments.strip_ansi.0,
    )
    .within(arguments.max_output_bytes);
    let mut facts = success();
    let output = if wait.matched.is_some() {
        since_last_read(&call.shared, &id, &wait, manner).await?
    } else {
        // All of it is still to be read.
        let window = (wait.output_start.max(wait.start), wait.end);
        output::read(backend, &id, window, manner.tail_of(TAIL_BYTES)).await?
    };
    output.describe(&mut facts);
    describe_wait(&mut facts, &wait);
    add(&mut facts, json!({ "matched": wait.matched.is_some() }));
    Ok(ToolAnswer::Facts(facts.into()))
}
