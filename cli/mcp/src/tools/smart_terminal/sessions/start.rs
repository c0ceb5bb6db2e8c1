//! `terminal_start`.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::interact::Until;
use termd_proto::screen::CommandState;
use termd_proto::terminal::{CreateTerminal, TerminalInfo};
use termd_proto::{ErrorKind, Label, Offset};

use super::session::base_name;
use crate::tool::{
    Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError, directory, environment,
    to_milliseconds,
};
use crate::tools::smart_terminal::output::text::Part;
use crate::tools::smart_terminal::params::Confirmed;
use crate::tools::smart_terminal::results::{self, bad};

/// The time that a shell has for its first prompt. Later output is left to the next read.
const FIRST_PROMPT: Duration = Duration::from_secs(10);
/// The quiet time after which a prompt that has begun counts as drawn, in milliseconds.
const PROMPT_DRAWN_MS: u64 = 50;
/// Most lines of a banner.
const BANNER_LINES: u64 = 200;
/// The shell of a user who has none set.
const FALLBACK_SHELL: &str = "/bin/bash";
/// errno(3), the same on all architectures of Linux.
const ENOENT: i64 = 2;
const ENOTDIR: i64 = 20;
/// The key of a terminal's `meta` that holds a name which is no free label.
pub(crate) const NAME_KEY: &str = "name";

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Default: the user's
    #[schemars(length(min = 1))]
    shell: Option<String>,
    #[schemars(range(min = 20, max = 500), extend("default" = 120))]
    cols: u16,
    #[schemars(range(min = 5, max = 200), extend("default" = 30))]
    rows: u16,
    #[schemars(length(min = 1))]
    cwd: Option<String>,
    /// Works as sessionId where it is free
    name: Option<String>,
    env: Option<BTreeMap<String, String>>,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_start",
        title: "Start a terminal",
        description: "Start a shell that stays open over calls and outlives this connection. For one command: terminal_run.",
        effect: Effect::Runs,
        output: results::output_or_question(vec![
            Field::string("sessionId", ""),
            Field::string("shell", ""),
            Field::string("shellType", ""),
            Field::string("cwd", ""),
            Field::string("banner", "What was printed until the first prompt"),
            Field::integer("position", "Where the next read goes on"),
        ]),
        handler: Handler::new(start),
    }
}

async fn start(call: Call, arguments: Arguments) -> Outcome {
    let cwd = directory(arguments.cwd.as_deref())?;
    let detected = detected_shell();
    let shell = arguments.shell.unwrap_or_else(|| detected.clone());
    let mut meta = Map::new();
    if let Some(name) = &arguments.name {
        meta.insert(NAME_KEY.to_owned(), Value::from(name.as_str()));
    }
    let request = CreateTerminal {
        command: Some(shell.clone()),
        env: arguments.env.unwrap_or_default(),
        base_env: Some(environment()),
        cwd: Some(cwd),
        label: arguments
            .name
            .and_then(|name| serde_json::from_value::<Label>(name.into()).ok()),
        cols: Some(arguments.cols),
        rows: Some(arguments.rows),
        idle_timeout_ms: call.shared.settings.idle_timeout.map(to_milliseconds),
        output_byte_limit: Some(call.shared.settings.buffer_bytes),
        confirmed: arguments.confirmed.0,
        meta: (!meta.is_empty()).then_some(meta),
        ..CreateTerminal::default()
    };
    let info = match create(&call, request.clone()).await {
        // Names need not be unique; labels do.
        Err(ClientError::Refused(refusal)) if kind_of(&refusal) == Some(ErrorKind::LabelTaken) => {
            let unnamed = CreateTerminal {
                label: None,
                ..request
            };
            create(&call, unnamed).await
        }
        outcome => outcome,
    };
    let info = info.map_err(|error| {
        let of_directory = bad_directory(&error, arguments.cwd.as_deref());
        of_directory.unwrap_or_else(|| not_started(error, &shell, &detected))
    })?;
    let backend = call.backend();
    let until = Until {
        done: true,
        ..Until::default()
    };
    let waiting = backend.wait_for(&info.id, Some(Offset::ZERO), &until, FIRST_PROMPT);
    let terminal = (&info.id).into();
    let mut wait = call.progress.during(backend, &terminal, waiting).await?;
    if wait.activity.command_state == CommandState::Prompt {
        // The prompt has begun. Some shells never mark its end.
        let until = Until {
            settle_ms: Some(PROMPT_DRAWN_MS),
            ..Until::default()
        };
        wait = backend
            .wait_for(&info.id, Some(wait.end), &until, FIRST_PROMPT)
            .await?;
    }
    let part = Part {
        backend,
        id: &info.id,
        from: Offset::ZERO,
        until: wait.end.max(wait.activity.end),
    };
    let banner = part.last(BANNER_LINES).await?;
    call.shared.cursors.set_read(&info.id, banner.next);
    let program = info.argv.first().cloned().unwrap_or(shell);
    Ok(ToolAnswer::Facts(json!({
        "sessionId": info.id,
        "shellType": base_name(&program),
        "shell": program,
        "cwd": info.cwd,
        "banner": banner.text.trim(),
        "position": banner.next,
    })))
}

async fn create(call: &Call, request: CreateTerminal) -> Result<TerminalInfo, ClientError> {
    call.backend().pool().once(&request).await
}

/// The error of a directory that a program cannot be started in, where that is the error.
pub(crate) fn bad_directory(error: &ClientError, given: Option<&str>) -> Option<ToolError> {
    let ClientError::Refused(refusal) = error else {
        return None;
    };
    let data: Value = serde_json::from_str(refusal.data()?.get()).ok()?;
    if data.get("field")? != "cwd" {
        return None;
    }
    let problem = match data.get("errno").and_then(Value::as_i64) {
        Some(ENOENT) => "Path does not exist (ENOENT)",
        Some(ENOTDIR) => "Path is not a directory (ENOTDIR)",
        _ => data.get("reason")?.as_str()?,
    };
    let given = given.unwrap_or_default();
    Some(bad(format!("Invalid cwd \"{given}\": {problem}")))
}

/// The user's shell.
fn detected_shell() -> String {
    env::var("SHELL")
        .ok()
        .filter(|shell| Path::new(shell).is_absolute() && Path::new(shell).is_file())
        .unwrap_or_else(|| FALLBACK_SHELL.to_owned())
}

fn not_started(error: ClientError, shell: &str, detected: &str) -> ToolError {
    match &error {
        ClientError::Refused(refusal) if kind_of(refusal) == Some(ErrorKind::SpawnFailed) => {
            bad(format!(
                "Shell \"{shell}\" not found. The auto-detected shell is \"{detected}\". Omit the \
                 shell parameter to use auto-detection, or provide the full path to the shell \
                 executable.\n\nHint: call terminal_start with NO shell parameter to auto-detect the \
                 best available shell."
            ))
        }
        _ => error.into(),
    }
}
