//! `terminal_exec`, and a command in a terminal as `terminal_retry` and `terminal_diff` run it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use termd_client::ClientError;
use termd_proto::command::CommandInfo;
use termd_proto::interact::{Activity, DoneBy, TypedInput, Until, WaitEnd, WaitForResult};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{EndCause, TerminalInfo};
use termd_proto::{Offset, TerminalId};
use tokio::time::Instant;

use super::fields::{self, Facts, add, bad, set};
use super::session::{activity, alive, base_name, is_busy, milliseconds, type_once};
use super::text::{Part, Text};
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

/// Shells whose compound commands are written `{ … }`.
const BRACE_SHELLS: [&str; 8] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "yash", "zsh"];
/// As much output before the command as a prompt takes.
const PROMPT_BYTES: u64 = 1_024;
/// How long output is quiet until it is looked whether the command's end was told; then twice as
/// long each time. Shells that mark no end of their prompt are told by this.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// The longest between two looks.
const LAST_LOOK: Duration = Duration::from_millis(500);
/// Quiet at a prompt for so long, a shell has nothing before it that it has been told to run.
const AT_PROMPT_MS: u64 = 600;
/// As much of a running command as is said.
const SHOWN_CHARS: usize = 100;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: String,
    command: String,
    timeout: u64,
    max_lines: u64,
    quiet_exit_ms: Option<u64>,
    min_output_bytes: u64,
    confirmed: bool,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "terminal_exec",
        title: "Run a command in a terminal",
        description: "Run a command (several lines too) in a terminal's shell, wait until it is done, \
                      and return its output and exitCode. Directory and variables stay. At the \
                      timeout it goes on running: terminal_wait or terminal_read follow it, \
                      terminal_send_key ctrl+c ends it.",
        effect: Effect::Runs,
        input: Schema::input(vec![
            fields::session_id(),
            Field::string("command", "The command").required(),
            fields::timeout("Most milliseconds to wait"),
            fields::max_lines(),
            Field::integer("quietExitMs", "Return when silent for so many ms")
                .between(500, 600_000),
            Field::integer("minOutputBytes", "Not before so many bytes of output")
                .between(0, fields::MAX_INTEGER)
                .default(1),
            fields::confirmed(),
        ]),
        output: Some(fields::output_or_question(fields::ran())),
        run: run(exec),
        error: fields::error,
    }
}

async fn exec(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let info = alive(&call, &arguments.session_id).await?;
    let order = Order {
        command: &arguments.command,
        timeout: milliseconds(arguments.timeout),
        quiet: arguments.quiet_exit_ms.map(|silence| Quiet {
            silence_ms: silence,
            min_bytes: arguments.min_output_bytes,
        }),
        confirmed: arguments.confirmed,
    };
    let ran = execute(&call, &info, &order).await?;
    let facts = ran.describe(&call, arguments.max_lines).await?;
    Ok(ToolAnswer::Facts(facts.into()))
}

/// What is to be run, and how long.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
    pub(super) quiet: Option<Quiet>,
    pub(super) confirmed: bool,
}

/// When silence counts as the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quiet {
    pub(super) silence_ms: u64,
    pub(super) min_bytes: u64,
}

/// How a command went.
#[derive(Debug)]
pub(super) struct Ran {
    id: TerminalId,
    start: Offset,
    end: Offset,
    /// The end of all that was seen, the next prompt included.
    seen: Offset,
    pub(super) exit_code: Option<i32>,
    pub(super) timed_out: bool,
    cwd: String,
    by: Option<DoneBy>,
    /// The prompt that the command was typed at, where it may be at its output's end too.
    prompt: Option<String>,
    /// Whether it was still running.
    pub(super) is_running: bool,
    /// The limit that ended the terminal's program.
    end_cause: Option<EndCause>,
}

impl Ran {
    /// The result's fields.
    pub(super) async fn describe(&self, call: &Call, max_lines: u64) -> Result<Facts, ClientError> {
        let text = self.text(call, max_lines).await?;
        let mut facts = Facts::new();
        text.describe(&mut facts);
        set(
            &mut facts,
            json!({
                "exitCode": self.exit_code,
                "cwd": self.cwd,
                "timedOut": self.timed_out,
                "position": self.seen,
            }),
        );
        add(
            &mut facts,
            json!({
                "completedBy": self.by,
                "running": self.is_running.then_some(true),
                "endCause": self.end_cause,
            }),
        );
        Ok(facts)
    }

    /// Its output.
    pub(super) async fn text(&self, call: &Call, max_lines: u64) -> Result<Text, ClientError> {
        let part = Part {
            backend: call.backend(),
            id: &self.id,
            from: self.start,
            until: self.end,
        };
        let mut text = part.both_ends(max_lines).await?;
        if let Some(prompt) = &self.prompt {
            let without = text.text.trim_end().strip_suffix(prompt.as_str());
            let without =
                without.map(|without| without.strip_suffix('\n').unwrap_or(without).to_owned());
            text.text = without.unwrap_or(text.text);
        }
        Ok(text)
    }
}

/// Types a command, and waits until it is done.
pub(super) async fn execute(
    call: &Call,
    info: &TerminalInfo,
    order: &Order<'_>,
) -> Result<Ran, ToolError> {
    let backend = call.backend();
    let before = activity(backend, &info.id).await?;
    if is_busy(&before) {
        return Err(busy(info, &before));
    }
    let program = before.foreground.as_ref().map_or_else(
        || info.argv.first().map_or("", |program| base_name(program)),
        |foreground| foreground.program.trim_start_matches('-'),
    );
    let text = one_unit(order.command, program);
    let input = TypedInput {
        text: (!text.is_empty()).then_some(text),
        enter: true,
        ..TypedInput::default()
    };
    let begun = Instant::now();
    let sent = type_once(call, &info.id, &input, order.confirmed).await?;
    let deadline = begun + order.timeout;
    // On the heap, as all waits here: the futures around it would grow by it, each of them.
    let waiting = until_done(call, &info.id, sent.offset, order.quiet, deadline);
    let waiting = Box::pin(waiting);
    let terminal = (&info.id).into();
    let wait = call.progress.during(backend, &terminal, waiting).await?;
    let start = wait.output_start.max(wait.start);
    let seen = wait.end.max(start);
    let finished = finished(&wait);
    let end = finished.and_then(|command| command.end);
    // At an empty line a shell runs nothing, and prints its prompt alone.
    let nothing_ran = wait.command.is_none() && is_empty(order.command);
    let end = end.unwrap_or(if nothing_ran { start } else { seen });
    let prompt = match wait.done_by {
        Some(DoneBy::Foreground | DoneBy::Prompt) => {
            prompt_before(call, &info.id, sent.offset).await?
        }
        _ => None,
    };
    call.shared.cursors.set_read(&info.id, seen);
    let is_over = is_over(&wait);
    let exited = wait.activity.exit_status.as_ref();
    let exit_code = finished
        .and_then(|command| command.exit_code)
        .or_else(|| exited?.exit_code.and_then(|code| i32::try_from(code).ok()));
    Ok(Ran {
        id: info.id.clone(),
        start,
        end: end.max(start),
        seen,
        exit_code,
        timed_out: wait.ended_by == WaitEnd::Timeout && !is_over,
        is_running: matches!(wait.ended_by, WaitEnd::Timeout | WaitEnd::Settled) && !is_over,
        cwd: wait.activity.cwd.unwrap_or_else(|| info.cwd.clone()),
        by: wait.done_by.or(is_over.then_some(DoneBy::Marks)),
        prompt,
        end_cause: wait.activity.end_cause,
    })
}

async fn until_done(
    call: &Call,
    id: &TerminalId,
    since: Offset,
    quiet: Option<Quiet>,
    deadline: Instant,
) -> Result<WaitForResult, ClientError> {
    let mut look = FIRST_LOOK;
    loop {
        let silence = quiet.map(|quiet| milliseconds(quiet.silence_ms));
        let settle = silence.map_or(look, |silence| silence.min(look));
        let until = Until {
            done: true,
            settle_ms: Some(u64::try_from(settle.as_millis()).unwrap_or(u64::MAX)),
            pattern: None,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = call
            .backend()
            .wait_for(id, Some(since), &until, left)
            .await?;
        // The end of the command is enough, whatever the shell does before its next prompt.
        if wait.ended_by != WaitEnd::Settled || is_over(&wait) {
            return Ok(wait);
        }
        let printed = wait.end.since(wait.output_start.max(wait.start));
        let is_silent = quiet.is_some_and(|quiet| {
            wait.activity.quiet_ms >= quiet.silence_ms && printed >= quiet.min_bytes
        });
        if is_silent {
            return Ok(wait);
        }
        look = (look * 2).min(LAST_LOOK);
    }
}

/// Whether the marks say so: the command has ended, or the shell is at a prompt and stays there.
fn is_over(wait: &WaitForResult) -> bool {
    let activity = &wait.activity;
    let is_at_prompt = matches!(
        activity.command_state,
        CommandState::Prompt | CommandState::Input
    );
    let stays = is_at_prompt && activity.quiet_ms >= AT_PROMPT_MS && wait.end > wait.start;
    finished(wait).is_some() || stays
}

/// The command that was typed, where the marks say that it has ended.
fn finished(wait: &WaitForResult) -> Option<&CommandInfo> {
    wait.command
        .as_ref()
        .filter(|command| command.ended_at_ms.is_some())
}

fn busy(info: &TerminalInfo, activity: &Activity) -> ToolError {
    let command = activity
        .last_command
        .as_ref()
        .filter(|command| command.ended_at_ms.is_none() && command.number > 0)
        .map(|command| command.text.as_str())
        .filter(|text| !text.is_empty());
    let program = activity.foreground.as_ref();
    let what = command.or_else(|| program.map(|it| it.program.as_str()));
    let what: String = what
        .unwrap_or("a command")
        .chars()
        .take(SHOWN_CHARS)
        .collect();
    bad(format!(
        "Session {} is busy: it runs \"{what}\". Wait for it with terminal_wait or terminal_read, type \
         into it with terminal_write, end it with terminal_send_key ctrl+c, or use another session.",
        info.id
    ))
}

/// A command of several lines as one that the shell runs, and tells of, as a whole.
fn one_unit(command: &str, program: &str) -> String {
    let whole = command;
    let command = command.trim_end_matches(['\n', '\r']);
    if !command.contains('\n') {
        return command.to_owned();
    }
    if BRACE_SHELLS.contains(&program) {
        format!("{{ {command}\n}}")
    } else if program == "fish" {
        format!("begin\n{command}\nend")
    } else {
        // An empty line at the end may be what ends a block, as in Python.
        whole.to_owned()
    }
}

/// Whether there is nothing to be run in it.
fn is_empty(command: &str) -> bool {
    let mut lines = command.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

/// The line that the command was typed at.
async fn prompt_before(
    call: &Call,
    id: &TerminalId,
    typed_at: Offset,
) -> Result<Option<String>, ClientError> {
    let part = Part {
        backend: call.backend(),
        id,
        from: Offset(typed_at.0.saturating_sub(PROMPT_BYTES)),
        until: typed_at,
    };
    let read = part
        .page(part.from, part.until, u64::MAX, PROMPT_BYTES)
        .await?;
    let text = read.text.unwrap_or_default();
    let line = text.rsplit('\n').next().unwrap_or_default().trim_end();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_lines_are_one_command_where_the_shell_has_a_way_to_say_so() {
        let table = [
            ("ls", "bash", "ls"),
            ("ls\n", "bash", "ls"),
            ("a\nb", "bash", "{ a\nb\n}"),
            ("a # note\nb # note\r\n", "zsh", "{ a # note\nb # note\n}"),
            ("a\nb", "fish", "begin\na\nb\nend"),
            ("a\nb", "python3", "a\nb"),
            ("if a:\n  b\n", "python3", "if a:\n  b\n"),
        ];
        for (command, program, want) in table {
            assert_eq!(one_unit(command, program), want, "{command:?} in {program}");
        }
    }
}
