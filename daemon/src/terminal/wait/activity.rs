//! What goes on in a terminal now: the answer of `session.activity`.

use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::interact::{Activity, AwaitedInput, Foreground, InputKind, InputKnownBy};
use termd_proto::screen::{CommandState, ScreenRows};
use termd_vt::Model;

use super::awaited_input::{ShellState, awaited_input};
use super::completion::Printed;
use super::completion_probe::{draws_screen, foreground_state};
use super::program::{Program, foreground, foreground_leader};
use super::prompt::{self, CursorLine};
use crate::store::Store;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::foreground::{ForegroundProcess, foreground_process};
use crate::terminal::input::tty::LineDiscipline;
use crate::terminal::output::shell_log::ShellNow;
use crate::terminal::read::unfiltered::Unfiltered;
use crate::terminal::screen::restore::look_at;

pub async fn activity(
    store: &Store,
    terminal: &Terminal,
) -> Result<Unfiltered<Activity>, TerminalError> {
    let tty = terminal.line_discipline().await;
    let process = foreground_process(terminal).await;
    // Read before the screen, so that the screen is not older than `end`.
    let progress = terminal.progress();
    let is_running = progress.exit.is_none();
    // Only what is beside the rows is wanted.
    let rows = ScreenRows {
        from_row: Some(1),
        to_row: Some(0),
        ..ScreenRows::default()
    };
    let look = |model: &Model| (model.screen(rows), model.cursor_line());
    let (screen, (before, after)) = look_at(store, terminal, look).await?;
    // The state and the command are of one moment, and not before that of the screen.
    let now = terminal.shell(|log| log.now());
    let command_state = match now.state {
        // An earlier server may have known it.
        CommandState::Unknown => screen.command_state,
        state => state,
    };
    let shell = shell_state(terminal, command_state, &now);
    let program = is_running.then(|| {
        if shell.has_line {
            foreground_leader(terminal.record.pid)
        } else {
            foreground(terminal.record.pid)
        }
    });
    let program = program.flatten();
    let line = CursorLine {
        before: &before,
        after: &after,
    };
    let group = process.as_ref().map(|process| process.pid);
    let lines_before = terminal.typed.lines_before(group);
    let look = prompt::look(line, &lines_before);
    let hides_cursor = !screen.cursor.visible && is_running;
    let full_screen = screen.full_screen || hides_cursor && draws_screen(tty);
    let awaits_secret = is_running && tty.is_some_and(LineDiscipline::awaits_secret);
    let quiet = Instant::now().saturating_duration_since(progress.screen.changed_at);
    let awaited = if awaits_secret {
        Some(AwaitedInput {
            kind: InputKind::Secret,
            known_by: InputKnownBy::Kernel,
        })
    } else if is_running && !screen.alternate && !full_screen {
        let seen = program.as_ref().zip(tty);
        let seen = seen
            .map(|(program, tty)| foreground_state(terminal, program, tty, look, Printed::Whole));
        awaited_input(shell, seen.as_ref(), quiet)
    } else {
        None
    };
    let prompt = prompt::hint(awaited, look).filter(|_| is_running);
    let prompt_text = shown_prompt(line, &lines_before)
        .filter(|shown| prompt.is_some() || is_awaited_at(shown, awaited, &lines_before));
    Ok(Unfiltered::new(Activity {
        end: progress.end,
        state: terminal.state(),
        exit_status: progress.exit.and_then(|exit| exit.status),
        end_cause: progress.end_cause,
        quiet_ms: milliseconds(quiet),
        full_screen,
        command_state,
        last_command: last_command(store, terminal, now.command).await?,
        cwd: screen
            .cwd
            .or_else(|| program.as_ref().and_then(Program::cwd)),
        foreground: process.filter(|_| is_running).map(to_wire),
        prompt,
        prompt_text,
        awaiting_secret: awaits_secret,
        awaited_input: awaited,
        bracketed_paste: screen.modes.bracketed_paste,
    }))
}

/// The prompt on the cursor's line: the one that was there before, or all of the line.
pub(super) fn shown_prompt(line: CursorLine<'_>, lines_before: &[String]) -> Option<String> {
    let learnt = prompt::learnt_prompt(line, lines_before);
    let text = learnt.unwrap_or(line.before);
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Whether a line that does not look like a prompt is one: input is awaited there for certain, and the line
/// was there before, or asks for the rest of a command.
fn is_awaited_at(shown: &str, awaited: Option<AwaitedInput>, lines_before: &[String]) -> bool {
    awaited.is_some_and(|awaited| {
        awaited.known_by != InputKnownBy::Prompt
            && (awaited.kind == InputKind::Continuation
                || lines_before.iter().any(|it| it == shown))
    })
}

/// What the shell says of itself, and whether a line was given to it at its prompt.
fn shell_state(terminal: &Terminal, command_state: CommandState, now: &ShellNow) -> ShellState {
    let is_at_prompt = matches!(command_state, CommandState::Prompt | CommandState::Input);
    let typed = || terminal.typed.since(now.reads_since);
    ShellState {
        command_state,
        is_continued: now.is_continued,
        has_line: is_at_prompt && typed().iter().any(|typed| typed.text.ends_with('\n')),
    }
}

fn to_wire(process: ForegroundProcess) -> Foreground {
    Foreground {
        pid: process.pid,
        program: process.program,
        is_root: process.is_root,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

async fn last_command(
    store: &Store,
    terminal: &Terminal,
    known: Option<CommandInfo>,
) -> Result<Option<CommandInfo>, TerminalError> {
    if known.is_some() || terminal.progress().exit.is_none() {
        return Ok(known);
    }
    // An earlier server may have known one.
    let newest = store.command(terminal.id(), -1).await?;
    Ok(newest.filter(|command| command.source == CommandSource::Shell))
}

/// The last command, where it came of the input at `typed_at`; without input, where it ran after
/// `since`.
pub(super) fn command_since(
    last: Option<&CommandInfo>,
    since: Offset,
    typed_at: Option<Offset>,
) -> Option<CommandInfo> {
    let last = last.filter(|last| last.source == CommandSource::Shell)?;
    let is_it = match typed_at {
        Some(typed_at) => last.start > typed_at,
        None => last.end.is_none_or(|end| end > since),
    };
    is_it.then(|| last.clone())
}
