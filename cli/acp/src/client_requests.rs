//! The proxy's own requests to the client. Their ids are unique, and their answers are not forwarded.
//!
//! A request that is given up before its answer is cancelled by `$/cancel_request`, and a late answer
//! is dropped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::wire::line_writer::LineWriter;
use crate::wire::message::RequestId;
use serde_json::value::RawValue;

/// Most requests without an answer: a person does not answer more.
const MAX_PENDING: usize = 64;

/// The requests to the client.
#[derive(Debug)]
pub(crate) struct ClientRequests {
    /// The prefix of all ids of this process, which no id of an agent has by accident.
    prefix: String,
    next: AtomicU64,
    pending: Mutex<HashMap<RequestId, oneshot::Sender<Option<Value>>>>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The client's result.
    Result(Value),
    /// The client answered with an error, is gone, or has too many requests already.
    Error,
    /// The request was given up, and the client was notified.
    Withdrawn,
}

impl Default for ClientRequests {
    fn default() -> Self {
        // The pid and the clock's nanoseconds make the prefix unique among processes.
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        Self {
            prefix: format!("termctl-{}-{now:x}-", std::process::id()),
            next: AtomicU64::new(0),
            pending: Mutex::default(),
        }
    }
}

impl ClientRequests {
    /// Makes an id that is unique among processes.
    pub(crate) fn unique_id(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{}{number}", self.prefix)
    }

    /// Sends a request and waits until it is answered or given up. Not cancel safe, since it writes
    /// lines: run it in a task.
    pub(crate) async fn send(
        &self,
        client: &LineWriter,
        method: &str,
        params: Value,
        given_up: impl Future<Output = ()>,
    ) -> Answer {
        let id = self.unique_id();
        let key = RequestId::of_string(&id);
        let (answer, answered) = oneshot::channel();
        {
            let mut pending = self.lock();
            if pending.len() >= MAX_PENDING {
                return Answer::Error;
            }
            pending.insert(key.clone(), answer);
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if client.message(&request).await.is_err() {
            self.lock().remove(&key);
            return Answer::Error;
        }
        tokio::select! {
            biased;
            answer = answered => match answer {
                Ok(Some(result)) => Answer::Result(result),
                Ok(None) | Err(_) => Answer::Error,
            },
            () = given_up => {
                if self.lock().remove(&key).is_some() {
                    let params = json!({ "requestId": id });
                    let withdrawn =
                        json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
                    // The client may be gone.
                    let _ = client.message(&withdrawn).await;
                }
                Answer::Withdrawn
            }
        }
    }

    /// Takes an answer of the client. Returns whether it answers a request of the proxy.
    pub(crate) fn answered(&self, id: &RequestId, result: Option<&RawValue>) -> bool {
        let Some(answer) = self.lock().remove(id) else {
            // The answer to a request that was given up is not the agent's either.
            let ours = id.as_json().strip_prefix('"');
            return ours.is_some_and(|ours| ours.starts_with(&self.prefix));
        };
        let result = result.and_then(|result| serde_json::from_str(result.get()).ok());
        // The waiting task may be gone.
        let _ = answer.send(result);
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Option<Value>>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream};

    use super::*;

    struct Client(BufReader<DuplexStream>);

    impl Client {
        async fn hears(&mut self) -> Value {
            let mut line = String::new();
            self.0.read_line(&mut line).await.unwrap();
            serde_json::from_str(&line).unwrap()
        }
    }

    fn ends() -> (Client, Arc<LineWriter>) {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        (
            Client(BufReader::new(theirs)),
            Arc::new(LineWriter::new(ours)),
        )
    }

    fn id_of(request: &Value) -> RequestId {
        RequestId::of_string(request["id"].as_str().unwrap())
    }

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    #[tokio::test]
    async fn an_answer_comes_to_who_asked_and_nobody_else() {
        let (mut client, outlet) = ends();
        let requests = Arc::new(ClientRequests::default());
        for (result, want) in [
            (Some(r#"{"a":1}"#), Answer::Result(json!({ "a": 1 }))),
            (None, Answer::Error),
        ] {
            let (asking, to) = (Arc::clone(&requests), Arc::clone(&outlet));
            let asked = tokio::spawn(async move {
                let for_ever = std::future::pending();
                asking.send(&to, "x/y", json!({ "p": 2 }), for_ever).await
            });
            let request = client.hears().await;
            assert_eq!(request["method"], "x/y");
            assert_eq!(request["params"], json!({ "p": 2 }));
            let id = id_of(&request);
            assert!(!requests.answered(&RequestId::of_string("another"), None));
            let raw = result.map(raw);
            assert!(requests.answered(&id, raw));
            assert_eq!(asked.await.unwrap(), want);
            // Once more, and late: swallowed.
            assert!(requests.answered(&id, raw));
        }
    }

    #[tokio::test]
    async fn what_is_given_up_is_withdrawn() {
        let (mut client, outlet) = ends();
        let requests = Arc::new(ClientRequests::default());
        let (give_up, given_up) = oneshot::channel::<()>();
        let (asking, to) = (Arc::clone(&requests), Arc::clone(&outlet));
        let asked = tokio::spawn(async move {
            let given_up = async move {
                let _ = given_up.await;
            };
            asking.send(&to, "x/y", json!({}), given_up).await
        });
        let request = client.hears().await;
        drop(give_up);
        let withdrawn = client.hears().await;
        assert_eq!(withdrawn["method"], "$/cancel_request");
        assert_eq!(withdrawn["params"]["requestId"], request["id"]);
        assert_eq!(asked.await.unwrap(), Answer::Withdrawn);
        assert!(requests.answered(&id_of(&request), None));
    }

    #[tokio::test]
    async fn there_are_not_too_many_and_the_next_gets_through() {
        let (mut client, outlet) = ends();
        let requests = Arc::new(ClientRequests::default());
        let ask = || {
            let (asking, to) = (Arc::clone(&requests), Arc::clone(&outlet));
            tokio::spawn(async move {
                let for_ever = std::future::pending();
                asking.send(&to, "x/y", json!({}), for_ever).await
            })
        };
        let asked: Vec<_> = (0..MAX_PENDING).map(|_| ask()).collect();
        let mut ids = Vec::new();
        for _ in &asked {
            ids.push(id_of(&client.hears().await));
        }
        assert_eq!(ask().await.unwrap(), Answer::Error);
        requests.answered(&ids[0], None);
        let next = ask();
        requests.answered(&id_of(&client.hears().await), Some(raw("1")));
        assert_eq!(next.await.unwrap(), Answer::Result(json!(1)));
    }

    #[tokio::test]
    async fn a_client_that_is_gone_answers_nothing() {
        let (client, outlet) = ends();
        drop(client);
        let requests = ClientRequests::default();
        let for_ever = std::future::pending();
        let answer = requests.send(&outlet, "x/y", json!({}), for_ever).await;
        assert_eq!(answer, Answer::Error);
        assert!(requests.lock().is_empty());
    }
}
