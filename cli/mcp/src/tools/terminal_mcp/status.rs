//! The state of a terminal, in the words of the set's results.

use serde_json::json;
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::interact::{Activity, WaitEnd, WaitForResult};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{CloseCause, EndCause, ExitStatus, TerminalInfo, TerminalState};
use termd_proto::{ErrorKind, Offset, TerminalId};

use crate::backend::Backend;
use crate::tool::{Facts, Standing, State, add};

/// The state of a terminal, open or closed.
#[derive(Debug)]
pub(in crate::tools) enum Status {
    Open(Box<Activity>),
    Closed(Box<TerminalInfo>),
}

impl Status {
    pub(in crate::tools) async fn of(
        backend: &Backend,
        id: &TerminalId,
    ) -> Result<Self, ClientError> {
        match backend.activity(id).await {
            Ok(activity) => Ok(Self::Open(Box::new(activity))),
            Err(error) if may_be_closed(&error) => {
                let info = backend.show(id.as_str()).await?;
                Ok(Self::Closed(Box::new(info)))
            }
            Err(error) => Err(error),
        }
    }

    /// The end of the terminal's output.
    pub(in crate::tools) fn end(&self) -> Offset {
        match self {
            Self::Open(activity) => activity.end,
            Self::Closed(info) => info.end,
        }
    }

    pub(in crate::tools) fn is_running(&self) -> bool {
        match self {
            Self::Open(activity) => activity.state == TerminalState::Running,
            Self::Closed(_) => false,
        }
    }

    pub(in crate::tools) fn is_full_screen(&self) -> bool {
        matches!(self, Self::Open(activity) if activity.full_screen)
    }

    /// Adds the state to a result. The exit code is of what has ended since the client typed at `sent`.
    pub(in crate::tools) fn describe(&self, facts: &mut Facts, sent: Offset) {
        match self {
            Self::Open(activity) => describe(facts, activity, Standing::of(activity), None, sent),
            Self::Closed(info) => {
                add(facts, json!(Standing::EXITED));
                add(
                    facts,
                    json!({
                        "is_alive": false,
                        "tui_active": false,
                        "snapshot_available": true,
                        "prompt_detected": false,
                        "awaiting_secret": false,
                        "command_state": "unknown",
                        "command_complete": true,
                        "closed_because": info.close_cause.map(close_cause),
                    }),
                );
                exit(facts, info.exit_status.as_ref(), info.end_cause);
            }
        }
    }
}

/// The word for the cause of a close that no client requested.
pub(in crate::tools) fn close_cause(cause: CloseCause) -> &'static str {
    cause.as_str()
}

fn may_be_closed(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(refusal) if matches!(
        kind_of(refusal),
        Some(ErrorKind::TerminalNotFound | ErrorKind::TerminalExited)
    ))
}

/// Adds how a program ended, and which limit ended it.
pub(in crate::tools) fn exit(
    facts: &mut Facts,
    status: Option<&ExitStatus>,
    limit: Option<EndCause>,
) {
    add(facts, json!({ "end_cause": limit }));
    if let Some(status) = status {
        facts.remove("exit_code");
        add(
            facts,
            json!({ "exit_code": status.exit_code, "signal": status.signal }),
        );
    }
}

/// Adds the activity in an open terminal. `command` is the command of the call, if there is one. One that
/// ended before the client typed at `sent` gives no exit code: nothing ran since then.
fn describe(
    facts: &mut Facts,
    activity: &Activity,
    standing: Standing,
    command: Option<&CommandInfo>,
    sent: Offset,
) {
    let shell_command = command.or(activity
        .last_command
        .as_ref()
        .filter(|command| command.source == CommandSource::Shell));
    let marked = activity.command_state != CommandState::Unknown || shell_command.is_some();
    let has_ended = shell_command.is_some_and(|command| command.ended_at_ms.is_some());
    let confidence = activity.prompt.map(|hint| f64::from(hint.confidence));
    add(facts, json!(standing));
    add(
        facts,
        json!({
            "is_alive": standing.state != State::Exited,
            "tui_active": activity.full_screen,
            "snapshot_available": true,
            "prompt_detected": standing.takes_a_line(),
            // A hint is no more exact than two digits.
            "prompt_confidence": confidence
                .filter(|confidence| standing.takes_a_line() && *confidence < 1.0)
                .map(|confidence| (confidence * 100.0).round() / 100.0),
            "awaiting_secret": standing.state == State::AwaitingSecret,
            "osc133": marked,
            "prompt": activity.prompt_text.as_ref().filter(|_| standing.takes_a_line()),
            "command_state": command_state(standing.state),
            "command_complete": standing.is_over(),
            "exit_code": shell_command
                .filter(|_| standing.is_over() || has_ended)
                .filter(|command| command.end.is_none_or(|end| end > sent))
                .and_then(|command| command.exit_code),
            "cwd": activity.cwd,
        }),
    );
    exit(facts, activity.exit_status.as_ref(), activity.end_cause);
}

/// terminal-mcp's word for it.
fn command_state(state: State) -> &'static str {
    match state {
        State::Done => "prompt",
        State::Running | State::AwaitingInput | State::AwaitingSecret | State::FullScreen => {
            "running"
        }
        State::Exited => "unknown",
    }
}

/// Adds the result of a wait. The exit code is of what has ended since the client typed at `sent`.
pub(in crate::tools) fn describe_wait(facts: &mut Facts, wait: &WaitForResult, sent: Offset) {
    let standing = Standing::of_wait(wait);
    describe(facts, &wait.activity, standing, wait.command.as_ref(), sent);
    let timed_out = wait.ended_by == WaitEnd::Timeout && !standing.is_over();
    add(
        facts,
        json!({
            "completed_by": wait.done_by.filter(|_| standing.is_over()),
            "timed_out": timed_out.then_some(true),
            "matched_text": wait.matched.as_ref().map(|matched| &matched.text),
            "matched_line": wait.matched.as_ref().map(|matched| &matched.line),
        }),
    );
}
