//! What goes on in a terminal now: the answer of `session.activity`.

use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::interact::{Activity, Foreground};
use termd_proto::screen::ScreenRows;
use termd_vt::Model;

use super::program::{Program, foreground};
use super::prompt::{self, CursorLine};
use crate::store::Store;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::foreground::{ForegroundProcess, foreground_process};
use crate::terminal::input::tty::LineDiscipline;
use crate::terminal::screen::restore::look_at;

pub async fn activity(store: &Store, terminal: &Terminal) -> Result<Activity, TerminalError> {
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
    let program = is_running
        .then(|| foreground(terminal.record.pid))
        .flatten();
    let line = CursorLine {
        before: &before,
        after: &after,
    };
    let prompt = prompt::hint(screen.command_state, line).filter(|_| is_running);
    let quiet = Instant::now().saturating_duration_since(progress.screen.changed_at);
    Ok(Activity {
        end: progress.end,
        state: terminal.state(),
        exit_status: progress.exit.and_then(|exit| exit.status),
        end_cause: progress.end_cause,
        quiet_ms: milliseconds(quiet),
        full_screen: screen.full_screen,
        command_state: screen.command_state,
        last_command: last_command(store, terminal).await?,
        cwd: screen
            .cwd
            .or_else(|| program.as_ref().and_then(Program::cwd)),
        foreground: process.filter(|_| is_running).map(to_wire),
        prompt,
        awaiting_secret: is_running && tty.is_some_and(LineDiscipline::awaits_secret),
        bracketed_paste: screen.modes.bracketed_paste,
    })
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
) -> Result<Option<CommandInfo>, TerminalError> {
    let known = terminal.shell(|log| log.last_command().cloned());
    if known.is_some() || terminal.progress().exit.is_none() {
        return Ok(known);
    }
    // An earlier server may have known one.
    let newest = store.command(terminal.id(), -1).await?;
    Ok(newest.filter(|command| command.source == CommandSource::Shell))
}

/// The command that came of the input at `typed_at`; without input, the command that ran after
/// `since`.
pub(super) fn command_since(
    terminal: &Terminal,
    since: Offset,
    typed_at: Option<Offset>,
) -> Option<CommandInfo> {
    let last = terminal.shell(|log| log.last_command().cloned())?;
    let is_it = match typed_at {
        Some(typed_at) => last.start > typed_at,
        None => last.end.is_none_or(|end| end > since),
    };
    is_it.then_some(last)
}
