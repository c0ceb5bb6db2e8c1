//! `termctl exec`: types a line into the shell of a terminal, prints its output, and passes on its exit
//! code.
//!
//! The shell's marks say which command came of the line, where its output begins and ends, and how it
//! ended. Without marks there is only a guess, so exec refuses.

mod line_output;
mod shell_command;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use termd_client::Link;
use termd_proto::interact::{
    Activity, DoneBy, GetActivity, TypedInput, Until, WaitEnd, WaitFor, WaitForResult,
};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{ShowTerminal, Stdio, TerminalState};
use termd_proto::{ErrorKind, Offset, TerminalRef};
use thiserror::Error;
use tokio::time::sleep;

use self::line_output::{LineOutput, OutputForm};
use self::shell_command::{LineEnd, ShellCommand};
use super::Context;
use super::send::type_or_ask;
use crate::args::ExecArgs;
use crate::confirm::Consent;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::send_bytes;
use crate::interrupt::{Interrupt, Interrupts};
use crate::output;
use crate::signals::{SIGHUP, SIGINT, SIGTERM, Signals};

/// Ctrl-C on a tty (VINTR).
const INTR: u8 = 0x03;
/// How long a shell that has just been started may take to its first prompt.
const FIRST_PROMPT: Duration = Duration::from_secs(5);
/// How long a line that was interrupted may take to its end.
const INTERRUPTED: Duration = Duration::from_secs(2);
/// In place of no timeout.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);

/// Why a line was not run, or its end is not known.
#[derive(Debug, Error)]
pub(crate) enum ExecError {
    #[error("nothing to run: LINE is empty")]
    EmptyLine,
    #[error("LINE must be one line: join commands by ; or &&")]
    SeveralLines,
    #[error("{0} has exited")]
    Exited(String),
    #[error("{0} is on pipes, and has no shell to type to")]
    OnPipes(String),
    #[error("{0} waits for a secret, not for a line: see `termctl send --secret`")]
    AwaitsSecret(String),
    #[error("{terminal} runs {command}: exec needs its shell at the prompt")]
    Busy { terminal: String, command: String },
    #[error(
        "{0} has no marks of a shell (bash, zsh or fish, started without arguments): exec cannot tell \
         where the line ends; see `termctl send`"
    )]
    NoMarks(String),
    #[error("the shell ran nothing of the line; `termctl screen {0}` shows what it said")]
    NothingRan(String),
    #[error("the shell did not tell the exit code")]
    NoExitCode,
}

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
    let kind = error.refusal().and_then(termd_client::refusal::kind_of);
    match kind {
        Some(ErrorKind::ConfirmationRequired | ErrorKind::Denied | ErrorKind::Rejected) => {
            ExitCode::NOT_EXECUTABLE
        }
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
    let mut signals = Signals::catch()?;
    let link = Arc::new(context.open().await?);
    let timeout = args.timeout.unwrap_or(FOREVER).min(FOREVER);
    let consent = Consent::of_flag(args.confirmed);
    let begin = async {
        let id = at_prompt(&link, args.terminal, timeout).await?;
        let input = TypedInput {
            text: Some(line),
            enter: true,
            ..TypedInput::default()
        };
        let typed = type_or_ask(&link, &id, &input, consent).await?;
        Ok::<_, CliError>((id, typed.offset))
    };
    let (id, offset) = tokio::select! {
        begun = begin => begun?,
        // Nothing is typed yet that could get the signal.
        number = signals.next() => return Ok(ExitCode::of_signal(number)),
    };
    let form = if context.json {
        OutputForm::Kept
    } else {
        OutputForm::Streamed
    };
    let mut output = LineOutput::new(form)?;
    let followed = follow(&link, &id, offset, &mut output);
    let watched = watch(&link, &id, &mut signals, timeout, followed).await?;
    match watched {
        Watched::Left(code) => Ok(code),
        Watched::Ended { end, timed_out } => {
            let code = match &end {
                _ if timed_out => ExitCode::TIMED_OUT,
                Some(end) => end.exit_code()?,
                None => ExitCode::of_signal(SIGINT),
            };
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

/// The terminal's id, once its shell is at a prompt.
async fn at_prompt(
    link: &Link,
    terminal: String,
    timeout: Duration,
) -> Result<TerminalRef, CliError> {
    let request = ShowTerminal {
        id: TerminalRef(terminal.clone()),
    };
    let info = link.repeat(&request).await?;
    let id = TerminalRef::from(&info.id);
    if info.state != TerminalState::Running {
        return Err(ExecError::Exited(terminal).into());
    }
    if info.stdio == Stdio::Pipes {
        return Err(ExecError::OnPipes(terminal).into());
    }
    let mut activity = link.repeat(&GetActivity { id: id.clone() }).await?;
    if activity.command_state == CommandState::Unknown && !activity.awaiting_secret {
        let shown = wait_until_done(link, &id, info.end, timeout.min(FIRST_PROMPT)).await?;
        activity = shown.activity;
    }
    if activity.awaiting_secret {
        return Err(ExecError::AwaitsSecret(terminal).into());
    }
    match activity.command_state {
        CommandState::Prompt | CommandState::Input => Ok(id),
        CommandState::Unknown => Err(ExecError::NoMarks(terminal).into()),
        CommandState::Running => Err(ExecError::Busy {
            command: name_of_running(&activity),
            terminal,
        }
        .into()),
    }
}

fn name_of_running(activity: &Activity) -> String {
    let line = activity.last_command.as_ref().map(|last| last.text.clone());
    let program = activity.foreground.as_ref().map(|it| it.program.clone());
    line.filter(|text| !text.is_empty())
        .or(program)
        .unwrap_or_else(|| "a command".to_owned())
}

async fn wait_until_done(
    link: &Link,
    id: &TerminalRef,
    since: Offset,
    timeout: Duration,
) -> Result<WaitForResult, CliError> {
    let request = WaitFor {
        id: id.clone(),
        since: Some(since),
        until: Until {
            done: true,
            ..Until::default()
        },
        timeout_ms: Some(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
    };
    Ok(link.repeat(&request).await?)
}

/// Passes on the output of the command that comes of the line at `offset`, until its end. `None`: the
/// shell ran nothing of it.
async fn follow(
    link: &Link,
    id: &TerminalRef,
    offset: Offset,
    output: &mut LineOutput,
) -> Result<Option<LineEnd>, CliError> {
    let command = tokio::select! {
        command = ShellCommand::begun_after(link, id, offset) => command?,
        nothing = nothing_ran(link, id, offset) => {
            nothing?;
            // A server that was replaced meanwhile may not know by its marks what ran.
            ShellCommand::known_after(link, id, offset).await?
        }
    };
    match command {
        Some(command) => command.copy_to(output).await.map(Some),
        None => Ok(None),
    }
}

/// Returns when the shell is at its next prompt, and no command came of the line: it was a comment, or
/// wrong, or interrupted.
async fn nothing_ran(link: &Link, id: &TerminalRef, offset: Offset) -> Result<(), CliError> {
    loop {
        let waited = wait_until_done(link, id, offset, shell_command::WAIT).await?;
        match (waited.ended_by, waited.done_by, &waited.command) {
            (WaitEnd::Timeout, ..) => {}
            (WaitEnd::Done, Some(DoneBy::Marks), None) => return Ok(()),
            // A command has begun, or the terminal's end tells more.
            _ => std::future::pending().await,
        }
    }
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
    id: &TerminalRef,
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
                    return Err(ExecError::NothingRan(id.0.clone()).into());
                }
                return Ok(Watched::Ended { end, timed_out });
            }
            () = &mut timer => {
                if timed_out {
                    return Ok(Watched::Ended { end: None, timed_out });
                }
                (timed_out, interrupted) = (true, true);
                spawn_interrupt(link, id);
                timer.as_mut().reset(tokio::time::Instant::now() + INTERRUPTED);
            }
            _ = signals.interrupt.recv() => match interrupts.press(Instant::now()) {
                Interrupt::Type => {
                    interrupted = true;
                    spawn_interrupt(link, id);
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
