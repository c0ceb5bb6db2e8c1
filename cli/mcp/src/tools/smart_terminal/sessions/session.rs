//! The terminal of a call, and smart-terminal-mcp's errors where there is none.

use std::path::Path;

use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::ErrorKind;
use termd_proto::interact::Activity;
use termd_proto::screen::CommandState;
use termd_proto::terminal::{CloseCause, TerminalInfo, TerminalState};

use crate::tool::{Call, ToolError};

/// A terminal, also a closed one.
pub(crate) async fn find(call: &Call, named: &str) -> Result<TerminalInfo, ToolError> {
    call.backend()
        .show(named)
        .await
        .map_err(|error| unknown(error, named))
}

/// A terminal whose program runs.
pub(crate) async fn alive(call: &Call, named: &str) -> Result<TerminalInfo, ToolError> {
    let info = find(call, named).await?;
    if info.state == TerminalState::Running {
        return Ok(info);
    }
    Err(dead(&info))
}

/// The error for a terminal whose program has ended.
pub(crate) fn dead(info: &TerminalInfo) -> ToolError {
    let why = match (info.close_cause, info.end_cause) {
        (Some(CloseCause::Idle), _) => " It was closed because nobody used it.".to_owned(),
        (Some(CloseCause::Disconnect), _) => {
            " It was closed with the client that had opened it.".to_owned()
        }
        (Some(CloseCause::CallEnd | CloseCause::AgentEnd), _) => {
            " It was closed with the agent whose command it ran.".to_owned()
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

/// The error for an unknown terminal.
pub(crate) fn not_found(named: &str) -> ToolError {
    ToolError::Failed {
        kind: "not_found",
        message: format!(
            "Session \"{named}\" not found. Use terminal_list to see active sessions."
        ),
    }
}

/// Whether a program runs in a terminal that does not wait for a line.
pub(crate) fn is_busy(activity: &Activity) -> bool {
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

/// A program's name without its directory.
pub(crate) fn base_name(program: &str) -> &str {
    let name = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str());
    name.unwrap_or(program).trim_start_matches('-')
}
