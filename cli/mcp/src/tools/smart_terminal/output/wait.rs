//! `terminal_wait`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::{MAX_PATTERN_BYTES, WaitEnd};
use termd_proto::terminal::TerminalState;
use termd_proto::{Offset, TerminalId};

use super::pattern::check_pattern;
use super::text::{Part, Text, WIDEST};
use crate::tool::{
    Awaited, Bounds, Call, Effect, Facts, Field, Handler, MAX_OTHERS, Outcome, Standing, Tool,
    ToolAnswer, ToolError, add, object,
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
    /// Regex
    #[schemars(length(min = 1, max = MAX_PATTERN_BYTES))]
    pattern: Option<String>,
    /// TCP
    #[schemars(range(min = 1, max = u16::MAX))]
    port: Option<u16>,
    /// More sessions; the first ends it
    #[schemars(length(min = 1, max = MAX_OTHERS))]
    any: Option<Vec<String>>,
    /// ms
    timeout: Timeout,
    #[schemars(extend("default" = "tail"))]
    return_mode: ReturnMode,
    #[schemars(range(min = 1, max = 1_000), extend("default" = 50))]
    tail_lines: u64,
}

pub(crate) fn tool() -> Tool {
    let mut output = results::text();
    output.extend(Standing::fields());
    output.extend(results::exit("Of the program, once it has exited"));
    output.extend([
        Field::boolean("matched", "").required(),
        Field::boolean("timedOut", "").default(false),
        Field::string("matchedText", ""),
        Field::string("matchedLine", ""),
        Field::boolean("exited", "The terminal's program has ended"),
        Field::boolean("listening", "A process of it listens on port"),
        Field::string("sessionId", "Which, of several"),
        results::end_cause(),
    ]);
    Tool {
        name: "terminal_wait",
        title: "Wait for output",
        description: "Wait until pattern matches output since your last read or write, port is open, or the \
                      program exits. Not matched: call again.",
        effect: Effect::Reads,
        output: object(output),
        handler: Handler::new(wait),
    }
}

/// An open terminal, and where a wait in it begins.
async fn open(call: &Call, named: &str) -> Result<(TerminalId, Offset), ToolError> {
    let info = find(call, named).await?;
    if info.state == TerminalState::Closed {
        return Err(dead(&info));
    }
    let since = call.shared.cursors.of(&info.id).wait_from().min(info.end);
    Ok((info.id, since))
}

async fn wait(call: Call, arguments: Arguments) -> Outcome {
    if let Some(pattern) = &arguments.pattern {
        check_pattern(pattern, "pattern")?;
    }
    let (id, since) = open(&call, &arguments.session_id.0).await?;
    let mut others = Vec::new();
    for named in arguments.any.iter().flatten() {
        others.push(open(&call, named).await?);
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
    let backend = call.backend();
    let begin = wait.output_start.max(wait.start);
    let end = wait.matched.as_ref().map_or(wait.end, |it| it.end);
    let part = Part {
        backend,
        id,
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
            ReturnMode::MatchOnly => call.shared.cursors.set_matched(id, end),
            ReturnMode::Full | ReturnMode::Tail => call.shared.cursors.set_read(id, end),
        }
    }
    let mut facts = Facts::new();
    text.describe(&mut facts);
    let exited = wait.ended_by == WaitEnd::Exited;
    add(&mut facts, json!(Standing::of_wait(wait)));
    results::describe_exit(&mut facts, wait.activity.exit_status.as_ref());
    add(
        &mut facts,
        json!({
            "sessionId": arguments.any.is_some().then_some(id),
            "matched": first.has_come(&awaited),
            "listening": awaited.port.map(|_| first.listening),
            "timedOut": first.is_timed_out(),
            "matchedText": wait.matched.as_ref().map(|matched| &matched.text),
            "matchedLine": wait.matched.as_ref().map(|matched| &matched.line),
            "exited": exited.then_some(true),
            "endCause": wait.activity.end_cause,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
