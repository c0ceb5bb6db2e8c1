//! `term_type`: type into a terminal, and read what comes of it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::{MAX_KEYS, TypedInput, Until};
use termd_proto::screen::CommandState;

use super::results::{self, Part, lean};
use super::run::check_pattern;
use crate::settings::{ONE_SHOT_SECONDS, Truncation};
use crate::tool::{
    Call, Effect, Facts, Handler, Outcome, Tool, ToolAnswer, ToolError, add, line_by_line,
};
use crate::tools::terminal_mcp::interact::since_last_read;
use crate::tools::terminal_mcp::output::Manner;
use crate::tools::terminal_mcp::params::{
    Confirmed, MAX_PATTERN_CHARS, MaxOutputBytes, Seconds, SessionName,
};
use crate::tools::terminal_mcp::status::describe_wait;

/// The quiet time after which a program whose prompts nobody knows is said to be quiet, in milliseconds:
/// terminal-mcp's.
const QUIET_MS: u64 = 5_000;
/// Longest text that one call types, in characters.
const MAX_TEXT_CHARS: usize = 1 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    id: SessionName,
    #[schemars(length(max = MAX_TEXT_CHARS))]
    text: Option<String>,
    /// Press Enter after text
    #[schemars(extend("default" = true))]
    enter: bool,
    /// In place of text: up, escape, ctrl-c, f5, alt-x
    #[schemars(length(min = 1, max = MAX_KEYS))]
    keys: Option<Vec<String>>,
    /// In place of text; stored nowhere
    #[schemars(length(max = MAX_TEXT_CHARS))]
    password: Option<String>,
    #[serde(default)]
    force: bool,
    /// Seconds
    #[schemars(extend("default" = ONE_SHOT_SECONDS))]
    timeout: Seconds,
    /// Regex
    #[schemars(length(min = 1, max = MAX_PATTERN_CHARS))]
    wait_for: Option<String>,
    max_output_bytes: Option<MaxOutputBytes>,
    confirmed: Confirmed,
}

impl Arguments {
    fn to_input(&self) -> Result<TypedInput, ToolError> {
        let mut input = TypedInput {
            force: self.force,
            ..TypedInput::default()
        };
        match (&self.text, &self.keys, &self.password) {
            (text, None, None) => {
                input.text = text.clone().filter(|text| !text.is_empty());
                input.enter = self.enter;
            }
            (None, Some(keys), None) => input.keys.clone_from(keys),
            (None, None, Some(password)) => {
                input.text = Some(password.clone());
                input.secret = true;
                input.enter = self.enter;
            }
            _ => {
                let problem = "give one of 'text', 'keys' and 'password'";
                return Err(ToolError::validation(problem));
            }
        }
        if input.text.is_none() && input.keys.is_empty() && !input.enter {
            let problem = "nothing to type: give 'text', 'keys' or 'password', or leave enter true";
            return Err(ToolError::validation(problem));
        }
        Ok(input)
    }
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "term_type",
        title: "Type into a terminal",
        description: "Type into a terminal, such as a command into a shell. Returns what it prints, without the echo, \
                      once that is done or reads input (see state); of a full-screen program what changed.",
        effect: Effect::Runs,
        output: results::output(results::text()),
        handler: Handler::new(type_in),
    }
}

async fn type_in(call: Call, arguments: Arguments) -> Outcome {
    let input = arguments.to_input()?;
    if let Some(pattern) = &arguments.wait_for {
        // Before anything is typed.
        check_pattern(pattern)?;
    }
    let backend = call.backend();
    let id = backend.resolve(&arguments.id.0).await?;
    // Keys are for the program that runs, and do not wait for its end.
    let _turn = if input.keys.is_empty() {
        Some(call.turn(&id).await)
    } else {
        None
    };
    let before = backend.activity(&id).await?;
    let until = if arguments.wait_for.is_some() {
        Until {
            pattern: arguments.wait_for,
            ..Until::default()
        }
    } else {
        // The marks will show the end of what a shell is given.
        let is_at_prompt = matches!(
            before.command_state,
            CommandState::Prompt | CommandState::Input
        );
        Until {
            done: true,
            settle_ms: (!is_at_prompt).then_some(QUIET_MS),
            pattern: None,
        }
    };
    let typing = call.type_once(&id, line_by_line(input), arguments.confirmed.0);
    let terminal = (&id).into();
    let sent = call.progress.during(backend, &terminal, typing).await?;
    if before.full_screen {
        // What was printed until then drew the screen.
        call.shared.cursors.set_read(&id, sent.offset);
    }
    let timeout = arguments.timeout.to_duration();
    let waiting = backend.wait_for(&id, Some(sent.offset), &until, timeout);
    let wait = call.progress.during(backend, &terminal, waiting).await?;
    let mut facts = Facts::new();
    describe_wait(&mut facts, &wait, sent.offset);
    if wait.activity.full_screen {
        let end = wait.activity.end;
        facts.extend(results::screen(&call, &id, end, Part::Changes).await?);
    } else {
        let manner = Manner::new(&call.shared.settings, Truncation::HeadTail, true)
            .within(arguments.max_output_bytes);
        let read = since_last_read(&call.shared, &id, &wait, manner).await?;
        read.describe(&mut facts);
    }
    let mut facts = lean(facts);
    let matched = until.pattern.is_some().then_some(wait.matched.is_some());
    add(&mut facts, json!({ "matched": matched }));
    Ok(ToolAnswer::Facts(facts.into()))
}
