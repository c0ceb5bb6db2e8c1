//! The agent's calls in flight, which it can cancel by id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::wire::message::RequestId;

/// Most waits in flight, and most other calls: as many as the daemon accepts on one connection. The
/// two are counted apart, so an agent with too many waits can still kill a command.
pub(crate) const MAX_IN_FLIGHT: usize = 1_024;

/// The kind of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Waits for an exit.
    Wait,
    /// Creates a terminal of this session.
    Create(String),
    /// Is answered at once.
    Short,
}

/// The calls in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    calls: HashMap<u64, Call>,
}

#[derive(Debug)]
struct Call {
    id: RequestId,
    purpose: Purpose,
    cancel: Option<oneshot::Sender<()>>,
}

impl Call {
    fn cancel(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            // The answer may be on its way.
            let _ = cancel.send(());
        }
    }
}

/// Keeps a call in flight until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard {
    in_flight: Arc<InFlight>,
    key: u64,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.in_flight.lock().calls.remove(&self.key);
    }
}

impl InFlight {
    /// Begins a call. The receiver resolves when the call is cancelled. `None` if there are too many.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &RequestId,
        purpose: Purpose,
    ) -> Option<(InFlightGuard, oneshot::Receiver<()>)> {
        let (cancel, cancelled) = oneshot::channel();
        let mut state = self.lock();
        let is_wait = purpose == Purpose::Wait;
        let alike =
            (state.calls.values()).filter(|call| (call.purpose == Purpose::Wait) == is_wait);
        if alike.count() >= MAX_IN_FLIGHT {
            return None;
        }
        let key = state.next;
        state.next += 1;
        let call = Call {
            id: id.clone(),
            purpose,
            cancel: Some(cancel),
        };
        state.calls.insert(key, call);
        let in_flight = Arc::clone(self);
        Some((InFlightGuard { in_flight, key }, cancelled))
    }

    /// Cancels all calls with this id. Returns whether there is one.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let mut state = self.lock();
        let named = state.calls.values_mut().filter(|call| call.id == *id);
        named.map(Call::cancel).count() > 0
    }

    /// Cancels the creates of one session, or of all.
    pub(crate) fn cancel_creates(&self, session: Option<&str>) {
        let mut state = self.lock();
        for call in state.calls.values_mut() {
            if let Purpose::Create(of) = &call.purpose
                && session.is_none_or(|session| session == of)
            {
                call.cancel();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_cancelled_by_id_whatever_its_type_and_both_of_two() {
        let in_flight = Arc::new(InFlight::default());
        let id = RequestId::of_string("1");
        let (first, mut cancelled) = in_flight.begin(&id, Purpose::Wait).unwrap();
        let create = Purpose::Create("s".to_owned());
        let (_second, mut cancelled_too) = in_flight.begin(&id, create).unwrap();
        assert!(!in_flight.cancel(&RequestId::of_string("2")));
        assert!(cancelled.try_recv().is_err());
        assert!(in_flight.cancel(&id));
        assert!(cancelled.try_recv().is_ok() && cancelled_too.try_recv().is_ok());
        drop(first);
        assert!(in_flight.cancel(&id), "the second is in flight");
    }

    #[test]
    fn creates_of_a_session_are_cancelled_and_no_waits() {
        let in_flight = Arc::new(InFlight::default());
        let id = RequestId::of_string("1");
        let create = |session: &str| Purpose::Create(session.to_owned());
        let purposes = [Purpose::Wait, create("a"), create("b")];
        let mut calls = purposes.map(|purpose| in_flight.begin(&id, purpose).unwrap());
        let mut states = || calls.each_mut().map(|(_, call)| call.try_recv().is_ok());
        in_flight.cancel_creates(Some("a"));
        assert_eq!(states(), [false, true, false]);
        in_flight.cancel_creates(None);
        assert_eq!(states(), [false, false, true]);
    }

    #[test]
    fn there_are_not_too_many() {
        let in_flight = Arc::new(InFlight::default());
        let id = RequestId::of_string("1");
        let mut calls: Vec<_> = (0..MAX_IN_FLIGHT)
            .map(|_| in_flight.begin(&id, Purpose::Wait).unwrap())
            .collect();
        assert!(in_flight.begin(&id, Purpose::Wait).is_none());
        assert!(in_flight.begin(&id, Purpose::Short).is_some(), "a kill");
        calls.pop();
        assert!(in_flight.begin(&id, Purpose::Wait).is_some());
    }
}
