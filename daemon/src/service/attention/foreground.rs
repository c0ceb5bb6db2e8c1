//! What goes on in a terminal's foreground, for somebody who is to be told when it waits for them.

use std::time::Duration;

use termd_policy::command_text;
use termd_proto::attention::MAX_WHY_BYTES;
use termd_proto::interact::{Activity, AwaitedInput, InputKind, InputKnownBy};
use termd_proto::screen::{CommandState, Progress};
use termd_vt::Model;
use tokio::time::sleep;

use super::table::{Fact, Foreground};
use crate::clock::Moment;
use crate::service::one_line::one_line;
use crate::service::output_secrets::OutputSecrets;
use crate::store::Store;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::wait::activity::activity;
use crate::terminal::wait::program::{Program, foreground, waits_without_end};

/// How long a full-screen program without a cursor is quiet before it counts as waiting for keys where the
/// kernel does not say that it does: longer than programs that show the state of something pause between
/// two looks at it (top: 3 s).
const KEYS_QUIET: Duration = Duration::from_millis(3_500);
/// How long a line editor that shows no prompt which is known as one is quiet before it counts as waiting: it
/// may be on the way to one that is.
const LINE_QUIET: Duration = Duration::from_millis(300);
/// How long after the look that finds a full-screen program waiting another one is taken: a program that shows
/// the state of something may have been met between two steps (`watch`).
const SECOND_LOOK: Duration = Duration::from_millis(50);

/// Looks at a terminal now.
pub(super) async fn look(
    store: &Store,
    secrets: &OutputSecrets,
    terminal: &Terminal,
) -> Result<Foreground, TerminalError> {
    if let Some(exit) = terminal.progress().exit {
        return Ok(Foreground::Exited(Fact {
            why: own_command(terminal),
            since_ms: exit.at_ms,
        }));
    }
    let seen = activity(store, terminal).await?.into_printed();
    // One text for all readers.
    let shown = |prompt: String| secrets.in_cursor_row(terminal, prompt);
    let since_ms = Moment::now().ms_of(terminal.progress().screen.changed_at);
    let fact = |why: String| Fact {
        why: one_line(&why, MAX_WHY_BYTES),
        since_ms,
    };
    if seen.awaiting_secret {
        let prompt = or_command(shown(cursor_line(terminal)), terminal, &seen);
        return Ok(Foreground::AwaitsSecret(fact(prompt)));
    }
    if seen.full_screen {
        return Ok(match awaits_keys(terminal, &seen).await {
            Some(program) => Foreground::AwaitsInput(fact(program.name)),
            None => Foreground::Runs(running(terminal, &seen)),
        });
    }
    Ok(match seen.awaited_input {
        Some(AwaitedInput {
            kind: InputKind::Command,
            ..
        }) => Foreground::AtPrompt(fact(last_command(&seen).unwrap_or_default())),
        // What only looks like a prompt may be a builder's line.
        Some(AwaitedInput {
            known_by: InputKnownBy::Prompt,
            ..
        }) if is_canonical(terminal).await => Foreground::Runs(running(terminal, &seen)),
        Some(_) => {
            let prompt = seen.prompt_text.clone();
            let prompt = prompt.unwrap_or_else(|| cursor_line(terminal));
            Foreground::AwaitsInput(fact(or_command(shown(prompt), terminal, &seen)))
        }
        None if is_at_prompt(seen.command_state) => {
            Foreground::AtPrompt(fact(last_command(&seen).unwrap_or_default()))
        }
        None if awaits_line(terminal, &seen).await => {
            Foreground::AwaitsInput(fact(shown(cursor_line(terminal))))
        }
        None => Foreground::Runs(running(terminal, &seen)),
    })
}

/// The full-screen program that waits for keys, and does not just pause.
async fn awaits_keys(terminal: &Terminal, seen: &Activity) -> Option<Program> {
    let program = foreground(terminal.record.pid)?;
    if Duration::from_millis(seen.quiet_ms) >= KEYS_QUIET {
        return Some(program);
    }
    if !reads_keys(terminal, &program) {
        return None;
    }
    sleep(SECOND_LOOK).await;
    let again = foreground(terminal.record.pid)?;
    (again.pid == program.pid && reads_keys(terminal, &again)).then_some(again)
}

/// Whether a full-screen program sleeps until there are keys. One that shows a cursor wants something typed
/// there, though it may look at other things meanwhile, as vim does.
fn reads_keys(terminal: &Terminal, program: &Program) -> bool {
    let has_cursor = terminal.screen.look(Model::hides_cursor) == Some(false);
    has_cursor && program.doing.may_wait_for_tty() || waits_without_end(program.pid)
}

/// Whether a program that edits lines itself has written something on the cursor's line, and sleeps until
/// something is typed. Its text need not look like a prompt.
async fn awaits_line(terminal: &Terminal, seen: &Activity) -> bool {
    let program = foreground(terminal.record.pid);
    Duration::from_millis(seen.quiet_ms) >= LINE_QUIET
        && program.is_some_and(|program| waits_without_end(program.pid))
        && !cursor_line(terminal).trim().is_empty()
        && !is_canonical(terminal).await
}

async fn is_canonical(terminal: &Terminal) -> bool {
    let tty = terminal.line_discipline().await;
    tty.is_some_and(|tty| tty.canonical)
}

fn is_at_prompt(state: CommandState) -> bool {
    matches!(state, CommandState::Prompt | CommandState::Input)
}

fn cursor_line(terminal: &Terminal) -> String {
    let line = terminal.screen.look(Model::cursor_line);
    line.map(|(before, _)| before).unwrap_or_default()
}

/// A prompt; of a program that shows none, the command.
fn or_command(prompt: String, terminal: &Terminal, seen: &Activity) -> String {
    if prompt.trim().is_empty() {
        running(terminal, seen).why
    } else {
        prompt
    }
}

fn last_command(seen: &Activity) -> Option<String> {
    Some(seen.last_command.as_ref()?.text.clone())
}

/// The command that runs, and how far it says that it is.
fn running(terminal: &Terminal, seen: &Activity) -> Fact {
    let in_shell = seen.last_command.as_ref();
    let in_shell = in_shell.filter(|command| command.ended_at_ms.is_none());
    let own = own_command_runs(terminal);
    let (command, since_ms) = match in_shell {
        Some(command) => (command.text.clone(), command.started_at_ms),
        None => (own.why, own.since_ms),
    };
    let progress = terminal.screen.look(Model::progress).flatten();
    let why = match progress {
        Some(Progress::Normal(percent)) => format!("{percent} % {command}"),
        Some(Progress::Error(_) | Progress::Paused(_) | Progress::Indeterminate) | None => command,
    };
    Fact {
        why: one_line(&why, MAX_WHY_BYTES),
        since_ms,
    }
}

/// The terminal's own command, since it was started.
pub(super) fn own_command_runs(terminal: &Terminal) -> Fact {
    Fact {
        why: own_command(terminal),
        since_ms: terminal.record.created_at_ms,
    }
}

/// The terminal's own command, as it was asked for.
pub(super) fn own_command(terminal: &Terminal) -> String {
    let record = &terminal.record;
    let line = record.agent_line.clone();
    one_line(
        &line.unwrap_or_else(|| command_text(&record.argv)),
        MAX_WHY_BYTES,
    )
}
