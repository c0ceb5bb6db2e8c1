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

/// Returns the name of the program that has taken the shell's place (`exec dash`) and waits for input,
/// once it does.
pub(super) async fn replaced(
    link: &Link,
    id: &TerminalRef,
    shell: Option<&Foreground>,
    is_exec: bool,
) -> Result<String, CliError> {
    let Some(shell) = shell else {
        return std::future::pending().await;
    };
    loop {
        sleep(LOOK).await;
        let activity = link.repeat(&GetActivity { id: id.clone() }).await?;
        let waits = activity.prompt.is_some() && activity.quiet_ms >= milliseconds(LOOK);
        let Some(now) = activity.foreground.filter(|_| waits) else {
            continue;
        };
        if now.pid == shell.pid && (is_exec || now.program != shell.program) {
            return Ok(now.program);
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
