//! Our own requests to the client: their ids are nobody else's, and their answers go no further.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::wire::message::RequestId;
use super::wire::outlet::Outlet;

/// Requests to the client.
#[derive(Debug)]
pub(super) struct Requests {
    /// What all ids of this process begin with. An agent's own id is not this by any accident.
    prefix: String,
    next: AtomicU64,
    pending: Mutex<HashMap<RequestId, oneshot::Sender<Option<Value>>>>,
}

impl Default for Requests {
    fn default() -> Self {
        // Unlike any other process's, and not to be guessed by habit: pid and the clock's nanoseconds.
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

/// Tells the client that nobody waits for an answer any more, unless it came.
struct Withdrawn<'a> {
    requests: &'a Requests,
    id: RequestId,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        self.requests.lock().remove(&self.id);
    }
}

impl Requests {
    /// Asks, and waits for the answer: its result, or `None` for an error or an end of the
    /// connection. Dropped, it is forgotten.
    pub(super) async fn ask(&self, client: &Outlet, method: &str, params: Value) -> Option<Value> {
        let id = format!(
            "{}{}",
            self.prefix,
            self.next.fetch_add(1, Ordering::Relaxed)
        );
        let key = RequestId::of_string(&id);
        let (answer, answered) = oneshot::channel();
        self.lock().insert(key.clone(), answer);
        let _withdrawn = Withdrawn {
            requests: self,
            id: key,
        };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        client.message(&request).await.ok()?;
        answered.await.ok()?
    }

    /// An answer of the client's: whether it was to one of ours.
    pub(super) fn answered(&self, id: &RequestId, result: Option<&RawValue>) -> bool {
        let Some(answer) = self.lock().remove(id) else {
            // Nobody waits for it any more: still not the agent's.
            return id.as_json().starts_with(&format!("\"{}", self.prefix));
        };
        let result = result.and_then(|result| serde_json::from_str(result.get()).ok());
        // Who has stopped waiting needs no answer.
        let _ = answer.send(result);
        true
    }

    fn lock(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Option<Value>>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
