//! One `terminal/*` call to the daemon, its params and its answer as they are.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use termd_client::{ClientError, Pool, RawRequest};

use super::{Answer, errors};
use crate::wire::message::Members;

/// Longest params: the daemon takes lines of 4 MiB, and the rest of the line is this at the most.
const MAX_PARAMS_BYTES: usize = (4 << 20) - 1_024;

/// Params as they go onto the wire.
#[derive(Debug, Clone)]
pub(super) struct Params(Arc<RawValue>);

impl Params {
    /// Those of the agent's params that the method knows, each as it came: what the daemon takes by
    /// another name or by position has not been looked at here. The last of two of a name counts.
    pub(super) fn known(params: &Members<'_>, names: &[&str]) -> Result<Self, Refused> {
        let mut text = String::from("{");
        for name in names {
            if let Some(value) = params.get(name) {
                if text.len() > 1 {
                    text.push(',');
                }
                text.push_str(&Value::from(*name).to_string());
                text.push(':');
                text.push_str(value.get());
            }
        }
        text.push('}');
        Self::of(text)
    }

    /// Of an object's text.
    pub(super) fn of(text: String) -> Result<Self, Refused> {
        if text.len() > MAX_PARAMS_BYTES {
            return Err(errors::too_long(MAX_PARAMS_BYTES));
        }
        RawValue::from_string(text)
            .map(|raw| Self(raw.into()))
            .map_err(|error| errors::invalid_params("params", &error.to_string()))
    }

    /// As they are.
    pub(super) fn text(&self) -> &str {
        self.0.get()
    }
}

/// What the agent is told instead of a result.
pub(super) type Refused = jsonrpsee::types::ErrorObjectOwned;

/// How a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It must not be made twice.
    Once,
    /// It does the same when it is made twice.
    Repeat,
    /// The same, and it takes long.
    Wait,
}

/// Makes a call; its result, as it came.
pub(super) async fn call(
    pool: &Pool,
    how: How,
    method: &'static str,
    params: &Params,
) -> Result<Box<RawValue>, ClientError> {
    let request = RawRequest {
        method,
        params: Arc::clone(&params.0),
    };
    match how {
        How::Once => pool.once(&request).await,
        How::Repeat => pool.repeat(&request).await,
        How::Wait => pool.wait(&request).await,
    }
}

/// The same, as the agent is answered.
pub(super) async fn answer(pool: &Pool, how: How, method: &'static str, params: &Params) -> Answer {
    call(pool, how, method, params)
        .await
        .map_err(errors::of_daemon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_params_alone_go_on_as_they_came() {
        let table = [
            (r#"{"sessionId":"s","x":1}"#, r#"{"sessionId":"s"}"#),
            (
                r#"{ "_meta": {"a" : 1.50}, "session_id": "other", "sessionId": 7 }"#,
                r#"{"sessionId":7,"_meta":{"a" : 1.50}}"#,
            ),
            (
                r#"{"sessionId":"a","sessionId":"b"}"#,
                r#"{"sessionId":"b"}"#,
            ),
            ("{}", "{}"),
        ];
        for (given, want) in table {
            let members = Members::of(given).unwrap();
            let params = Params::known(&members, &["sessionId", "_meta"]).unwrap();
            assert_eq!(params.text(), want, "{given}");
        }
    }

    #[test]
    fn what_the_daemon_would_not_take_in_a_line_is_refused() {
        let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_PARAMS_BYTES));
        let refused = Params::of(text).unwrap_err();
        assert_eq!(errors::data_of(&refused)["kind"], "line_too_long");
    }
}
