//! The words of an answer: error answers of our own, and jsonrpsee's made to fit the contract.
//!
//! Promises: every error answer has `data.kind`; the id is the peer's, as it was written.
//! Must not know: sockets, queues.
//!
//! Every call is dispatched under [`SURROGATE_ID`], and the peer's own id put in its place: so an
//! id that jsonrpsee's type cannot hold (negative, fractional, huge) comes back verbatim too.

use jsonrpsee::MethodResponse;
use jsonrpsee::types::Id;
use jsonrpsee::types::error::OVERSIZED_RESPONSE_CODE;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use termd_proto::{ErrorKind, code};

use super::account::PeerLimit;
use super::bad_params;
use super::limits::{
    CALLS_IN_FLIGHT_MAX, LINE_BYTES_MAX, METHOD_NAME_SHOWN_CHARS, RESPONSE_BYTES_MAX,
};
use super::request::Invalid;

/// The id under which jsonrpsee sees every call.
pub(super) const SURROGATE_ID: Id<'static> = Id::Number(0);

/// How an answer to [`SURROGATE_ID`] begins.
const SURROGATE_HEAD: &str = r#"{"jsonrpc":"2.0","id":0,"#;

/// How every answer begins; a subscription's events begin otherwise.
const ANSWER_HEAD: &str = r#"{"jsonrpc":"2.0","id":"#;

/// An answer, ready for the line but for its id: `"result":…}` or `"error":…}` from `skip` on.
#[derive(Debug)]
pub(super) struct Answer {
    body: String,
    skip: usize,
    is_error: bool,
}

impl Answer {
    /// What stands before the body: the head and the peer's id.
    pub(super) fn head(id: &str) -> String {
        [ANSWER_HEAD, id, ","].concat()
    }

    /// The body's text, and from where on it is to be sent.
    pub(super) fn into_body(self) -> (String, usize) {
        (self.body, self.skip)
    }

    pub(super) fn is_error(&self) -> bool {
        self.is_error
    }

    /// `"result":null}`.
    pub(super) fn null() -> Self {
        Self {
            body: r#""result":null}"#.to_owned(),
            skip: 0,
            is_error: false,
        }
    }

    /// What a handler answered. `params` are the call's, while they are still at hand.
    pub(super) fn from_response(response: MethodResponse, params: Option<&str>) -> Self {
        let is_error = response.is_error();
        let body = String::from(Box::<str>::from(response.into_json()));
        if is_error {
            // What it is about is in the object after `"error":`.
            return ErrorAnswer::read(&body).with_kind(params).into_answer();
        }
        if body.starts_with(SURROGATE_HEAD) {
            return Self {
                body,
                skip: SURROGATE_HEAD.len(),
                is_error: false,
            };
        }
        tracing::error!("an answer has an unexpected head");
        ErrorAnswer::internal().into_answer()
    }
}

/// Whether a message on a subscription's channel is the answer to the subscribe call, which also
/// comes as the call's own result.
pub(super) fn is_answer(message: &RawValue) -> bool {
    message.get().starts_with(ANSWER_HEAD)
}

/// An error, on its way to an [`Answer`].
#[derive(Debug)]
pub(super) struct ErrorAnswer {
    code: i32,
    message: String,
    data: Value,
}

impl ErrorAnswer {
    fn new(code: i32, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: json!({ "kind": kind }),
        }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Value::Object(data) = &mut self.data {
            data.insert(key.to_owned(), value.into());
        }
        self
    }

    pub(super) fn into_answer(self) -> Answer {
        let error = json!({ "code": self.code, "message": self.message, "data": self.data });
        Answer {
            body: format!(r#""error":{error}}}"#),
            skip: 0,
            is_error: true,
        }
    }

    /// A line that is no request.
    pub(super) fn invalid(why: Invalid) -> Self {
        match why {
            Invalid::NotJson => Self::new(
                code::PARSE_ERROR,
                ErrorKind::ParseError,
                "the line is not JSON",
            ),
            Invalid::Batch => Self::new(
                code::INVALID_REQUEST,
                ErrorKind::BatchUnsupported,
                "batches are not served: one request a line",
            ),
            Invalid::NotARequest(why) => Self::new(
                code::INVALID_REQUEST,
                ErrorKind::InvalidRequest,
                format!("not a request: {why}"),
            ),
        }
    }

    /// A line over the limit.
    pub(super) fn line_too_long() -> Self {
        let message = format!("the line is longer than {LINE_BYTES_MAX} bytes and was skipped");
        Self::new(code::INVALID_REQUEST, ErrorKind::LineTooLong, message)
            .with("limit", LINE_BYTES_MAX)
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

    /// A bad param, by its name.
    pub(super) fn invalid_params(field: &str, detail: &str) -> Self {
        let message = format!("invalid params: `{field}`: {detail}");
        Self::new(code::INVALID_PARAMS, ErrorKind::InvalidParams, message)
            .with("field", field)
            .with("detail", detail)
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

    /// Our fault.
    pub(super) fn internal() -> Self {
        Self::new(code::INTERNAL, ErrorKind::Internal, "internal error")
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
        Self::overloaded("calls_in_flight", CALLS_IN_FLIGHT_MAX)
    }

    /// A limit of one peer is reached.
    pub(super) fn of_peer(limit: PeerLimit) -> Self {
        Self::overloaded(limit.name(), limit.max())
    }

    /// An error answer of jsonrpsee's making.
    fn read(body: &str) -> Self {
        #[derive(Deserialize)]
        struct Response {
            error: ErrorObject,
        }
        #[derive(Deserialize)]
        struct ErrorObject {
            code: i32,
            message: String,
            #[serde(default)]
            data: Value,
        }
        match serde_json::from_str::<Response>(body) {
            Ok(Response { error }) => Self {
                code: error.code,
                message: error.message,
                data: error.data,
            },
            Err(error) => {
                tracing::error!(%error, "an error answer could not be read");
                Self::internal()
            }
        }
    }

    /// Puts `data.kind` in where it is missing: handlers' errors have it, jsonrpsee's do not.
    fn with_kind(self, params: Option<&str>) -> Self {
        let mut data = match self.data {
            Value::Object(data) if data.contains_key("kind") => {
                return Self {
                    data: Value::Object(data),
                    ..self
                };
            }
            Value::Object(data) => data,
            Value::Null => Map::new(),
            Value::String(detail) if self.code == code::INVALID_PARAMS => {
                let bad = bad_params::locate(params.unwrap_or_default(), &detail);
                return Self::invalid_params(&bad.field, &bad.detail);
            }
            other => Map::from_iter([("detail".to_owned(), other)]),
        };
        let kind = match self.code {
            OVERSIZED_RESPONSE_CODE => {
                return Self::overloaded("response_bytes", RESPONSE_BYTES_MAX);
            }
            code::INVALID_PARAMS => ErrorKind::InvalidParams,
            code::METHOD_NOT_FOUND => ErrorKind::MethodNotFound,
            code::INVALID_REQUEST => ErrorKind::InvalidRequest,
            code::OVERLOADED => ErrorKind::Overloaded,
            code::CANCELLED => ErrorKind::Cancelled,
            code::UNAVAILABLE => ErrorKind::Unavailable,
            code::RESOURCE_NOT_FOUND => ErrorKind::TerminalNotFound,
            _ => ErrorKind::Internal,
        };
        data.insert("kind".to_owned(), json!(kind));
        Self {
            data: Value::Object(data),
            ..self
        }
    }
}
