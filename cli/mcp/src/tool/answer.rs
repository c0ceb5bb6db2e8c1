//! What a tool answers: facts, a picture, or an error that says what to mend.
//!
//! Facts go out twice, as plain lines and as structured content, because clients differ in which of the
//! two their model sees. A picture goes out alone: Claude Code drops a picture beside structure. No text
//! goes out with characters that hide: they are marked.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, TaskStatus};
use serde_json::{Value, json};
use termd_client::ClientError;
use termd_client::escape::marked;
use termd_client::refusal::{approval_of, kind_of, needs_person};
use termd_picture::PictureError;
use termd_proto::ErrorKind;
use termd_proto::approval::ApprovalId;
use termd_proto::terminal::TerminalInfo;
use thiserror::Error;
use tokio::task::JoinError;

use super::answer_text::text_of;
use super::schema::{ArgumentError, OutputSchema};
use super::task::task_of;

/// The result of a tool's function.
pub(crate) type Outcome = Result<ToolAnswer, ToolError>;

/// What a tool answers.
#[derive(Debug, Clone)]
pub(crate) enum ToolAnswer {
    /// Facts: a JSON object that fits the tool's output schema.
    Facts(Value),
    /// An error's body, a JSON object.
    Failure(Value),
    /// An error in words alone.
    Refusal(String),
    /// A PNG file.
    Picture(Vec<u8>),
    /// No result yet: the terminal of a task.
    Task(Box<TerminalInfo>),
}

impl ToolAnswer {
    /// The answer as MCP has it, without what is at its default by the tool's schema.
    pub(crate) fn into_mcp(self, schema: &OutputSchema) -> CallToolResponse {
        CallToolResponse::Complete(match self {
            Self::Facts(facts) => {
                let facts = schema.without_defaults(visible(facts));
                let text = facts.as_object().map(text_of).unwrap_or_default();
                let mut result = CallToolResult::structured(facts);
                result.content = vec![ContentBlock::text(text)];
                result
            }
            Self::Failure(body) => {
                let body = visible(body);
                let word = |at: &str| body.pointer(at).and_then(Value::as_str).unwrap_or_default();
                let text = format!("{}: {}", word("/error/type"), word("/error/message"));
                let mut result = CallToolResult::structured_error(body);
                result.content = vec![ContentBlock::text(text)];
                result
            }
            Self::Refusal(words) => CallToolResult::error(vec![ContentBlock::text(marked(&words))]),
            Self::Picture(png) => CallToolResult::success(vec![ContentBlock::image(
                STANDARD.encode(png),
                "image/png",
            )]),
            Self::Task(info) => {
                let task = task_of(&info, TaskStatus::Working);
                return CallToolResponse::Task(CreateTaskResult::new(task));
            }
        })
    }
}

/// The value with each text marked.
fn visible(value: Value) -> Value {
    match value {
        Value::String(text) => match marked(&text) {
            Cow::Borrowed(_) => text.into(),
            Cow::Owned(marked) => marked.into(),
        },
        Value::Array(items) => items.into_iter().map(visible).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (marked(&name).into_owned(), visible(value)))
            .collect(),
        other => other,
    }
}

/// The gate's question about a command that it stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateQuestion {
    /// The command that was about to run, as far as it is shown.
    pub(crate) command: String,
    pub(crate) reason: String,
    /// The question that somebody may answer elsewhere. `None`: the daemon keeps no question.
    pub(crate) approval: Option<ApprovalId>,
    /// Whether only a person can agree, and `confirmed` does not count.
    pub(crate) needs_person: bool,
}

impl GateQuestion {
    /// The question as a result, which is no error.
    pub(crate) fn to_answer(&self) -> ToolAnswer {
        ToolAnswer::Facts(json!({
            "success": false,
            "requires_confirmation": true,
            "command": self.command,
            "reason": self.reason,
            "message": self.how_to_agree(),
        }))
    }

    fn how_to_agree(&self) -> String {
        match (&self.approval, self.needs_person) {
            (Some(id), true) => format!(
                "Nothing was run. The user has to agree: ask the user to run `termctl approve {id}` \
                 in a terminal of their own, then send the same call again. confirmed=true does not \
                 count here."
            ),
            (Some(id), false) => format!(
                "Nothing was run. If the user agrees to it, send the same call again with \
                 confirmed=true. Or the user runs `termctl approve {id}`: then send it again as it \
                 was."
            ),
            (None, true) => {
                "Nothing was run. Too many questions wait for the user: ask the user to \
                             answer them (`termctl approvals`), then send the call again."
                    .to_owned()
            }
            (None, false) => "Nothing was run. If the user agrees to it, send the same call again \
                              with confirmed=true."
                .to_owned(),
        }
    }
}

/// Why a tool did nothing.
#[derive(Debug, Error)]
pub(crate) enum ToolError {
    /// The gate asks first.
    #[error("{}", .0.reason)]
    Gate(GateQuestion),
    /// Anything else: terminal-mcp's word for the error, and a line that says what to mend.
    #[error("{message}")]
    Failed {
        /// `validation_error`, `not_found`, `session_dead`, `spawn_error`, …
        kind: &'static str,
        /// For the model.
        message: String,
    },
}

impl ToolError {
    /// Arguments that do not make sense.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::Failed {
            kind: "validation_error",
            message: message.into(),
        }
    }

    fn internal(message: String) -> Self {
        Self::Failed {
            kind: "internal_error",
            message,
        }
    }

    /// The user was asked, and did not agree.
    pub(crate) fn declined(question: &GateQuestion) -> Self {
        Self::Failed {
            kind: "declined",
            message: format!(
                "the user was asked and did not agree ({}); nothing was run. Do not try it another \
                 way: ask the user what to do instead",
                question.reason
            ),
        }
    }
}

impl From<ArgumentError> for ToolError {
    fn from(error: ArgumentError) -> Self {
        Self::validation(error.to_string())
    }
}

impl From<JoinError> for ToolError {
    /// A call's task panicked, or was dropped with the runtime.
    fn from(error: JoinError) -> Self {
        Self::internal(format!("the call ended without an answer: {error}"))
    }
}

impl From<PictureError> for ToolError {
    fn from(error: PictureError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<ClientError> for ToolError {
    fn from(error: ClientError) -> Self {
        let ClientError::Refused(refusal) = &error else {
            let kind = match &error {
                ClientError::InDoubt => "in_doubt",
                error if error.is_unreachable() => "daemon_unavailable",
                _ => "internal_error",
            };
            let message = match error {
                ClientError::InDoubt => "the connection to the daemon broke before its answer came: it \
                                      may have been done or not. session_list and session_read show \
                                      what there is; look before you send it again"
                    .to_owned(),
                error => error.to_string(),
            };
            return Self::Failed { kind, message };
        };
        let data: Value = refusal
            .data()
            .and_then(|data| serde_json::from_str(data.get()).ok())
            .unwrap_or_default();
        let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = match kind_of(refusal) {
            Some(ErrorKind::ConfirmationRequired) => {
                return Self::Gate(GateQuestion {
                    command: text("command").unwrap_or_default(),
                    reason: text("reason").unwrap_or_else(|| refusal.message().to_owned()),
                    approval: approval_of(refusal),
                    needs_person: needs_person(refusal),
                });
            }
            Some(ErrorKind::InvalidParams | ErrorKind::LabelTaken) => "validation_error",
            Some(ErrorKind::TerminalNotFound | ErrorKind::TerminalAmbiguous) => "not_found",
            Some(ErrorKind::TerminalExited) => "session_dead",
            Some(ErrorKind::SpawnFailed) => "spawn_error",
            Some(ErrorKind::Denied | ErrorKind::Rejected | ErrorKind::ForeignTerminal) => "denied",
            Some(ErrorKind::CanonicalLimit | ErrorKind::NoSecretAwaited | ErrorKind::NoInput) => {
                "input_refused"
            }
            Some(ErrorKind::InputQueueFull) => "send_error",
            Some(ErrorKind::Overloaded)
                if text("limit").is_some_and(|limit| limit.contains("running")) =>
            {
                "session_limit_reached"
            }
            Some(ErrorKind::Overloaded) => "overloaded",
            _ => "internal_error",
        };
        if kind == "session_limit_reached" {
            let most = data.get("max_running").and_then(Value::as_u64);
            let most = most.map(|most| format!(" ({most})")).unwrap_or_default();
            return Self::Failed {
                kind,
                message: format!(
                    "this client has as many sessions running as it may{most}: session_close one \
                     (session_list shows them), or raise TERMD_MAX_SESSIONS"
                ),
            };
        }
        let hint = match kind_of(refusal) {
            Some(ErrorKind::TerminalNotFound) => "; session_list has those that are open",
            Some(ErrorKind::TerminalExited) => {
                "; its output and screen can still be read (session_read)"
            }
            _ => "",
        };
        Self::Failed {
            kind,
            message: format!("{}{hint}", refusal.message()),
        }
    }
}
