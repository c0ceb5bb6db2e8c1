//! Makes a `terminal/*` call to the daemon, with params and answer as raw JSON.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use termd_client::{ClientError, Pool, RawRequest};

use super::method::Answer;
use crate::rpc_errors::{self, ErrorObjectOwned};
use crate::wire::message::Members;

/// Longest params: the daemon accepts lines of 4 MiB, and the rest of the line is below 1 KiB.
const MAX_PARAMS_BYTES: usize = (4 << 20) - 1_024;

/// The params of a call as they are sent.
#[derive(Debug, Clone)]
pub(super) struct Params(Arc<RawValue>);

impl Params {
    /// Takes those of the agent's params that the method has, each as it came. The daemon would accept
    /// others by another name or by position, which were not checked here.
    pub(super) fn known(params: &Members<'_>, names: &[&str]) -> Result<Self, ErrorObjectOwned> {
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

    /// Takes the text of an object.
    pub(super) fn of(text: String) -> Result<Self, ErrorObjectOwned> {
        if text.len() > MAX_PARAMS_BYTES {
            return Err(rpc_errors::too_long(MAX_PARAMS_BYTES));
        }
        RawValue::from_string(text)
            .map(|raw| Self(raw.into()))
            .map_err(|error| rpc_errors::invalid_params("params", &error.to_string()))
    }

    pub(super) fn text(&self) -> &str {
        self.0.get()
    }
}

/// Whether a call may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The call must not be made twice.
    Once,
    /// The call may be repeated after a reconnect.
    Repeat,
    /// The call may be repeated, and takes long.
    Wait,
}

/// Makes a call.
pub(super) async fn call(
    pool: &Pool,
    kind: CallKind,
    method: &'static str,
    params: &Params,
) -> Result<Box<RawValue>, ClientError> {
    let request = RawRequest {
        method,
        params: Arc::clone(&params.0),
    };
    match kind {
        CallKind::Once => pool.once(&request).await,
        CallKind::Repeat => pool.repeat(&request).await,
        CallKind::Wait => pool.wait(&request).await,
    }
}

/// Makes a call, with errors for the agent.
pub(super) async fn answer(
    pool: &Pool,
    kind: CallKind,
    method: &'static str,
    params: &Params,
) -> Answer {
    call(pool, kind, method, params)
        .await
        .map_err(rpc_errors::of_daemon)
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
        assert_eq!(rpc_errors::data_of(&refused)["kind"], "line_too_long");
    }
}
