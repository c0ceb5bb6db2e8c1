//! Which terminal a call means, and what the original says where there is none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::interact::{Activity, GetActivity, TypeInput, TypedInput};
use termd_proto::screen::CommandState;
use termd_proto::terminal::{CloseCause, SendResult, TerminalInfo, TerminalState};
use termd_proto::{ErrorKind, TerminalId, TerminalRef};

use crate::answer::ToolError;
use crate::backend::Backend;
use crate::call::Call;

/// How long a program may take to take what is typed: 100,000 characters into a slow line editor.
const TYPING_TIMEOUT_MS: u64 = 30_000;

/// A terminal, also one that is closed.
pub(super) async fn find(call: &Call, named: &str) -> Result<TerminalInfo, ToolError> {
    call.backend()
        .show(named)
        .await
        .map_err(|error| unknown(error, named))
}

/// A terminal that runs.
pub(super) async fn alive(call: &Call, named: &str) -> Result<TerminalInfo, ToolError> {
    let info = find(call, named).await?;
    if info.state == TerminalState::Running {
        return Ok(info);
    }
    Err(dead(&info))
}

/// What is said of a terminal that runs no more.
pub(super) fn dead(info: &TerminalInfo) -> ToolError {
    let why = match (info.close_cause, info.end_cause) {
        (Some(CloseCause::Idle), _) => " It was closed because nobody used it.".to_owned(),
        (Some(CloseCause::Disconnect), _) => {
            " It was closed with the client that had opened it.".to_owned()
        }
        (None, Some(limit)) => format!(" Its limit {} has ended it.", limit.as_str()),
        (None, None) => String::new(),
    };
    ToolError::Failed {
        kind: "session_dead",
        message: format!(
            "Session {} is no longer alive.{why} terminal_read with since still reads its output.",
            info.id
        ),
    }
}

fn unknown(error: ClientError, named: &str) -> ToolError {
    match &error {
        ClientError::Refused(refusal) if kind_of(refusal) == Some(ErrorKind::TerminalNotFound) => {
            not_found(named)
        }
        _ => error.into(),
    }
}

/// The original's words for a terminal that there is not.
pub(super) fn not_found(named: &str) -> ToolError {
    ToolError::Failed {
        kind: "not_found",
        message: format!(
            "Session \"{named}\" not found. Use terminal_list to see active sessions."
        ),
    }
}

/// What goes on in an open terminal.
pub(super) async fn activity(backend: &Backend, id: &TerminalId) -> Result<Activity, ClientError> {
    backend
        .pool()
        .repeat(&GetActivity {
            id: TerminalRef::from(id),
        })
        .await
}

/// Whether something runs in a terminal that does not wait for a line.
pub(super) fn is_busy(activity: &Activity) -> bool {
    if activity.state != TerminalState::Running || activity.prompt.is_some() {
        return false;
    }
    match activity.command_state {
        CommandState::Running => true,
        CommandState::Prompt | CommandState::Input => false,
        CommandState::Unknown => activity
            .foreground
            .as_ref()
            .is_some_and(|foreground| !foreground.is_root),
    }
}

/// Types, once, and remembers where the output ended then.
pub(super) async fn type_once(
    call: &Call,
    id: &TerminalId,
    input: &TypedInput,
    confirmed: bool,
) -> Result<SendResult, ToolError> {
    let sent = call
        .backend()
        .pool()
        .once(&TypeInput {
            id: TerminalRef::from(id),
            input: input.clone(),
            confirmed: Some(confirmed),
            timeout_ms: Some(TYPING_TIMEOUT_MS),
        })
        .await?;
    call.shared.cursors.set_sent(id, sent.offset);
    Ok(sent)
}

/// The directory that a terminal's shell is in, as far as that is known.
pub(super) async fn directory(call: &Call, info: &TerminalInfo) -> PathBuf {
    let told = activity(call.backend(), &info.id).await.ok();
    let told = told.and_then(|activity| activity.cwd);
    PathBuf::from(told.unwrap_or_else(|| info.cwd.clone()))
}

/// A program's name without its directory.
pub(super) fn base_name(program: &str) -> &str {
    let name = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str());
    name.unwrap_or(program).trim_start_matches('-')
}

/// A time in milliseconds, as parameters have it.
pub(super) fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}
