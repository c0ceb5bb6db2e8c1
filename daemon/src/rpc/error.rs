//! The error of a call: a code, a sentence for a person, and `data` for a program.
//!
//! `data.kind` is always there. A cause that is ours goes to the log.

mod file;
mod store;
mod terminal;

use serde_json::{Map, Value, json};
use termd_proto::{ErrorKind, TerminalId, code};

use super::context::IntroductionError;
use super::limits::{MAX_CALLS_IN_FLIGHT, MAX_LINE_BYTES, METHOD_NAME_SHOWN_CHARS};
use super::peer_quota::PeerLimit;
use super::request::Invalid;

/// What a handler answers.
pub type RpcResult<T> = Result<T, RpcError>;

/// A JSON-RPC error object.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// See [`code`].
    pub code: i32,
    /// One line for a person.
    pub message: String,
    /// `kind`, and what else is documented with it.
    pub data: Map<String, Value>,
}

impl RpcError {
    /// An error of this kind.
    pub fn new(code: i32, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Map::from_iter([("kind".to_owned(), json!(kind))]),
        }
    }

    /// The same, with another member of `data`.
    #[must_use]
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// A line that is no request.
    pub(super) fn invalid(why: Invalid) -> Self {
        let (code, kind, message) = match why {
            Invalid::NotJson => (
                code::PARSE_ERROR,
                ErrorKind::ParseError,
                "the line is not JSON".to_owned(),
            ),
            Invalid::Batch => (
                code::INVALID_REQUEST,
                ErrorKind::BatchUnsupported,
                "batches are not served: one request a line".to_owned(),
            ),
            Invalid::NotARequest(why) => (
                code::INVALID_REQUEST,
                ErrorKind::InvalidRequest,
                format!("not a request: {why}"),
            ),
        };
        Self::new(code, kind, message)
    }

    /// A line over the limit.
    pub(super) fn line_too_long() -> Self {
        let message = format!("the line is longer than {MAX_LINE_BYTES} bytes and was skipped");
        Self::new(code::INVALID_REQUEST, ErrorKind::LineTooLong, message)
            .with("limit", MAX_LINE_BYTES)
    }

    /// No such method. The name is the peer's: escaped, and only its beginning.
    pub(super) fn method_not_found(method: &str) -> Self {
        let shown: String = method
            .escape_debug()
            .take(METHOD_NAME_SHOWN_CHARS)
            .collect();
        let message = format!("no such method: {shown}");
        Self::new(code::METHOD_NOT_FOUND, ErrorKind::MethodNotFound, message).with("method", shown)
    }

    /// A param that cannot be read as what it is to be.
    pub(super) fn unreadable_params(field: &str, detail: &str) -> Self {
        let message = format!("invalid params: `{field}`: {detail}");
        Self::new(code::INVALID_PARAMS, ErrorKind::InvalidParams, message)
            .with("field", field)
            .with("detail", detail)
    }

    /// A param that is out of bounds, or does not go with another.
    pub(super) fn invalid_params(field: &str, problem: &str) -> Self {
        let message = format!("`{field}` {problem}");
        Self::new(code::INVALID_PARAMS, ErrorKind::InvalidParams, message)
            .with("field", field)
            .with("detail", problem)
    }

    /// ACP's not-found error, the same for an unknown, a released and somebody else's terminal.
    pub(super) fn terminal_not_found(reference: &str) -> Self {
        let shown: String = reference.chars().take(100).collect();
        let message = format!("no terminal {}", shown.escape_debug());
        Self::new(
            code::RESOURCE_NOT_FOUND,
            ErrorKind::TerminalNotFound,
            message,
        )
        .with("terminal", shown)
    }

    /// The terminal exists, and has no command of this number.
    pub(super) fn command_not_found(terminal: &TerminalId, number: i64) -> Self {
        let message = format!("terminal {terminal} has no command {number}");
        Self::new(
            code::RESOURCE_NOT_FOUND,
            ErrorKind::CommandNotFound,
            message,
        )
        .with("terminal", json!(terminal))
        .with("number", number)
    }

    /// Cancelled by `$/cancel_request`.
    pub(super) fn cancelled() -> Self {
        Self::new(code::CANCELLED, ErrorKind::Cancelled, "cancelled")
    }

    /// The server is stopping.
    pub(super) fn unavailable() -> Self {
        Self::new(
            code::UNAVAILABLE,
            ErrorKind::Unavailable,
            "the daemon is stopping or being replaced; the call was not finished",
        )
    }

    /// A handler panicked.
    pub(super) fn panicked() -> Self {
        tracing::error!("a handler panicked");
        Self::new(code::INTERNAL, ErrorKind::Internal, "internal error")
    }

    /// Our fault: the log has the cause, the peer the fact.
    pub(super) fn internal(cause: &dyn std::error::Error) -> Self {
        tracing::error!(%cause, "a call failed");
        let message = "termd failed; its log has the cause";
        Self::new(code::INTERNAL, ErrorKind::Internal, message)
    }

    /// A bound was reached: `limit` is its name, `max` its value.
    pub(super) fn overloaded(limit: &str, max: usize) -> Self {
        let message = format!("too much at once: {limit} may be {max} at the most");
        Self::new(code::OVERLOADED, ErrorKind::Overloaded, message)
            .with("limit", limit)
            .with("max", max)
    }

    /// Too many calls in flight.
    pub(super) fn too_many_calls() -> Self {
        Self::overloaded("calls_in_flight", MAX_CALLS_IN_FLIGHT)
    }
}

impl From<PeerLimit> for RpcError {
    fn from(limit: PeerLimit) -> Self {
        Self::overloaded(limit.name(), limit.max())
    }
}

impl From<IntroductionError> for RpcError {
    fn from(error: IntroductionError) -> Self {
        match error {
            IntroductionError::TooLong { field, limit } => {
                Self::invalid_params(field, &format!("may be {limit} bytes long at the most"))
            }
            IntroductionError::Pattern(problem) => {
                let problem = format!("is refused: {problem}");
                Self::invalid_params("settings.gate.patterns", &problem)
            }
        }
    }
}
