//! The tool calls that are remembered, and what of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard, watch};
use tokio::time::{Instant, sleep_until};

use super::head::Head;
use super::live::Shown;
use super::stream::Stream;

/// Most tool calls that are remembered, of all sessions; the oldest is forgotten first, and shown
/// no further. Agents make hundreds in a long session, and few at a time.
pub(super) const MAX_CALLS: usize = 1_024;
/// The shortest time between two updates of ours for a tool call: ten a second are live to a
/// person, and cheap to a client that draws the whole of it each time.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// A tool call of an ACP session.
#[derive(Debug)]
pub(super) struct Call {
    /// The session.
    pub(super) session: String,
    /// Its id in the session.
    pub(super) id: String,
    /// Held while something of it is composed and written, so that what goes out of it is in order.
    pub(super) state: Mutex<CallState>,
    /// Nothing more is to be said of it by ourselves.
    over: AtomicBool,
    /// Counts what it has embedded: who follows an earlier embedding ends.
    round: watch::Sender<u64>,
}

/// What is known of a tool call.
#[derive(Debug)]
pub(super) struct CallState {
    /// What the agent has said of it, beside its content.
    pub(super) head: Head,
    /// As text: its content.
    pub(super) shown: Option<Shown>,
    /// By `_meta`: its terminals.
    pub(super) streams: Vec<Arc<Stream>>,
    /// No update of ours before this.
    pub(super) next_at: Instant,
}

/// Until when somebody follows a terminal for a tool call.
#[derive(Debug, Clone)]
pub(super) struct Round {
    number: u64,
    now: watch::Receiver<u64>,
}

impl Round {
    /// Whether it is still the same.
    pub(super) fn goes_on(&self) -> bool {
        *self.now.borrow() == self.number
    }

    /// Done when it is over.
    pub(super) async fn ended(&mut self) {
        let number = self.number;
        // A call that is forgotten has no further rounds.
        let _ = self.now.wait_for(|now| *now != number).await;
    }
}

impl Call {
    fn new(session: &str, id: &str) -> Self {
        Self {
            session: session.to_owned(),
            id: id.to_owned(),
            state: Mutex::new(CallState {
                head: Head::default(),
                shown: None,
                streams: Vec::new(),
                next_at: Instant::now(),
            }),
            over: AtomicBool::new(false),
            round: watch::Sender::new(0),
        }
    }

    /// Whoever follows what it has embedded so far ends; for whoever follows what it embeds now.
    pub(super) fn next_round(&self) -> Round {
        let mut number = 0;
        self.round.send_modify(|round| {
            *round += 1;
            number = *round;
        });
        Round {
            number,
            now: self.round.subscribe(),
        }
    }

    /// Its state, as soon as an update of ours may be sent for it; `None` once the round is over.
    pub(super) async fn turn(&self, round: &mut Round) -> Option<MutexGuard<'_, CallState>> {
        loop {
            let state = self.state.lock().await;
            if !round.goes_on() {
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

    /// Whether it is completed or failed, or forgotten.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// It is, or is no longer.
    pub(super) fn set_over(&self, over: bool) {
        self.over.store(over, Ordering::Relaxed);
    }

    fn end(&self) {
        self.set_over(true);
        self.next_round();
    }
}

/// The tool calls of all sessions.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_name: HashMap<(String, String), Arc<Call>>,
    /// Oldest first.
    order: VecDeque<(String, String)>,
}

impl Calls {
    /// One that is remembered.
    pub(super) fn get(&self, session: &str, id: &str) -> Option<Arc<Call>> {
        let name = (session.to_owned(), id.to_owned());
        self.by_name.get(&name).cloned()
    }

    /// It, remembered from now on.
    pub(super) fn of(&mut self, session: &str, id: &str) -> Arc<Call> {
        if let Some(call) = self.get(session, id) {
            return call;
        }
        if self.order.len() >= MAX_CALLS
            && let Some(oldest) = self.order.pop_front()
            && let Some(call) = self.by_name.remove(&oldest)
        {
            call.end();
        }
        let call = Arc::new(Call::new(session, id));
        let name = (session.to_owned(), id.to_owned());
        self.by_name.insert(name.clone(), Arc::clone(&call));
        self.order.push_back(name);
        call
    }

    /// Forgets a session's.
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
        let mut calls = Calls::default();
        let first = calls.of("s", "0");
        let mut round = first.next_round();
        for number in 1..MAX_CALLS {
            calls.of("s", &number.to_string());
        }
        assert!(Arc::ptr_eq(&first, &calls.of("s", "0")));
        assert!(round.goes_on() && !first.is_over());
        calls.of("s", "one more");
        round.ended().await;
        assert!(first.is_over());
        assert!(calls.get("s", "0").is_none());
        assert_eq!(calls.by_name.len(), MAX_CALLS);
        assert_eq!(calls.order.len(), MAX_CALLS);
    }

    #[tokio::test]
    async fn a_sessions_calls_are_forgotten_together() {
        let mut calls = Calls::default();
        let (of_s, of_t) = (calls.of("s", "c"), calls.of("t", "c"));
        let (mut followed, other) = (of_s.next_round(), of_t.next_round());
        calls.forget("s");
        followed.ended().await;
        assert!(other.goes_on());
        assert!(calls.get("s", "c").is_none() && calls.get("t", "c").is_some());
        assert_eq!(calls.order.len(), 1);
    }
}
