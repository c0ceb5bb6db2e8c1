//! `session_interact`: type, and read what comes of it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use termd_client::ClientError;
use termd_proto::TerminalId;
use termd_proto::interact::{Until, WaitForResult};

use super::create::milliseconds;
use super::facts::{add, describe_wait, success};
use super::input::Typing;
use super::output::{self, Manner, Output};
use super::read::{MODES, Mode, timeout_of};
use super::{fields, screen};
use crate::Shared;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::settings::{Settings, Truncation};
use crate::tool::{Effect, Tool, run};

/// terminal-mcp's default.
const DEFAULT_TIMEOUT: f64 = 5.0;
/// Output that never settles is given after this much more.
const CEILING: Duration = Duration::from_secs(10);
/// Unread output up to this long is looked at: is it more than a prompt?
const PROMPT_BYTES: u64 = 4_096;

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
    #[serde(flatten)]
    typing: Typing,
    wait_for: Option<String>,
    timeout: f64,
    strip_ansi: bool,
    #[serde(default)]
    read_mode: Mode,
    truncation: Option<Truncation>,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let mut input = vec![fields::session_id()];
    input.extend(fields::typing());
    input.extend([
        fields::pattern(
            "wait_for",
            "Regular expression to wait for in what it prints",
        ),
        fields::timeout(
            DEFAULT_TIMEOUT,
            "With wait_for the most seconds to wait, else seconds without output",
        ),
        fields::strip_ansi(),
        Field::string("read_mode", "As session_read's mode")
            .one_of(&MODES)
            .default("stream"),
        fields::truncation(settings),
    ]);
    let mut output = fields::text();
    output.push(Field::integer("bytes_sent", ""));
    output.extend(fields::waiting());
    output.extend(fields::facts());
    output.extend(fields::screen());
    Tool {
        name: "session_interact",
        title: "Type and read",
        description: "Type into a terminal and return what it prints, without the echo: the usual \
                      way to run a command in a session. Returns when the command is done (see \
                      completed_by, exit_code), at wait_for's match, or when nothing came for \
                      `timeout` seconds. read_mode snapshot for full-screen programs.",
        effect: Effect::Runs,
        input: Schema::input(input),
        output: Some(fields::output(output)),
        run: run(interact),
        error: ToolError::to_session_answer,
    }
}

async fn interact(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    if let Some(pattern) = &arguments.wait_for
        && let Err(error) = regex::Regex::new(pattern)
    {
        // Before anything is typed.
        return Err(ToolError::validation(format!(
            "Invalid wait_for regex: {error}"
        )));
    }
    let backend = call.backend();
    let id = backend.resolve(&arguments.session_id).await?;
    // Typed first and then waited for: the wait may be made again when the daemon is replaced.
    let sent = arguments.typing.send(&call.shared, &id).await?;
    let timeout = timeout_of(arguments.timeout);
    let (until, timeout) = if let Some(pattern) = &arguments.wait_for {
        let until = Until {
            pattern: Some(pattern.clone()),
            ..Until::default()
        };
        (until, timeout)
    } else {
        let until = Until {
            done: true,
            settle_ms: Some(milliseconds(timeout)),
            pattern: None,
        };
        (until, timeout + CEILING)
    };
    let waiting = backend.wait_for(&id, Some(sent.offset), &until, timeout);
    let wait = call
        .progress
        .during(backend, &(&id).into(), waiting)
        .await?;
    let mut facts = success();
    describe_wait(&mut facts, &wait);
    add(&mut facts, json!({ "bytes_sent": sent.sent }));
    if arguments.wait_for.is_some() {
        add(&mut facts, json!({ "matched": wait.matched.is_some() }));
    }
    let strip = arguments.strip_ansi;
    match arguments.read_mode {
        Mode::Diff => screen::diff(&call.shared, &id, &mut facts).await?,
        Mode::Snapshot => {
            screen::snapshot(&call.shared, &id, None, strip, &mut facts).await?;
        }
        Mode::Auto if wait.activity.full_screen => {
            screen::snapshot(&call.shared, &id, None, strip, &mut facts).await?;
        }
        Mode::Auto | Mode::Stream => {
            let manner = Manner::new(&call.shared.settings, arguments.truncation, strip);
            let output = since_last_read(&call.shared, &id, &wait, manner).await?;
            output.describe(&mut facts);
            add(&mut facts, json!({ "mode_used": "stream" }));
        }
    }
    Ok(ToolAnswer::Facts(facts.into()))
}

/// What a wait saw, behind the echo of what was typed; the next read goes on after it. Lines before
/// it that the client has not read are named as left out; a prompt is not worth that.
pub(super) async fn since_last_read(
    shared: &Shared,
    id: &TerminalId,
    wait: &WaitForResult,
    manner: Manner,
) -> Result<Output, ClientError> {
    let read = shared.cursors.of(id).read;
    let begin = wait.output_start.max(wait.start);
    let end = wait.end.max(wait.activity.end).max(begin);
    let mut output = output::read(&shared.backend, id, (begin, end), manner).await?;
    if read < wait.start {
        let unread = wait.start.since(read);
        let is_prompt = unread <= PROMPT_BYTES && {
            let window = (read, wait.start);
            let before = output::read(&shared.backend, id, window, manner).await?;
            !before.text.trim_start().contains('\n')
        };
        if !is_prompt {
            output.leave_out(read, wait.start);
        }
    }
    shared.cursors.set_read(id, output.next);
    Ok(output)
}
