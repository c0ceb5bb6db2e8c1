//! Lines whose end no mark will show: those of which nothing was run, that are not whole, or that put
//! another program in the shell's place.

use std::time::Duration;

use termd_client::Link;
use termd_proto::TerminalRef;
use termd_proto::interact::{
    Activity, DoneBy, Foreground, GetActivity, InputKind, Until, WaitEnd, WaitFor, WaitForResult,
};
use termd_proto::screen::CommandState;
use tokio::time::sleep;

use super::prompt::TypedLine;
use super::shell_command::WAIT;
use crate::error::CliError;

/// How long a line editor shows nothing more before it waits for the rest of a line.
const SETTLED: Duration = Duration::from_secs(1);
/// The same where bracketed paste does not show that the line editor reads.
const SETTLED_FOR_CERTAIN: Duration = Duration::from_secs(5);
/// The pause between two looks at the foreground.
const LOOK: Duration = Duration::from_secs(1);

/// Shells whose marks a line can take away. `read` of fish looks as its prompt does.
const UNMARKABLE: [&str; 3] = ["bash", "zsh", "dash"];

/// Why nothing of a line runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unstarted {
    /// The shell is at its next prompt: the line was a comment, or wrong, or interrupted.
    NothingRan,
    /// The shell waits for the rest of it.
    Incomplete,
}

/// Returns when no command comes of the line.
pub(super) async fn unstarted(link: &Link, line: &TypedLine) -> Result<Unstarted, CliError> {
    loop {
        let until = Until {
            done: true,
            settle_ms: Some(milliseconds(SETTLED)),
            ..Until::default()
        };
        let waited = wait(link, line, until, WAIT).await?;
        match (waited.ended_by, waited.done_by, &waited.command) {
            (WaitEnd::Timeout, ..) => {}
            (WaitEnd::Done, Some(DoneBy::Marks), None) => return Ok(Unstarted::NothingRan),
            (WaitEnd::Done, _, None) if awaits_rest(&waited.activity) => {
                return Ok(Unstarted::Incomplete);
            }
            (WaitEnd::Settled, _, None) => {
                if reads_on(&waited.activity) && waited.end > line.offset {
                    return Ok(Unstarted::Incomplete);
                }
            }
            // A command has begun, or the terminal's end tells more.
            _ => std::future::pending().await,
        }
    }
}

/// Whether the shell waits for the rest of the line.
fn awaits_rest(activity: &Activity) -> bool {
    activity
        .awaited_input
        .is_some_and(|awaited| awaited.kind == InputKind::Continuation)
}

/// Whether the shell's line editor reads on at the same prompt, as far as a daemon tells that does not
/// know what is awaited.
fn reads_on(activity: &Activity) -> bool {
    let at_prompt = matches!(
        activity.command_state,
        CommandState::Prompt | CommandState::Input
    );
    let is_quiet = activity.quiet_ms >= milliseconds(SETTLED_FOR_CERTAIN);
    at_prompt && (activity.bracketed_paste || is_quiet)
}

/// Waits until the shell is at its next prompt, `timeout` at the longest.
pub(super) async fn next_prompt(
    link: &Link,
    line: &TypedLine,
    timeout: Duration,
) -> Result<(), CliError> {
    let until = Until {
        done: true,
        ..Until::default()
    };
    wait(link, line, until, timeout).await.map(drop)
}

async fn wait(
    link: &Link,
    line: &TypedLine,
    until: Until,
    timeout: Duration,
) -> Result<WaitForResult, CliError> {
    let request = WaitFor {
        id: line.id.clone(),
        since: Some(line.offset),
        until,
        timeout_ms: Some(milliseconds(timeout)),
    };
    Ok(link.repeat(&request).await?)
}

/// What keeps the shell's marks from showing the end of a line that has begun.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unmarked {
    /// The shell waits for the rest of the line: dash prints the mark of a beginning before.
    Incomplete,
    /// This program has taken the shell's place (`exec dash`), and waits for input.
    Replaced(String),
    /// The shell is at a prompt that no mark announced.
    MarksLost,
}

/// Returns once no mark will show the end of the line.
pub(super) async fn unmarked(
    link: &Link,
    id: &TerminalRef,
    shell: Option<&Foreground>,
    is_exec: bool,
) -> Result<Unmarked, CliError> {
    loop {
        sleep(LOOK).await;
        let activity = link.repeat(&GetActivity { id: id.clone() }).await?;
        if awaits_rest(&activity) && activity.command_state != CommandState::Running {
            return Ok(Unmarked::Incomplete);
        }
        let is_shell = |now: &Foreground| shell.is_some_and(|shell| shell.pid == now.pid);
        let Some(now) = activity.foreground.as_ref().filter(|now| is_shell(now)) else {
            continue;
        };
        let is_same = shell.is_some_and(|shell| shell.program == now.program);
        let waits = activity.prompt.is_some() && activity.quiet_ms >= milliseconds(LOOK);
        if waits && (is_exec || !is_same) {
            return Ok(Unmarked::Replaced(now.program.clone()));
        }
        if is_same && is_at_unmarked_prompt(&activity) {
            return Ok(Unmarked::MarksLost);
        }
    }
}

/// Whether a shell is at a prompt, and no mark said that its last command has ended.
pub(super) fn is_at_unmarked_prompt(activity: &Activity) -> bool {
    let awaits_command = activity
        .awaited_input
        .is_some_and(|awaited| awaited.kind == InputKind::Command);
    let program = activity.foreground.as_ref().map(|it| it.program.as_str());
    let last = activity.last_command.as_ref();
    last.is_some_and(|last| last.ended_at_ms.is_none())
        && awaits_command
        && activity.quiet_ms >= milliseconds(LOOK)
        && program.is_some_and(|program| UNMARKABLE.contains(&program))
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
