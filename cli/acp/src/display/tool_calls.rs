//! The tool calls of all sessions, and what is remembered of each.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep_until};

use super::content::Content;
use super::known_fields::KnownFields;
use super::round::{Round, Rounds};
use super::stream::Stream;
use super::tool_call_update::{Kind, Status, ToolCallUpdate};

/// Most tool calls that are remembered; the oldest is forgotten first, and not updated any more.
/// Agents make hundreds in a long session, and few at a time.
pub(super) const MAX_CALLS: usize = 1_024;
/// Shortest time between two updates of the proxy for a tool call. Ten a second look live to a
/// person, and are cheap for a client that draws the whole content each time.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);
/// Pause before an unreachable daemon is called again.
pub(super) const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// A tool call of an ACP session.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) session: String,
    /// The `toolCallId`, unique within the session.
    pub(super) id: String,
    /// Locked while a message of the tool call is composed and written, which keeps them in order.
    pub(super) state: Mutex<CallState>,
    /// The proxy sends no more updates.
    over: AtomicBool,
    pub(super) rounds: Rounds,
}

/// What is known of a tool call.
#[derive(Debug)]
pub(super) struct CallState {
    /// For the meta mode: what the agent said beside the content.
    pub(super) fields: KnownFields,
    /// For the text mode.
    pub(super) content: Option<Content>,
    /// For the meta mode.
    pub(super) streams: Vec<Arc<Stream>>,
    /// The earliest time of the next update by the proxy.
    pub(super) next_at: Instant,
}

impl ToolCall {
    fn new(session: &str, id: &str) -> Self {
        Self {
            session: session.to_owned(),
            id: id.to_owned(),
            state: Mutex::new(CallState {
                fields: KnownFields::default(),
                content: None,
                streams: Vec::new(),
                next_at: Instant::now(),
            }),
            over: AtomicBool::new(false),
            rounds: Rounds::default(),
        }
    }

    /// Locks the state as soon as an update of the proxy may be sent; `None` once the round is over.
    pub(super) async fn turn(&self, round: &mut Round) -> Option<MutexGuard<'_, CallState>> {
        loop {
            let state = self.state.lock().await;
            if !round.is_current() {
                return None;
            }
            let next_at = state.next_at;
            if next_at <= Instant::now() {
                return Some(state);
            }
            drop(state);
            tokio::select! {
                biased;
                () = round.ended() => return None,
                () = sleep_until(next_at) => {}
            }
        }
    }

    /// Whether the tool call is completed, failed or forgotten.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Takes the status of an update. A new `tool_call` without a status is open.
    pub(super) fn take_status(&self, update: &ToolCallUpdate<'_>) {
        let over = match (update.status, update.kind) {
            (Some(status), _) => status == Status::Over,
            (None, Kind::Call) => false,
            (None, Kind::Update | Kind::Permission) => return,
        };
        self.over.store(over, Ordering::Relaxed);
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.rounds.next();
    }
}

/// The tool calls of all sessions.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    by_name: HashMap<(String, String), Arc<ToolCall>>,
    /// Oldest first.
    order: VecDeque<(String, String)>,
}

impl ToolCalls {
    pub(super) fn get(&self, session: &str, id: &str) -> Option<Arc<ToolCall>> {
        let name = (session.to_owned(), id.to_owned());
        self.by_name.get(&name).cloned()
    }

    /// Finds a tool call, or adds it.
    pub(super) fn get_or_add(&mut self, session: &str, id: &str) -> Arc<ToolCall> {
        if let Some(call) = self.get(session, id) {
            return call;
        }
        if self.order.len() >= MAX_CALLS
            && let Some(oldest) = self.order.pop_front()
            && let Some(call) = self.by_name.remove(&oldest)
        {
            call.end();
        }
        let call = Arc::new(ToolCall::new(session, id));
        let name = (session.to_owned(), id.to_owned());
        self.by_name.insert(name.clone(), Arc::clone(&call));
        self.order.push_back(name);
        call
    }

    /// Forgets the tool calls of a session.
    pub(super) fn forget(&mut self, session: &str) {
        self.order.retain(|(of, _)| of != session);
        self.by_name.retain(|(of, _), call| {
            if of == session {
                call.end();
            }
            of != session
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_is_forgotten_and_followed_no_further() {
        let mut calls = ToolCalls::default();
        let first = calls.get_or_add("s", "0");
        let mut round = first.rounds.next();
        for number in 1..MAX_CALLS {
            calls.get_or_add("s", &number.to_string());
        }
        assert!(Arc::ptr_eq(&first, &calls.get_or_add("s", "0")));
        assert!(round.is_current() && !first.is_over());
        calls.get_or_add("s", "one more");
        round.ended().await;
        assert!(first.is_over());
        assert!(calls.get("s", "0").is_none());
        assert_eq!(calls.by_name.len(), MAX_CALLS);
        assert_eq!(calls.order.len(), MAX_CALLS);
    }

    #[tokio::test]
    async fn a_sessions_calls_are_forgotten_together() {
        let mut calls = ToolCalls::default();
        let (of_s, of_t) = (calls.get_or_add("s", "c"), calls.get_or_add("t", "c"));
        let (mut followed, other) = (of_s.rounds.next(), of_t.rounds.next());
        calls.forget("s");
        followed.ended().await;
        assert!(other.is_current());
        assert!(calls.get("s", "c").is_none() && calls.get("t", "c").is_some());
        assert_eq!(calls.order.len(), 1);
    }
}
