//! What goes on in a terminal, in the words of the set's results.

use serde_json::{Map, Value, json};
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::interact::{Activity, GetActivity, WaitForResult};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{CloseCause, EndCause, ExitStatus, TerminalInfo, TerminalState};
use termd_proto::{ErrorKind, Offset, TerminalId, TerminalRef};

use crate::backend::Backend;

/// From here on a hint of a prompt counts as one.
const LIKELY: f32 = 0.5;

/// A result that grows.
pub(super) type Facts = Map<String, Value>;

/// A result that says that it went well.
pub(super) fn success() -> Facts {
    let mut facts = Facts::new();
    facts.insert("success".to_owned(), true.into());
    facts
}

/// Adds members of an object, but for those that are null.
pub(super) fn add(facts: &mut Facts, more: Value) {
    if let Value::Object(more) = more {
        facts.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

/// What is known of a terminal now, also once it is closed.
#[derive(Debug)]
pub(super) enum Standing {
    /// It is open.
    Open(Box<Activity>),
    /// Its record is left.
    Closed(Box<TerminalInfo>),
}

impl Standing {
    /// Asks.
    pub(super) async fn of(backend: &Backend, id: &TerminalId) -> Result<Self, ClientError> {
        let activity = backend
            .pool()
            .repeat(&GetActivity {
                id: TerminalRef::from(id),
            })
            .await;
        match activity {
            Ok(activity) => Ok(Self::Open(Box::new(activity))),
            Err(error) if may_be_closed(&error) => {
                let info = backend.show(id.as_str()).await?;
                Ok(Self::Closed(Box::new(info)))
            }
            Err(error) => Err(error),
        }
    }

    /// The end of its output.
    pub(super) fn end(&self) -> Offset {
        match self {
            Self::Open(activity) => activity.end,
            Self::Closed(info) => info.end,
        }
    }

    /// Whether its program runs.
    pub(super) fn is_running(&self) -> bool {
        match self {
            Self::Open(activity) => activity.state == TerminalState::Running,
            Self::Closed(_) => false,
        }
    }

    /// Whether a full-screen program is on.
    pub(super) fn is_full_screen(&self) -> bool {
        matches!(self, Self::Open(activity) if activity.full_screen)
    }

    /// Adds what is known to a result.
    pub(super) fn describe(&self, facts: &mut Facts) {
        match self {
            Self::Open(activity) => describe(facts, activity, None),
            Self::Closed(info) => {
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
                        "closed_because": info.close_cause.map(cause),
                    }),
                );
                exit(facts, info.exit_status.as_ref(), info.end_cause);
            }
        }
    }
}

/// The word for why a terminal was closed that nobody asked to close.
pub(super) fn cause(cause: CloseCause) -> &'static str {
    match cause {
        CloseCause::Idle => "idle",
        CloseCause::Disconnect => "disconnect",
    }
}

fn may_be_closed(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(refusal) if matches!(
        kind_of(refusal),
        Some(ErrorKind::TerminalNotFound | ErrorKind::TerminalExited)
    ))
}

/// Adds how a program ended, and which limit ended it.
pub(super) fn exit(facts: &mut Facts, status: Option<&ExitStatus>, limit: Option<EndCause>) {
    add(facts, json!({ "end_cause": limit }));
    if let Some(status) = status {
        facts.remove("exit_code");
        add(
            facts,
            json!({ "exit_code": status.exit_code, "signal": status.signal }),
        );
    }
}

/// Adds what goes on in an open terminal; `command` is the one that the call was about.
pub(super) fn describe(facts: &mut Facts, activity: &Activity, command: Option<&CommandInfo>) {
    let shell_command = command.or(activity
        .last_command
        .as_ref()
        .filter(|command| command.source == CommandSource::Shell));
    let marked = activity.command_state != CommandState::Unknown || shell_command.is_some();
    let state = match activity.command_state {
        CommandState::Unknown => "unknown",
        CommandState::Prompt | CommandState::Input => "prompt",
        CommandState::Running => "running",
    };
    let confidence = activity.prompt.map(|hint| hint.confidence);
    let running = activity.state == TerminalState::Running;
    let complete =
        !running || (marked && shell_command.is_some_and(|command| command.ended_at_ms.is_some()));
    add(
        facts,
        json!({
            "is_alive": running,
            "tui_active": activity.full_screen,
            "snapshot_available": true,
            // The shell's mark may be there before what it draws.
            "prompt_detected": activity.awaiting_secret
                || (running && state == "prompt")
                || confidence.is_some_and(|confidence| confidence >= LIKELY),
            // Two digits: a hint has no more.
            "prompt_confidence": confidence
                .map(|confidence| (f64::from(confidence) * 100.0).round() / 100.0),
            "awaiting_secret": activity.awaiting_secret,
            "osc133": marked.then_some(true),
            "command_state": state,
            "command_complete": complete,
            "exit_code": shell_command.and_then(|command| command.exit_code),
            "cwd": activity.cwd,
        }),
    );
    exit(facts, activity.exit_status.as_ref(), activity.end_cause);
}

/// Adds what a wait found.
pub(super) fn describe_wait(facts: &mut Facts, wait: &WaitForResult) {
    describe(facts, &wait.activity, wait.command.as_ref());
    let timed_out = wait.ended_by == termd_proto::interact::WaitEnd::Timeout;
    add(
        facts,
        json!({
            "completed_by": wait.done_by,
            "timed_out": timed_out.then_some(true),
            "matched_text": wait.matched.as_ref().map(|matched| &matched.text),
            "matched_line": wait.matched.as_ref().map(|matched| &matched.line),
        }),
    );
}
