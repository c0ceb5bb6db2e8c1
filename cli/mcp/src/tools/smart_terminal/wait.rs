//! `terminal_wait`.

use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::{MAX_PATTERN_BYTES, Until, WaitEnd};
use termd_proto::terminal::TerminalState;

use super::fields::{self, Facts, add, bad};
use super::session::{dead, find, milliseconds};
use super::text::{Part, Text};
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

/// Most lines of a full answer.
const FULL_LINES: u64 = 10_000;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ReturnMode {
    Tail,
    Full,
    MatchOnly,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: String,
    pattern: String,
    timeout: u64,
    return_mode: ReturnMode,
    tail_lines: u64,
}

pub(super) fn tool() -> Tool {
    let mut output = fields::text();
    output.extend([
        Field::boolean("matched", "").required(),
        Field::boolean("timedOut", "").required(),
        Field::string("matchedText", ""),
        Field::string("matchedLine", ""),
        Field::boolean("exited", "The terminal's program has ended"),
        fields::end_cause(),
    ]);
    Tool {
        name: "terminal_wait",
        title: "Wait for output",
        description: "Wait until a regular expression matches what was printed since your last read, \
                      write or match; output from before this call counts, the echo of your input \
                      does not. Not matched yet: call again to go on.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            fields::session_id(),
            Field::string("pattern", "Regular expression; ^ and $ match at line ends")
                .required()
                .at_least(1)
                .at_most(MAX_PATTERN_BYTES),
            fields::timeout("Most milliseconds to wait"),
            Field::string("returnMode", "")
                .one_of(&["tail", "full", "match-only"])
                .default("tail"),
            Field::integer("tailLines", "")
                .between(1, 1_000)
                .default(50),
        ]),
        output: Some(fields::output(output)),
        run: run(wait),
        error: fields::error,
    }
}

/// Refuses what is no pattern, as the original says it.
pub(super) fn check_pattern(pattern: &str, name: &str) -> Result<regex::Regex, ToolError> {
    regex::RegexBuilder::new(pattern)
        .multi_line(true)
        .build()
        .map_err(|error| bad(format!("Invalid regex pattern in {name}: {error}")))
}

async fn wait(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    check_pattern(&arguments.pattern, "pattern")?;
    let info = find(&call, &arguments.session_id).await?;
    if info.state == TerminalState::Closed {
        return Err(dead(&info));
    }
    let backend = call.backend();
    let since = call.shared.cursors.of(&info.id).wait_from().min(info.end);
    let until = Until {
        pattern: Some(arguments.pattern),
        ..Until::default()
    };
    let timeout = milliseconds(arguments.timeout);
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
        ReturnMode::Full => part.both_ends(FULL_LINES).await?,
        ReturnMode::Tail => part.last(arguments.tail_lines).await?,
        ReturnMode::MatchOnly => Text {
            next: end,
            ..Text::default()
        },
    };
    if wait.matched.is_some() {
        // What was not given is still to be read; and no wait matches the same place again.
        match arguments.return_mode {
            ReturnMode::MatchOnly => call.shared.cursors.set_sent(&info.id, end),
            ReturnMode::Full | ReturnMode::Tail => call.shared.cursors.set_read(&info.id, end),
        }
    }
    let mut facts = Facts::new();
    text.describe(&mut facts);
    let exited = wait.ended_by == WaitEnd::Exited;
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
