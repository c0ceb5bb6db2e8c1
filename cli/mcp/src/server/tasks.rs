//! MCP's extension `io.modelcontextprotocol/tasks`: `tasks/get`, `tasks/update`, `tasks/cancel`. Nothing
//! is kept here. A task is a terminal of the daemon, so the next server can answer for it.

use std::collections::BTreeMap;

use rmcp::model::{
    CallToolResponse, DetailedTask, ErrorData, GetTaskResult, JsonObject, ProtocolVersion,
    ServerCapabilities, TASKS_EXTENSION_ID, TaskPayload, TaskStatus,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_client::timestamp::now_ms;
use termd_proto::terminal::{CloseTerminal, TerminalInfo, TerminalState};
use termd_proto::{ErrorKind, TerminalId, TerminalRef};

use super::Server;
use crate::settings::{ExecTimeout, Settings};
use crate::tool::{TaskNote, progress_line, task_of};

/// Says that there are tasks. There are none where one-shots end with their calls.
pub(super) fn announce(settings: &Settings, capabilities: &mut ServerCapabilities) {
    if settings.exec_timeout == ExecTimeout::Continue {
        let extension = (TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        capabilities.extensions = Some(BTreeMap::from([extension]));
    }
}

/// Whether the client of a request takes a task for an answer.
pub(super) fn are_followed(settings: &Settings, context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    settings.exec_timeout == ExecTimeout::Continue
        && version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
        && (context.client_capabilities()).is_some_and(|client| client.supports_tasks())
}

/// `tasks/get`.
pub(super) async fn get(
    server: &Server,
    id: &str,
    context: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let (info, note) = find(server, id).await?;
    let status = note.status(&info, now_ms());
    let mut task = task_of(&info, status);
    let payload = match status {
        TaskStatus::Completed => TaskPayload::Completed {
            result: result(server, info, note, context).await?,
        },
        TaskStatus::Cancelled => TaskPayload::Cancelled,
        _ => {
            let terminal = TerminalRef::from(&info.id);
            task.status_message = progress_line(&server.shared.backend, &terminal).await;
            TaskPayload::Working
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// `tasks/update`: no task asks for anything, so whatever the client answers is ignored.
pub(super) async fn update(server: &Server, id: &str) -> Result<(), ErrorData> {
    find(server, id).await.map(drop)
}

/// `tasks/cancel`: ends the command with all that it started. A task that is over stays as it is, and
/// so does a command that goes on behind its result.
pub(super) async fn cancel(server: &Server, id: &str) -> Result<(), ErrorData> {
    let (info, note) = find(server, id).await?;
    if info.state != TerminalState::Running || note.is_timed_out(&info, now_ms()) {
        return Ok(());
    }
    let close = CloseTerminal {
        id: TerminalRef::from(&info.id),
        eof_ms: None,
    };
    let closed = server.shared.backend.pool().repeat(&close).await;
    closed.map(drop).map_err(|error| refused(&error))
}

/// The terminal of a task.
async fn find(server: &Server, id: &str) -> Result<(TerminalInfo, TaskNote), ErrorData> {
    let unknown = || {
        let message = format!("there is no task {id}, or its record has been deleted");
        ErrorData::invalid_params(message, None)
    };
    let terminal: TerminalId = id.parse().map_err(|_| unknown())?;
    let info = match server.shared.backend.show(terminal.as_str()).await {
        Ok(info) => info,
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::TerminalNotFound) =>
        {
            return Err(unknown());
        }
        Err(error) => return Err(refused(&error)),
    };
    let note = TaskNote::of(&info).ok_or_else(unknown)?;
    Ok((info, note))
}

/// What the call itself would have been answered.
async fn result(
    server: &Server,
    info: TerminalInfo,
    note: TaskNote,
    context: &RequestContext<RoleServer>,
) -> Result<JsonObject, ErrorData> {
    let another = || {
        let message = format!(
            "the task is of {}, which this server does not offer",
            note.tool
        );
        ErrorData::invalid_params(message, None)
    };
    let offer = server.registry.find(&note.tool).ok_or_else(another)?;
    let tool = &offer.tool;
    let outcome = tool.conclude(server.call(context), info, note.form.clone());
    let outcome = outcome.await.ok_or_else(another)?;
    let answer = outcome.unwrap_or_else(|failure| (offer.error)(&failure));
    match answer.into_mcp(&tool.output) {
        CallToolResponse::Complete(result) => match serde_json::to_value(result) {
            Ok(Value::Object(result)) => Ok(result),
            _ => Err(another()),
        },
        _ => Err(another()),
    }
}

fn refused(error: &ClientError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
