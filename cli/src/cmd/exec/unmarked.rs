//! Lines whose end no mark will show: they put another program in the shell's place, or take the
//! shell's marks away.

use std::time::Duration;

use termd_client::Link;
use termd_proto::TerminalRef;
use termd_proto::interact::{Activity, Foreground, GetActivity, InputKind};
use termd_proto::screen::CommandState;
use tokio::time::sleep;

use crate::error::CliError;

/// The pause between two looks at the foreground.
const LOOK: Duration = Duration::from_secs(1);
/// Shells whose marks a line can take away. `read` of fish looks as its prompt does.
const UNMARKABLE: [&str; 3] = ["bash", "zsh", "dash"];

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

/// Whether the shell waits for the rest of the line.
pub(super) fn awaits_rest(activity: &Activity) -> bool {
    activity
        .awaited_input
        .is_some_and(|awaited| awaited.kind == InputKind::Continuation)
}

pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
