//! The `_meta` of answers about terminals.

use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use termd_proto::terminal::EndCause as Limit;

use super::daemon::Params;
use super::method::Answer;
use crate::rpc_errors;
use crate::terminals::terminal::{EndCause, Terminal};

/// Completes an answer of the proxy itself with the request's `_meta`, if that is an object.
pub(super) fn with_meta_of(params: &Params, answer: Map<String, Value>) -> Answer {
    let mut answer = answer;
    let params: Map<String, Value> = serde_json::from_str(params.text()).unwrap_or_default();
    if let Some(meta @ Value::Object(_)) = params.get("_meta") {
        answer.insert("_meta".to_owned(), meta.clone());
    }
    to_raw_value(&answer).map_err(|error| rpc_errors::invalid_params("_meta", &error.to_string()))
}

/// Adds to `_meta.termd` why the proxy ended the command, if it did.
pub(super) fn with_cause(answer: Box<RawValue>, terminal: &Terminal) -> Box<RawValue> {
    match terminal.exit().and_then(|exit| exit.cause) {
        Some(EndCause::TimedOut(timeout)) => with_timeout(&answer, timeout).unwrap_or(answer),
        None => answer,
    }
}

/// Adds to `_meta.termd` which limit ended the command, as the daemon's answers do.
pub(super) fn with_limit(answer: Box<RawValue>, limit: Option<Limit>) -> Box<RawValue> {
    let Some(limit) = limit else {
        return answer;
    };
    in_termd_meta(&answer, |termd| {
        termd.insert("end_cause".to_owned(), json!(limit));
    })
    .unwrap_or(answer)
}

fn with_timeout(answer: &RawValue, timeout: Duration) -> Option<Box<RawValue>> {
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    in_termd_meta(answer, |termd| {
        termd.insert("ended_by".to_owned(), json!("timeout"));
        termd.insert("timeout_ms".to_owned(), json!(timeout_ms));
    })
}

fn in_termd_meta(
    answer: &RawValue,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Option<Box<RawValue>> {
    let mut answer: Map<String, Value> = serde_json::from_str(answer.get()).ok()?;
    in_object(&mut answer, "_meta", |meta| {
        in_object(meta, "termd", change);
    });
    to_raw_value(&answer).ok()
}

/// Changes a member that is an object. Another value is replaced by an empty object first.
pub(super) fn in_object(
    of: &mut Map<String, Value>,
    name: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let mut members = match of.remove(name) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    change(&mut members);
    of.insert(name.to_owned(), Value::Object(members));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_by_a_timeout_is_said_beside_what_is_there() {
        let ours = json!({ "ended_by": "timeout", "timeout_ms": 1500 });
        let table = [
            (
                json!({ "exitCode": 1 }),
                json!({ "exitCode": 1, "_meta": { "termd": ours } }),
            ),
            (
                json!({ "output": "", "_meta": { "a": 1, "termd": { "start": 0, "end": 7 } } }),
                json!({ "output": "", "_meta": { "a": 1, "termd":
                    { "start": 0, "end": 7, "ended_by": "timeout", "timeout_ms": 1500 } } }),
            ),
            (
                json!({ "_meta": { "termd": "the agent's" } }),
                json!({ "_meta": { "termd": ours } }),
            ),
        ];
        for (answer, want) in table {
            let raw = to_raw_value(&answer).unwrap();
            let got = with_timeout(&raw, Duration::from_millis(1_500)).unwrap();
            let got: Value = serde_json::from_str(got.get()).unwrap();
            assert_eq!(got, want);
        }
    }

    #[test]
    fn a_limit_is_said_as_the_daemon_says_it() {
        let answer = json!({ "exitCode": 153, "_meta": { "a": 1 } });
        let raw = || to_raw_value(&answer).unwrap();
        let got = with_limit(raw(), Some(Limit::FileBytes));
        let got: Value = serde_json::from_str(got.get()).unwrap();
        let meta = json!({ "a": 1, "termd": { "end_cause": "file_bytes" } });
        assert_eq!(got, json!({ "exitCode": 153, "_meta": meta }));
        assert_eq!(with_limit(raw(), None).get(), raw().get());
    }

    #[test]
    fn an_answer_of_ours_has_the_requests_meta() {
        let table = [
            (r#"{"_meta":{"a":1}}"#, json!({ "_meta": { "a": 1 } })),
            (r#"{"_meta":null}"#, json!({})),
            (r#"{"_meta":"x"}"#, json!({})),
            ("{}", json!({})),
        ];
        for (params, want) in table {
            let params = Params::of(params.to_owned()).unwrap();
            let got = with_meta_of(&params, Map::new()).unwrap();
            let got: Value = serde_json::from_str(got.get()).unwrap();
            assert_eq!(got, want);
        }
    }
}
