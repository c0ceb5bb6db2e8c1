//! `termctl exec`: types a line into the shell of a terminal, prints its output, and passes on its exit
//! code.
//!
//! The shell's marks say which command came of the line, where its output begins and ends, and how it
//! ended. Without marks there is only a guess, so exec refuses.

mod line_output;
mod prompt;
mod shell_command;
mod unmarked;
mod unstarted;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use termd_client::Link;
use termd_proto::TerminalRef;
use tokio::time::sleep;

use self::line_output::{LineOutput, OutputForm};
use self::prompt::{TypedLine, type_at_prompt};
use self::shell_command::{FirstCommand, LineEnd, ShellCommand};
use self::unmarked::{Unmarked, unmarked};
use self::unstarted::{Unstarted, next_prompt, unstarted};
use super::Context;
use crate::args::ExecArgs;
use crate::confirm::{Consent, is_by_gate};
use crate::error::CliError;
use crate::exec_error::ExecError;
use crate::exit_code::ExitCode;
use crate::input::send_bytes;
use crate::interrupt::{Interrupt, Interrupts};
use crate::output;
use crate::signal_number::{SIGHUP, SIGINT, SIGTERM};
use crate::signals::Signals;

/// Ctrl-C on a tty (VINTR).
const INTR: u8 = 0x03;
/// How long a line that was interrupted may take to its end.
const INTERRUPTED: Duration = Duration::from_secs(2);
/// In place of no timeout.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);

pub(super) async fn run(context: Context, args: ExecArgs) -> Result<ExitCode, CliError> {
    exec(context, args).await.or_else(|error| {
        if matches!(error, CliError::StdoutClosed) {
            return Err(error);
        }
        output::report(&error, context.json);
        Ok(own_code(&error))
    })
}

/// The exit code of a failure of exec's own: 126 for a refusal of the gate, else 125, so that it can be
/// told from the line's.
fn own_code(error: &CliError) -> ExitCode {
    match error {
        CliError::Exec(ExecError::NoTime(_)) => ExitCode::TIMED_OUT,
        error if is_by_gate(error.refusal()) => ExitCode::NOT_EXECUTABLE,
        _ => ExitCode::OWN_FAILURE,
    }
}

async fn exec(context: Context, args: ExecArgs) -> Result<ExitCode, CliError> {
    let line = args.line.join(" ");
    if line.trim().is_empty() {
        return Err(ExecError::EmptyLine.into());
    }
    if line.contains(['\n', '\r']) {
        return Err(ExecError::SeveralLines.into());
    }
    if let Some(key) = line.chars().find(|&c| c.is_control() && c != '\t') {
        return Err(ExecError::ControlCharacter(key).into());
    }
    let mut signals = Signals::catch()?;
    let link = Arc::new(context.open().await?);
    let timeout = args.timeout.unwrap_or(FOREVER).min(FOREVER);
    let consent = Consent::of_flag(args.confirmed);
    let is_exec = line.split_whitespace().next() == Some("exec");
    let typed = tokio::select! {
        typed = type_at_prompt(&link, &args.terminal, line, consent, timeout) => typed?,
        // Nothing is typed yet that could get the signal.
        number = signals.next() => return Ok(ExitCode::of_signal(number)),
    };
    let form = if context.json {
        OutputForm::Kept
    } else {
        OutputForm::Streamed
    };
    let mut output = LineOutput::new(form)?;
    let id = &typed.id;
    let followed = follow(&link, &typed, is_exec, &mut output);
    let watched = watch(&link, &typed, &mut signals, timeout, followed).await?;
    match watched {
        Watched::Left(code) => {
            note_that_it_goes_on(&typed);
            Ok(code)
        }
        Watched::Ended { end, timed_out } => {
            let code = match &end {
                _ if timed_out => ExitCode::TIMED_OUT,
                Some(end) => end.exit_code(&link, id).await?,
                None => ExitCode::of_signal(SIGINT),
            };
            if timed_out && end.is_none() {
                note_that_it_goes_on(&typed);
            }
            if context.json {
                let command = end.as_ref().map(|end| &end.command);
                output::print_json(&json!({
                    "terminal": id,
                    "number": command.map(|command| command.number),
                    "exit_code": command.and_then(|command| command.exit_code),
                    "timed_out": timed_out,
                    "start": command.map(|command| command.start),
                    "end": command.and_then(|command| command.end),
                    "output": output.into_text(),
                }))?;
            } else {
                output.finish().await?;
            }
            Ok(code)
        }
    }
}

fn note_that_it_goes_on(line: &TypedLine) {
    let terminal = &line.terminal;
    output::note(&format!(
        "the line goes on in {terminal} (`termctl attach {terminal}`)"
    ));
}

/// Passes on the output of the command that comes of the line, until its end. `None`: the shell ran
/// nothing of it.
async fn follow(
    link: &Link,
    line: &TypedLine,
    is_exec: bool,
    output: &mut LineOutput,
) -> Result<Option<LineEnd>, CliError> {
    let (id, offset) = (&line.id, line.offset);
    let command = tokio::select! {
        command = ShellCommand::begun_after(link, id, offset) => command?,
        unstarted = unstarted(link, line) => match unstarted? {
            // A server that was replaced meanwhile may not know by its marks what ran.
            Unstarted::NothingRan => match ShellCommand::known_after(link, id, offset).await? {
                FirstCommand::OfLine(command) => Some(command),
                FirstCommand::NotYet | FirstCommand::OfAnother => None,
            },
            Unstarted::Incomplete => return Err(take_back(link, line).await?.into()),
        }
    };
    let Some(command) = command else {
        return Ok(None);
    };
    tokio::select! {
        end = command.copy_to(output) => end,
        unmarked = unmarked(link, id, line.shell.as_ref(), is_exec) => Err(match unmarked? {
            Unmarked::Incomplete => take_back(link, line).await?,
            Unmarked::Replaced(program) => ExecError::Replaced(program),
            Unmarked::MarksLost => ExecError::MarksLost,
        }.into()),
    }
}

/// Has the shell drop a line that waits for its rest. Returns what is said of it.
async fn take_back(link: &Link, line: &TypedLine) -> Result<ExecError, CliError> {
    send_bytes(link, &line.id, &[INTR], Consent::Given).await?;
    next_prompt(link, line, INTERRUPTED).await?;
    Ok(ExecError::Incomplete(line.terminal.clone()))
}

/// How the watch over the line ended.
enum Watched {
    /// exec has left, and the line goes on.
    Left(ExitCode),
    /// `end` is `None` where the line was interrupted before a command came of it.
    Ended {
        end: Option<LineEnd>,
        timed_out: bool,
    },
}

/// Polls `followed` to its end, and meanwhile acts on signals and on the timeout.
async fn watch(
    link: &Arc<Link>,
    line: &TypedLine,
    signals: &mut Signals,
    timeout: Duration,
    followed: impl Future<Output = Result<Option<LineEnd>, CliError>>,
) -> Result<Watched, CliError> {
    let timer = sleep(timeout);
    tokio::pin!(followed, timer);
    let mut interrupts = Interrupts::default();
    let (mut timed_out, mut interrupted) = (false, false);
    loop {
        tokio::select! {
            end = &mut followed => {
                let end = end?;
                if end.is_none() && !interrupted {
                    return Err(ExecError::NothingRan(line.terminal.clone()).into());
                }
                return Ok(Watched::Ended { end, timed_out });
            }
            () = &mut timer => {
                if timed_out {
                    return Ok(Watched::Ended { end: None, timed_out });
                }
                (timed_out, interrupted) = (true, true);
                spawn_interrupt(link, &line.id);
                timer.as_mut().reset(tokio::time::Instant::now() + INTERRUPTED);
            }
            _ = signals.interrupt.recv() => match interrupts.press(Instant::now()) {
                Interrupt::Type => {
                    interrupted = true;
                    spawn_interrupt(link, &line.id);
                }
                _ => return Ok(Watched::Left(ExitCode::of_signal(SIGINT))),
            },
            _ = signals.terminate.recv() => return Ok(Watched::Left(ExitCode::of_signal(SIGTERM))),
            _ = signals.hangup.recv() => return Ok(Watched::Left(ExitCode::of_signal(SIGHUP))),
        }
    }
}

/// Types Ctrl-C in a task of its own, so that the output goes on being read.
fn spawn_interrupt(link: &Arc<Link>, id: &TerminalRef) {
    let (link, id) = (Arc::clone(link), id.clone());
    tokio::spawn(async move {
        let _ = send_bytes(&link, &id, &[INTR], Consent::Given).await;
    });
}
