//! `terminal_wait`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::{MAX_PATTERN_BYTES, Until, WaitEnd};
use termd_proto::terminal::TerminalState;

use super::pattern::check_pattern;
use super::text::{Part, Text, WIDEST};
use crate::tool::{
    Bounds, Call, Effect, Facts, Field, Handler, Outcome, Standing, Tool, ToolAnswer, add, object,
};
use crate::tools::smart_terminal::params::{SessionName, Timeout};
use crate::tools::smart_terminal::results;
use crate::tools::smart_terminal::sessions::session::{dead, find};

/// The most of a full answer.
const FULL: Bounds = Bounds {
    lines: 10_000,
    ..WIDEST
};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ReturnMode {
    Tail,
    Full,
    MatchOnly,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// Regular expression; ^ and $ match at line ends
    #[schemars(length(min = 1, max = MAX_PATTERN_BYTES))]
    pattern: String,
    /// Most milliseconds to wait
    timeout: Timeout,
    #[schemars(extend("default" = "tail"))]
    return_mode: ReturnMode,
    #[schemars(range(min = 1, max = 1_000), extend("default" = 50))]
    tail_lines: u64,
}

pub(crate) fn tool() -> Tool {
    let mut output = results::text();
    output.extend(Standing::fields());
    output.extend([
        Field::boolean("matched", "").required(),
        Field::boolean("timedOut", "").default(false),
        Field::string("matchedText", ""),
        Field::string("matchedLine", ""),
        Field::boolean("exited", "The terminal's program has ended"),
        results::end_cause(),
    ]);
    Tool {
        name: "terminal_wait",
        title: "Wait for output",
        description: "Wait until a regular expression matches what was printed since your last read, \
                      write or match; output from before this call counts, the echo of your input \
                      does not. Not matched yet: call again to go on.",
        effect: Effect::Reads,
        output: object(output),
        handler: Handler::new(wait),
    }
}

async fn wait(call: Call, arguments: Arguments) -> Outcome {
    check_pattern(&arguments.pattern, "pattern")?;
    let info = find(&call, &arguments.session_id.0).await?;
    if info.state == TerminalState::Closed {
        return Err(dead(&info));
    }
    let backend = call.backend();
    let since = call.shared.cursors.of(&info.id).wait_from().min(info.end);
    let until = Until {
        pattern: Some(arguments.pattern),
        ..Until::default()
    };
    let timeout = arguments.timeout.to_duration();
    let waiting = backend.wait_for(&info.id, Some(since), &until, timeout);
    let terminal = (&info.id).into();
    let wait = call.progress.during(backend, &terminal, waiting).await?;
    let begin = wait.output_start.max(wait.start);
    let end = wait.matched.as_ref().map_or(wait.end, |it| it.end);
    let part = Part {
        backend,
        id: &info.id,
        from: begin.min(end),
        until: end,
    };
    let text = match arguments.return_mode {
        ReturnMode::Full => part.both_ends(FULL).await?,
        ReturnMode::Tail => part.last(arguments.tail_lines).await?,
        ReturnMode::MatchOnly => Text {
            next: end,
            ..Text::default()
        },
    };
    if wait.matched.is_some() {
        // Output that was not returned is still to be read. No wait matches the same place again.
        match arguments.return_mode {
            ReturnMode::MatchOnly => call.shared.cursors.set_sent(&info.id, end),
            ReturnMode::Full | ReturnMode::Tail => call.shared.cursors.set_read(&info.id, end),
        }
    }
    let mut facts = Facts::new();
    text.describe(&mut facts);
    let exited = wait.ended_by == WaitEnd::Exited;
    add(&mut facts, json!(Standing::of_wait(&wait)));
    add(
        &mut facts,
        json!({
            "matched": wait.matched.is_some(),
            "timedOut": wait.ended_by == WaitEnd::Timeout,
            "matchedText": wait.matched.as_ref().map(|matched| &matched.text),
            "matchedLine": wait.matched.as_ref().map(|matched| &matched.line),
            "exited": exited.then_some(true),
            "endCause": wait.activity.end_cause,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
