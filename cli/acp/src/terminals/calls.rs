//! `terminal/output`, `wait_for_exit`, `kill` and `release`: the daemon's answers, for terminals
//! that were created here.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::terminal::{EndCause as Limit, ExitStatus};
use termd_proto::{ErrorKind, code};

use super::super::Shared;
use super::daemon::{self, How, Params, Refused};
use super::tracked::{EndCause, Ended, Entry};
use super::watch::show;
use super::{Answer, Method, errors};
use crate::wire::message::Members;

/// What these methods know.
const PARAMS: [&str; 3] = ["sessionId", "terminalId", "_meta"];
/// How long a kill that was answered may stay without the exit that it brought.
const EXIT_IS_TOLD_WITHIN: Duration = Duration::from_secs(1);

/// A call as the agent has made it, its terminal found: what comes later cannot be before it.
#[derive(Debug)]
pub(super) struct Named {
    method: Method,
    params: Params,
    /// `None`: the params name none, and the daemon says what is wrong with them.
    entry: Option<Arc<Entry>>,
}

impl Named {
    /// What is called.
    pub(super) fn method(&self) -> Method {
        self.method
    }

    /// Reads the params.
    pub(super) fn read(shared: &Shared, method: Method, params: &str) -> Result<Self, Refused> {
        let members = Members::of(params).unwrap_or_default();
        let (session, id) = (members.string("sessionId"), members.string("terminalId"));
        let entry = match (session, id) {
            (Some(session), Some(id)) => {
                let found = shared.terminals.table.open(&session, &id);
                Some(found.ok_or_else(|| errors::not_found(&id))?)
            }
            _ => None,
        };
        Ok(Self {
            method,
            params: Params::known(&members, &PARAMS)?,
            entry,
        })
    }

    /// Asks the daemon; what the agent is answered.
    pub(super) async fn answer(self, shared: &Arc<Shared>) -> Answer {
        let method = self.method.name();
        let Some(entry) = &self.entry else {
            return daemon::answer(&shared.pool, How::Repeat, method, &self.params).await;
        };
        match self.method {
            Method::WaitForExit => wait(shared, entry, &self.params).await,
            Method::Kill => {
                let killed =
                    daemon::answer(&shared.pool, How::Repeat, method, &self.params).await?;
                // It counts no more for --max-terminals when the agent hears of it.
                let _ = tokio::time::timeout(EXIT_IS_TOLD_WITHIN, entry.end()).await;
                Ok(killed)
            }
            Method::Release => {
                let (shared, entry) = (Arc::clone(shared), Arc::clone(entry));
                let work = shared.terminals.underway();
                // Begun, it is done: also where the agent cancels.
                let released = tokio::spawn(async move {
                    let answer = release(&shared, &entry, &self.params).await;
                    drop(work);
                    answer
                });
                released.await.unwrap_or_else(|_| Err(errors::ending()))
            }
            Method::Output | Method::Create => {
                let output =
                    daemon::answer(&shared.pool, How::Repeat, method, &self.params).await?;
                let members = Members::of(output.get()).unwrap_or_default();
                let Some(status) = members.object("exitStatus") else {
                    return Ok(output);
                };
                entry.learn(status_of(&status));
                Ok(with_cause(output, entry))
            }
        }
    }
}

async fn wait(shared: &Shared, entry: &Entry, params: &Params) -> Answer {
    let waited = daemon::call(&shared.pool, How::Wait, Method::WaitForExit.name(), params).await;
    let exit = match waited {
        Ok(exit) => exit,
        // It was open when the agent asked: a release has overtaken the wait, which outlives it.
        Err(ClientError::Refused(refusal)) if is_not_found(&refusal) => {
            let status = entry.end().await;
            let mut exit = Map::new();
            exit.insert("exitCode".to_owned(), json!(status.exit_code));
            exit.insert("signal".to_owned(), json!(status.signal));
            let shown = show(shared, entry).await.ok();
            with_limit(
                with_meta_of(params, exit)?,
                shown.and_then(|it| it.end_cause),
            )
        }
        Err(error) => return Err(errors::of_daemon(error)),
    };
    entry.learn(status_of(&Members::of(exit.get()).unwrap_or_default()));
    Ok(with_cause(exit, entry))
}

/// Releases a terminal: what it shows is kept first.
pub(super) async fn release(shared: &Arc<Shared>, entry: &Entry, params: &Params) -> Answer {
    shared.display.keep(shared, &entry.tracked).await;
    let method = Method::Release.name();
    let mut released = daemon::call(&shared.pool, How::Once, method, params).await;
    if matches!(released, Err(ClientError::InDoubt)) {
        released = daemon::call(&shared.pool, How::Once, method, params).await;
        if matches!(&released, Err(ClientError::Refused(refusal)) if is_not_found(refusal)) {
            // The first was carried out.
            released = with_meta_of(params, Map::new()).map_err(ClientError::Refused);
        }
    }
    let is_gone = match &released {
        Ok(_) => true,
        Err(ClientError::Refused(refusal)) => is_not_found(refusal),
        Err(_) => false,
    };
    if is_gone {
        shared.terminals.table.release(entry);
        // Without a connection nothing is held.
        let _ = shared.pool.stop_holding(&entry.tracked.id).await;
    }
    released.map_err(errors::of_daemon)
}

/// The params that name a terminal.
pub(super) fn naming(entry: &Entry) -> Result<Params, Refused> {
    let named = json!({ "sessionId": entry.tracked.session, "terminalId": entry.tracked.id });
    Params::of(named.to_string())
}

fn is_not_found(refusal: &Refused) -> bool {
    refusal.code() == code::RESOURCE_NOT_FOUND
        && kind_of(refusal) == Some(ErrorKind::TerminalNotFound)
}

fn status_of(members: &Members<'_>) -> ExitStatus {
    let read = |name: &str| members.get(name).map_or("null", RawValue::get);
    ExitStatus {
        exit_code: serde_json::from_str(read("exitCode")).unwrap_or_default(),
        signal: members.string("signal"),
    }
}

/// An answer of our own, with the request's `_meta` where that is an object.
fn with_meta_of(params: &Params, answer: Map<String, Value>) -> Answer {
    let mut answer = answer;
    let params: Map<String, Value> = serde_json::from_str(params.text()).unwrap_or_default();
    if let Some(meta @ Value::Object(_)) = params.get("_meta") {
        answer.insert("_meta".to_owned(), meta.clone());
    }
    to_raw_value(&answer).map_err(|error| errors::invalid_params("_meta", &error.to_string()))
}

/// Says in `_meta.termd` why a command was ended from here; an answer about any other is as it was.
fn with_cause(answer: Box<RawValue>, entry: &Entry) -> Box<RawValue> {
    let ended = entry.tracked.ended.borrow().clone();
    let Some(Ended {
        cause: Some(EndCause::TimedOut(timeout)),
        ..
    }) = ended
    else {
        return answer;
    };
    marked(&answer, timeout).unwrap_or(answer)
}

/// Says in `_meta.termd` which limit has ended a command, as the daemon's own answers do.
fn with_limit(answer: Box<RawValue>, limit: Option<Limit>) -> Box<RawValue> {
    let Some(limit) = limit else {
        return answer;
    };
    in_termd_meta(&answer, |termd| {
        termd.insert("end_cause".to_owned(), json!(limit));
    })
    .unwrap_or(answer)
}

fn marked(answer: &RawValue, timeout: Duration) -> Option<Box<RawValue>> {
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

/// Changes a member that is an object; where it is none, it gives way to one.
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
            let got = marked(&raw, Duration::from_millis(1_500)).unwrap();
            let got: Value = serde_json::from_str(got.get()).unwrap();
            assert_eq!(got, want);
        }
    }

    #[test]
    fn a_limit_is_said_as_the_daemon_says_it() {
        let answer = json!({ "exitCode": 153, "_meta": { "a": 1 } });
        let raw = || to_raw_value(&answer).unwrap();
        let told = with_limit(raw(), Some(Limit::FileBytes));
        let told: Value = serde_json::from_str(told.get()).unwrap();
        let meta = json!({ "a": 1, "termd": { "end_cause": "file_bytes" } });
        assert_eq!(told, json!({ "exitCode": 153, "_meta": meta }));
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

    #[test]
    fn statuses_are_read() {
        let table = [
            (r#"{"exitCode":3,"signal":null}"#, (Some(3), None)),
            (
                r#"{"exitCode":null,"signal":"SIGKILL"}"#,
                (None, Some("SIGKILL")),
            ),
            ("{}", (None, None)),
        ];
        for (text, (exit_code, signal)) in table {
            let got = status_of(&Members::of(text).unwrap());
            let signal = signal.map(str::to_owned);
            assert_eq!(got, ExitStatus { exit_code, signal });
        }
    }
}
