//! Lines of which nothing runs: those that the shell has read and not run, or that are not whole.

use std::time::Duration;

use termd_client::Link;
use termd_proto::interact::{Activity, DoneBy, Until, WaitEnd, WaitFor, WaitForResult};
use termd_proto::screen::CommandState;

use super::prompt::TypedLine;
use super::shell_command::WAIT;
use super::unmarked::{awaits_rest, milliseconds};
use crate::error::CliError;

/// How long a line editor shows nothing more before it waits for the rest of a line.
const SETTLED: Duration = Duration::from_secs(1);
/// The same where bracketed paste does not show that the line editor reads.
const SETTLED_FOR_CERTAIN: Duration = Duration::from_secs(5);
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
