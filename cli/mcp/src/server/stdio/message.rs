//! One JSON-RPC message: from text into rmcp's type, and an answer into text.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ids::{MAX_NUMBER_BYTES, ReplacedIds, is_id};
use super::params::problem_with_params;

/// The members that are read before rmcp reads the message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<Value>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The params of `notifications/cancelled`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
}

/// An answer, with its id to the letter.
#[derive(Serialize)]
struct Answer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorData>,
}

impl<'a, R: Serialize> Answer<'a, R> {
    fn to_text(
        id: &'a RawValue,
        result: Result<&'a R, &'a ErrorData>,
    ) -> serde_json::Result<String> {
        serde_json::to_string(&Self {
            jsonrpc: "2.0",
            id,
            result: result.ok(),
            error: result.err(),
        })
    }
}

/// Why a text is no message, and the id that it has.
#[derive(Debug)]
pub(super) struct Refusal {
    id: Box<RawValue>,
    error: ErrorData,
}

impl Refusal {
    /// A refusal whose id is not known: null (JSON-RPC 2.0, section 5).
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(RawValue::NULL, code, message)
    }

    fn of(id: &RawValue, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            error: ErrorData::new(code, message.into(), None),
        }
    }

    pub(super) fn to_text(&self) -> serde_json::Result<String> {
        Answer::<()>::to_text(&self.id, Err(&self.error))
    }
}

/// Reads a message. An id that rmcp cannot repeat is replaced.
pub(super) fn read(text: &[u8], ids: &mut ReplacedIds) -> Result<ClientJsonRpcMessage, Refusal> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else {
        return Err(match serde_json::from_slice::<Value>(text) {
            Err(error) => {
                Refusal::new(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"))
            }
            Ok(_) => no_message(RawValue::NULL),
        });
    };
    let id = match envelope.id {
        Some(id) if !is_id(id) => return Err(no_message(RawValue::NULL)),
        id => id,
    };
    let method = envelope.method.as_ref().and_then(Value::as_str);
    let message = match (id, method) {
        (Some(id), Some(method)) if ReplacedIds::has_to_replace(id) => {
            if method == "subscriptions/listen" {
                // Its notifications carry the id, and rmcp writes them.
                let wanted = "the id of a subscription has to be a string or a number of 64 bits";
                return Err(Refusal::of(id, ErrorCode::INVALID_REQUEST, wanted));
            }
            if id.get().len() > MAX_NUMBER_BYTES {
                let wanted = format!("a number as an id may be {MAX_NUMBER_BYTES} bytes long");
                return Err(Refusal::of(id, ErrorCode::INVALID_REQUEST, wanted));
            }
            let number = ids.replace(id);
            with(text, |message| {
                message.insert("id".to_owned(), number.into());
            })
            .ok_or_else(|| {
                ids.take(&RequestId::Number(number));
                no_message(id)
            })
        }
        (None, Some("notifications/cancelled")) => {
            let cancelled = envelope
                .params
                .and_then(|params| serde_json::from_str::<Cancelled<'_>>(params.get()).ok());
            let number = cancelled.and_then(|it| ids.find(it.request_id?));
            with(text, |message| {
                if let (Some(number), Some(Value::Object(params))) =
                    (number, message.get_mut("params"))
                {
                    params.insert("requestId".to_owned(), number.into());
                }
            })
            .ok_or_else(|| no_message(RawValue::NULL))
        }
        _ => serde_json::from_slice(text).map_err(|_| no_message(id.unwrap_or(RawValue::NULL))),
    }?;
    if let (Some(id), ClientJsonRpcMessage::Request(request)) = (id, &message)
        && let ClientRequest::CustomRequest(custom) = &request.request
        && let Some(problem) = problem_with_params(custom)
    {
        ids.take(&request.id);
        return Err(Refusal::of(id, ErrorCode::INVALID_PARAMS, problem));
    }
    Ok(message)
}

/// The message with some of its members changed.
fn with(
    text: &[u8],
    change: impl FnOnce(&mut serde_json::Map<String, Value>),
) -> Option<ClientJsonRpcMessage> {
    let mut message = serde_json::from_slice(text).ok()?;
    change(&mut message);
    serde_json::from_value(Value::Object(message)).ok()
}

fn no_message(id: &RawValue) -> Refusal {
    let message = "this is JSON, but no message of MCP (one JSON-RPC 2.0 object a line)";
    Refusal::of(id, ErrorCode::INVALID_REQUEST, message)
}

/// The text of a message to the client. `came`: the id that its request came with.
pub(super) fn write(
    message: &ServerJsonRpcMessage,
    came: Option<&RawValue>,
) -> serde_json::Result<String> {
    match (message, came) {
        (ServerJsonRpcMessage::Response(response), Some(id)) => {
            Answer::to_text(id, Ok(&response.result))
        }
        (ServerJsonRpcMessage::Error(refused), Some(id)) => {
            Answer::<()>::to_text(id, Err(&refused.error))
        }
        _ => serde_json::to_string(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_has_its_id_where_there_is_one() {
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#,
            "1".repeat(257)
        );
        let table = [
            ("{", "null", -32700),
            ("7", "null", -32600),
            (
                r#"{"jsonrpc":"2.0","id":[7],"method":"ping"}"#,
                "null",
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":7}"#, "1.5", -32600),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"subscriptions/listen","params":{}}"#,
                "1.5",
                -32600,
            ),
            (&long, &"1".repeat(257), -32600),
        ];
        let mut ids = ReplacedIds::default();
        for (text, id, code) in table {
            let refusal = read(text.as_bytes(), &mut ids).unwrap_err();
            assert_eq!(refusal.id.get(), id, "{text}");
            assert_eq!(refusal.error.code.0, code, "{text}");
        }
    }

    #[test]
    fn a_replaced_id_comes_back_in_answers_and_is_known_to_a_cancel() {
        let mut ids = ReplacedIds::default();
        let ping = br#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#;
        let ClientJsonRpcMessage::Request(request) = read(ping, &mut ids).unwrap() else {
            panic!("a request");
        };
        let cancel =
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0}}"#;
        let cancel = read(cancel, &mut ids).unwrap();
        let cancel = serde_json::to_value(&cancel).unwrap();
        let replaced = request.id.clone().into_json_value();
        assert_eq!(cancel["params"]["requestId"], replaced);
        let error = ErrorData::invalid_request("no", None);
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        let came = ids.take(&request.id).unwrap();
        let text = write(&answer, Some(&came)).unwrap();
        assert!(
            text.starts_with(r#"{"jsonrpc":"2.0","id":1.0,"error":{"#),
            "{text}"
        );
    }
}
