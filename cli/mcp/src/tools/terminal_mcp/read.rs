//! `session_read`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::Until;
use termd_proto::{Offset, TerminalId};

use super::create::milliseconds;
use super::facts::{Facts, Standing, add, describe_wait, success};
use super::output::{self, Manner};
use super::{fields, screen};
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::settings::{Settings, Truncation};
use crate::tool::{Effect, Tool, run};

/// Output that never settles is given after this much more; terminal-mcp's hard ceiling.
const CEILING: Duration = Duration::from_secs(10);

/// How to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// A snapshot where a full-screen program is on, else the stream.
    Auto,
    /// Output since the last read.
    #[default]
    Stream,
    /// The screen.
    Snapshot,
    /// The rows of the screen that changed.
    Diff,
}

/// Their words.
pub(super) const MODES: [&str; 4] = ["stream", "snapshot", "auto", "diff"];

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
    mode: Mode,
    timeout: f64,
    strip_ansi: bool,
    scrollback: Option<u32>,
    truncation: Option<Truncation>,
    offset: Option<Offset>,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let mut output = fields::text();
    output.extend(fields::facts());
    output.extend(fields::waiting());
    output.extend(fields::screen());
    Tool {
        name: "session_read",
        title: "Read a terminal",
        description: "Output since your last read (stream), the screen as a person sees it \
                      (snapshot), or its changed rows (diff); auto takes a snapshot of a full-screen \
                      program. Returns as soon as the command is known to be done, else when nothing \
                      came for `timeout` seconds. Waiting for something certain? session_wait_for.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            fields::session_id(),
            Field::string("mode", "").one_of(&MODES).default("auto"),
            fields::timeout(
                settings.settle.as_secs_f64(),
                "Seconds without output until it counts as settled (stream); 0: do not wait",
            ),
            fields::strip_ansi(),
            Field::integer("scrollback", "Lines above the screen too (snapshot)")
                .between(0, 10_000),
            fields::truncation(settings),
            Field::integer("offset", "Read from here, not from your last read (stream)")
                .between(0, u64::MAX >> 11),
        ]),
        output: Some(fields::output(output)),
        run: run(read),
        error: ToolError::to_session_answer,
    }
}

async fn read(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let id = call.backend().resolve(&arguments.session_id).await?;
    let mut facts = success();
    let standing = Standing::of(call.backend(), &id).await?;
    let snapshot = match arguments.mode {
        Mode::Snapshot => true,
        Mode::Auto => arguments.offset.is_none() && standing.is_full_screen(),
        Mode::Stream | Mode::Diff => false,
    };
    if arguments.mode == Mode::Diff {
        standing.describe(&mut facts);
        screen::diff(&call.shared, &id, &mut facts).await?;
    } else if snapshot {
        standing.describe(&mut facts);
        let strip = arguments.strip_ansi;
        screen::snapshot(&call.shared, &id, arguments.scrollback, strip, &mut facts).await?;
    } else {
        stream(&call, &id, &standing, &arguments, &mut facts).await?;
    }
    Ok(ToolAnswer::Facts(facts.into()))
}

async fn stream(
    call: &Call,
    id: &TerminalId,
    standing: &Standing,
    arguments: &Arguments,
    facts: &mut Facts,
) -> Result<(), ToolError> {
    let manner = Manner::new(
        &call.shared.settings,
        arguments.truncation,
        arguments.strip_ansi,
    );
    let cursor = call.shared.cursors.of(id);
    let from = arguments.offset.unwrap_or(cursor.read);
    let settle = timeout_of(arguments.timeout);
    let nothing_to_wait_for = !standing.is_running()
        || settle.is_zero()
        || manner.is_full(from, standing.end())
        || arguments
            .offset
            .is_some_and(|offset| offset < standing.end());
    let end = if nothing_to_wait_for {
        standing.describe(facts);
        standing.end()
    } else {
        let until = Until {
            done: true,
            settle_ms: Some(milliseconds(settle)),
            pattern: None,
        };
        let backend = call.backend();
        let waiting = backend.wait_for(id, Some(cursor.wait_from()), &until, settle + CEILING);
        let wait = call.progress.during(backend, &id.into(), waiting).await?;
        if arguments.mode == Mode::Auto && wait.activity.full_screen && arguments.offset.is_none() {
            // It has just come up.
            describe_wait(facts, &wait);
            let strip = arguments.strip_ansi;
            screen::snapshot(&call.shared, id, arguments.scrollback, strip, facts).await?;
            return Ok(());
        }
        describe_wait(facts, &wait);
        // What came between the wait's end and its answer is there to be read too.
        wait.end.max(wait.activity.end)
    };
    let output = output::read(call.backend(), id, (from, end.max(from)), manner).await?;
    call.shared.cursors.set_read(id, output.next);
    output.describe(facts);
    add(facts, json!({ "mode_used": "stream" }));
    Ok(())
}

/// Seconds as the schema bounds them.
pub(super) fn timeout_of(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
