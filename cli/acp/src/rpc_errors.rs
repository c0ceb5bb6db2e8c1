//! The JSON-RPC errors of the proxy itself, with the daemon's codes and kinds.

pub(crate) use jsonrpsee::types::ErrorObjectOwned;
use serde_json::{Map, Value, json};
use termd_client::ClientError;
use termd_client::escape::escaped;
use termd_client::refusal::approval_of;
use termd_proto::{ErrorKind, code};

/// Most characters of the agent's text that an error quotes.
const SHOWN_CHARS: usize = 100;

fn error(code: i32, kind: ErrorKind, message: String, more: Value) -> ErrorObjectOwned {
    let mut data = match more {
        Value::Object(more) => more,
        _ => Map::new(),
    };
    data.insert("kind".to_owned(), json!(kind));
    ErrorObjectOwned::owned(code, message, Some(data))
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// There is no such `terminal/` method.
pub(crate) fn unknown_method(method: &str) -> ErrorObjectOwned {
    let message = format!("no method {}", escaped(&shown(method)));
    error(
        code::METHOD_NOT_FOUND,
        ErrorKind::MethodNotFound,
        message,
        Value::Null,
    )
}

/// The daemon's text for an unknown, a released, or another session's terminal.
pub(crate) fn not_found(terminal: &str) -> ErrorObjectOwned {
    let terminal = shown(terminal);
    let message = format!("no terminal {}", terminal.escape_debug());
    let more = json!({ "terminal": terminal });
    error(
        code::RESOURCE_NOT_FOUND,
        ErrorKind::TerminalNotFound,
        message,
        more,
    )
}

/// A param is out of bounds.
pub(crate) fn invalid_params(field: &str, problem: &str) -> ErrorObjectOwned {
    let more = json!({ "field": field, "detail": problem });
    let message = format!("`{field}` {problem}");
    error(
        code::INVALID_PARAMS,
        ErrorKind::InvalidParams,
        message,
        more,
    )
}

/// The params are longer than a line that the daemon accepts.
pub(crate) fn too_long(limit: usize) -> ErrorObjectOwned {
    let message = format!("the params may be {limit} bytes long at the most");
    let more = json!({ "limit": limit });
    error(code::INVALID_REQUEST, ErrorKind::LineTooLong, message, more)
}

/// A named limit was reached.
pub(crate) fn overloaded(limit: &str, message: String, more: Value) -> ErrorObjectOwned {
    let mut more = more;
    if let Value::Object(more) = &mut more {
        more.insert("limit".to_owned(), json!(limit));
    }
    error(code::OVERLOADED, ErrorKind::Overloaded, message, more)
}

/// The agent cancelled the call by `$/cancel_request`.
pub(crate) fn cancelled() -> ErrorObjectOwned {
    let message = "cancelled".to_owned();
    error(code::CANCELLED, ErrorKind::Cancelled, message, Value::Null)
}

/// The connection is ending, so nothing is started.
pub(crate) fn ending() -> ErrorObjectOwned {
    let message = "the connection is ending: no terminal is created any more".to_owned();
    error(
        code::UNAVAILABLE,
        ErrorKind::Unavailable,
        message,
        Value::Null,
    )
}

/// The daemon's own error, or that the daemon cannot be reached.
pub(crate) fn of_daemon(failed: ClientError) -> ErrorObjectOwned {
    let message = failed.to_string();
    match failed {
        ClientError::Refused(refusal) => refusal,
        ClientError::BadAnswer(_) => {
            error(code::INTERNAL, ErrorKind::Internal, message, Value::Null)
        }
        // The call may or may not have been carried out.
        _ => error(
            code::UNAVAILABLE,
            ErrorKind::Unavailable,
            message,
            Value::Null,
        ),
    }
}

/// The person rejected the command, or the turn was cancelled before an answer.
pub(crate) fn rejected(line: &str, reason: &str, how: &str) -> ErrorObjectOwned {
    let message = format!("not run: {how} ({}): {line}", escaped(reason));
    let more = json!({ "command": line, "reason": reason });
    error(code::DENIED, ErrorKind::Rejected, message, more)
}

/// The gate's error, with a hint for a client that cannot ask its person.
pub(crate) fn cannot_ask(refusal: &ErrorObjectOwned) -> ErrorObjectOwned {
    let hint = match approval_of(refusal) {
        Some(id) => format!(
            "the client cannot ask its person (session/request_permission): the person may run \
             `termctl approve {id}`, and then the same create goes through"
        ),
        None => "the client cannot ask its person (session/request_permission): leave the command \
                 out, or let the person run it"
            .to_owned(),
    };
    let message = format!("{}; {hint}", refusal.message());
    let mut data = data_of(refusal);
    data.insert("hint".to_owned(), json!(hint));
    ErrorObjectOwned::owned(refusal.code(), message, Some(data))
}

/// Decodes the members of an error's data.
pub(crate) fn data_of(error: &ErrorObjectOwned) -> Map<String, Value> {
    error
        .data()
        .and_then(|data| serde_json::from_str(data.get()).ok())
        .unwrap_or_default()
}
