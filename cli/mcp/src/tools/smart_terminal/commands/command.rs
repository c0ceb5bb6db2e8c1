//! A command in a terminal's shell: typed, and waited for until it is done.

use std::time::Duration;

use serde_json::json;
use termd_client::ClientError;
use termd_proto::command::CommandInfo;
use termd_proto::interact::{Activity, DoneBy, TypedInput, Until, WaitEnd, WaitForResult};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{EndCause, TerminalInfo};
use termd_proto::{Offset, TerminalId};
use tokio::time::Instant;

use crate::settings::PromptPlace;
use crate::tool::{
    Bounds, Call, Facts, PromptCut, Standing, State, ToolError, add, line_by_line, set,
    to_milliseconds,
};
use crate::tools::smart_terminal::output::text::{Part, Text};
use crate::tools::smart_terminal::results::bad;
use crate::tools::smart_terminal::sessions::session::{base_name, is_busy};

/// Shells whose compound commands are written `{ … }`.
const BRACE_SHELLS: [&str; 8] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "yash", "zsh"];
/// The first quiet time after which the command's end is checked; each later one is twice as long.
/// This finds the end in shells that mark no end of their prompt.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// The longest time between two checks.
const LAST_LOOK: Duration = Duration::from_millis(500);
/// A shell that is quiet at a prompt for so long has nothing left to run, in milliseconds.
const AT_PROMPT_MS: u64 = 600;
/// The most characters of a running command in an error.
const SHOWN_CHARS: usize = 100;

/// A command to run, and for how long.
#[derive(Debug)]
pub(crate) struct CommandRequest<'a> {
    pub(crate) command: &'a str,
    pub(crate) timeout: Duration,
    pub(crate) quiet: Option<Quiet>,
    pub(crate) confirmed: bool,
}

/// The silence that counts as the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quiet {
    pub(crate) silence_ms: u64,
    pub(crate) min_bytes: u64,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct CommandResult {
    id: TerminalId,
    start: Offset,
    /// The end of the output, before the next prompt.
    end: PromptCut,
    pub(crate) exit_code: Option<i32>,
    pub(crate) timed_out: bool,
    cwd: String,
    by: Option<DoneBy>,
    /// The next prompt, or the question that is asked.
    prompt: Option<String>,
    pub(crate) is_running: bool,
    standing: Standing,
    /// The silence that was asked for ended the wait, not the command.
    quiet_exited: bool,
    /// The limit that ended the terminal's program.
    end_cause: Option<EndCause>,
}

impl CommandResult {
    pub(crate) async fn describe(&self, call: &Call, bounds: Bounds) -> Result<Facts, ClientError> {
        let text = self.text(call, bounds).await?;
        call.shared.cursors.set_read(&self.id, text.next);
        let mut facts = Facts::new();
        text.describe(&mut facts);
        if self.standing.state == State::FullScreen {
            // What such a program prints is drawing, and no text.
            let screen = call.backend().screen_text(&self.id).await?;
            facts.insert("output".to_owned(), screen.into());
        }
        set(
            &mut facts,
            json!({
                "exitCode": self.exit_code,
                "cwd": self.cwd,
                "timedOut": self.timed_out,
            }),
        );
        add(&mut facts, json!(self.standing));
        add(
            &mut facts,
            json!({
                "prompt": self.prompt,
                "completedBy": self.by,
                "running": self.is_running.then_some(true),
                "quietExited": self.quiet_exited.then_some(true),
                "endCause": self.end_cause,
            }),
        );
        Ok(facts)
    }

    /// The command's output.
    pub(crate) async fn text(&self, call: &Call, bounds: Bounds) -> Result<Text, ClientError> {
        let part = Part {
            backend: call.backend(),
            id: &self.id,
            from: self.start,
            until: self.end.until,
        };
        part.until_prompt(&self.end, bounds).await
    }
}

/// Types a command, and waits until it is done.
pub(crate) async fn execute(
    call: &Call,
    info: &TerminalInfo,
    request: &CommandRequest<'_>,
) -> Result<CommandResult, ToolError> {
    let backend = call.backend();
    let _turn = call.turn(&info.id).await;
    let before = backend.activity(&info.id).await?;
    if is_busy(&before) {
        return Err(busy(info, &before));
    }
    let program = before.foreground.as_ref().map_or_else(
        || info.argv.first().map_or("", |program| base_name(program)),
        |foreground| foreground.program.trim_start_matches('-'),
    );
    // Where a paste is typed, the lines are given one after the other, whatever reads them.
    let pastes_into = if before.bracketed_paste { program } else { "" };
    let text = one_unit(request.command, pastes_into);
    let input = line_by_line(TypedInput {
        text: (!text.is_empty()).then_some(text),
        enter: true,
        ..TypedInput::default()
    });
    let begun = Instant::now();
    let terminal = (&info.id).into();
    let typing = Box::pin(call.type_once(&info.id, input, request.confirmed));
    let sent = call.progress.during(backend, &terminal, typing).await?;
    let deadline = begun + request.timeout;
    // On the heap, because each of the futures around it would grow by its size.
    let waiting = until_done(call, &info.id, sent.offset, request.quiet, deadline);
    let waiting = Box::pin(waiting);
    let wait = call.progress.during(backend, &terminal, waiting).await?;
    let start = wait.output_start.max(wait.start);
    let end = PromptCut::of(&wait, start, PromptPlace::Apart);
    let finished = finished(&wait);
    call.shared.cursors.set_read(&info.id, end.seen);
    let is_over = is_over(&wait);
    let standing = Standing::of_wait(&wait);
    let standing = if is_over { standing.over() } else { standing };
    let exited = wait.activity.exit_status.as_ref();
    // A line that ended a shell within the shell ended a command that was typed before.
    let last = wait.activity.last_command.as_ref();
    let last = last.filter(|last| last.end.is_some_and(|end| end > sent.offset));
    let exit_code = finished.or(last.filter(|_| standing.is_over()));
    let exit_code = exit_code
        .and_then(|command| command.exit_code)
        .or_else(|| exited?.exit_code.and_then(|code| i32::try_from(code).ok()));
    Ok(CommandResult {
        id: info.id.clone(),
        start,
        end,
        exit_code,
        timed_out: wait.ended_by == WaitEnd::Timeout && !is_over,
        is_running: matches!(wait.ended_by, WaitEnd::Timeout | WaitEnd::Settled) && !is_over,
        standing: if is_over { standing.over() } else { standing },
        quiet_exited: wait.ended_by == WaitEnd::Settled && !is_over && !wait.activity.full_screen,
        cwd: wait.activity.cwd.unwrap_or_else(|| info.cwd.clone()),
        by: wait.done_by.or(is_over.then_some(DoneBy::Marks)),
        prompt: wait
            .activity
            .prompt_text
            .filter(|_| standing.takes_a_line()),
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
    let mut is_full_screen = false;
    loop {
        let silence = quiet.map(|quiet| Duration::from_millis(quiet.silence_ms));
        let settle = silence.map_or(look, |silence| silence.min(look));
        let until = Until {
            done: true,
            // The daemon tells when a full-screen program has drawn its screen.
            settle_ms: (!is_full_screen).then(|| to_milliseconds(settle)),
            pattern: None,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = call
            .backend()
            .wait_for(id, Some(since), &until, left)
            .await?;
        // The end of the command counts, whatever the shell does for long before its next prompt.
        let is_over = || is_over(&wait) && wait.activity.quiet_ms >= AT_PROMPT_MS;
        if wait.ended_by != WaitEnd::Settled || is_over() {
            return Ok(wait);
        }
        if is_full_screen {
            return Ok(wait);
        }
        is_full_screen = wait.activity.full_screen;
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

/// Whether the marks say that the command has ended, or that the shell stays at a prompt.
fn is_over(wait: &WaitForResult) -> bool {
    let activity = &wait.activity;
    let is_at_prompt = matches!(
        activity.command_state,
        CommandState::Prompt | CommandState::Input
    );
    let stays = is_at_prompt && activity.quiet_ms >= AT_PROMPT_MS && wait.end > wait.start;
    finished(wait).is_some() || stays
}

/// The command, where the marks say that it has ended.
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

/// Joins several lines into one compound command, which the shell marks as a whole.
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
