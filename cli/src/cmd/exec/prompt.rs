//! Typing the line at the shell's prompt, where the daemon refuses it unless it is the next command.

use std::time::{Duration, Instant};

use termd_client::refusal::{answers_stand, kind_of, line_waits};
use termd_client::{ClientError, Link};
use termd_proto::interact::{Activity, Foreground, GetActivity, TypedInput};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{ShowTerminal, Stdio, TerminalState};
use termd_proto::{ErrorKind, Offset, TerminalRef};
use tokio::time::sleep;

use super::INTR;
use super::unmarked::is_at_unmarked_prompt;
use crate::cmd::send::type_or_ask;
use crate::confirm::Consent;
use crate::error::CliError;
use crate::exec_error::ExecError;
use crate::input::send_bytes;

/// How long a shell may take to its prompt: one that has just been started, or whose prompt is slow.
const PROMPT: Duration = Duration::from_secs(5);
/// How long a line or a command before this one may take.
const EARLIER_LINE: Duration = Duration::from_secs(1);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// The shells that termd makes print marks.
const MARKED_SHELLS: [&str; 4] = ["bash", "zsh", "fish", "dash"];

/// A line that was typed.
#[derive(Debug)]
pub(super) struct TypedLine {
    /// The terminal, as it was named.
    pub(super) terminal: String,
    pub(super) id: TerminalRef,
    /// What the line causes is after this.
    pub(super) offset: Offset,
    /// The shell that it was typed to.
    pub(super) shell: Option<Foreground>,
}

/// Types the line once the shell is at its prompt.
pub(super) async fn type_at_prompt(
    link: &Link,
    terminal: &str,
    line: String,
    consent: Consent,
    timeout: Duration,
) -> Result<TypedLine, CliError> {
    let info = link
        .repeat(&ShowTerminal {
            id: TerminalRef(terminal.to_owned()),
        })
        .await?;
    let name = || terminal.to_owned();
    if info.state != TerminalState::Running {
        return Err(ExecError::Exited(name()).into());
    }
    if info.stdio == Stdio::Pipes {
        return Err(ExecError::OnPipes(name()).into());
    }
    let id = TerminalRef::from(&info.id);
    let input = TypedInput {
        text: Some(line),
        enter: true,
        at_prompt: true,
        ..TypedInput::default()
    };
    let begun = Instant::now();
    let mut is_cleared = false;
    loop {
        let activity = link.repeat(&GetActivity { id: id.clone() }).await?;
        if activity.awaiting_secret {
            return Err(ExecError::AwaitsSecret(name()).into());
        }
        let (patience, error) = match activity.command_state {
            CommandState::Unknown if may_be_marked(&activity) => {
                (PROMPT, ExecError::NoMarks(name()))
            }
            CommandState::Unknown => (EARLIER_LINE, ExecError::NoMarks(name())),
            _ if is_at_unmarked_prompt(&activity) => (EARLIER_LINE, ExecError::MarksLost),
            CommandState::Running => {
                let command = name_of_running(&activity);
                let terminal = name();
                (EARLIER_LINE, ExecError::Busy { terminal, command })
            }
            CommandState::Prompt | CommandState::Input => {
                match type_or_ask(link, &id, &input, consent).await {
                    Err(ClientError::Refused(refusal))
                        if kind_of(&refusal) == Some(ErrorKind::NotAtPrompt) =>
                    {
                        if answers_stand(&refusal) && !is_cleared {
                            // Ctrl-C alone clears a line in every editing mode of a shell.
                            is_cleared = true;
                            send_bytes(link, &id, &[INTR], Consent::Given).await?;
                        }
                        if line_waits(&refusal) {
                            (EARLIER_LINE, ExecError::LineWaits(name()))
                        } else {
                            (PROMPT, ExecError::NotAtPrompt(name()))
                        }
                    }
                    Err(ClientError::Refused(refusal))
                        if kind_of(&refusal) == Some(ErrorKind::CanonicalLimit) =>
                    {
                        return Err(ExecError::TooLong(name()).into());
                    }
                    typed => {
                        return Ok(TypedLine {
                            terminal: name(),
                            id,
                            offset: typed?.offset,
                            shell: activity.foreground,
                        });
                    }
                }
            }
        };
        if begun.elapsed() >= patience {
            return Err(error.into());
        }
        if begun.elapsed() >= timeout {
            return Err(ExecError::NoTime(name()).into());
        }
        sleep(PAUSE).await;
    }
}

/// Whether the program in the foreground may print marks later.
fn may_be_marked(activity: &Activity) -> bool {
    let program = activity.foreground.as_ref().map(|it| it.program.as_str());
    program.is_none_or(|program| MARKED_SHELLS.contains(&program))
}

fn name_of_running(activity: &Activity) -> String {
    let line = activity.last_command.as_ref().map(|last| last.text.clone());
    let program = activity.foreground.as_ref().map(|it| it.program.clone());
    line.filter(|text| !text.is_empty())
        .or(program)
        .unwrap_or_else(|| "a command".to_owned())
}
