//! The agent's calls that are under way, to be cancelled by their id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use crate::wire::message::RequestId;

/// Most waits under way, and most other calls: as many as the daemon takes on one connection.
/// Hundreds of waits at once are an agent with many terminals, thousands are a loop; but whoever has
/// too many can still kill what they wait for.
pub(super) const MAX_FLIGHTS: usize = 1_024;

/// What a call is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It waits for an exit.
    Wait,
    /// It creates a terminal of this session.
    Create(String),
    /// It is answered at once.
    Short,
}

/// The calls.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<State>);

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
            // Its answer is being written.
            let _ = cancel.send(());
        }
    }
}

/// One call, until it is dropped.
#[derive(Debug)]
pub(super) struct Flight {
    flights: Arc<Flights>,
    key: u64,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.lock().calls.remove(&self.key);
    }
}

impl Flights {
    /// A call begins; what resolves when it is cancelled. `None`: there are too many.
    pub(super) fn begin(
        self: &Arc<Self>,
        id: &RequestId,
        purpose: Purpose,
    ) -> Option<(Flight, oneshot::Receiver<()>)> {
        let (cancel, cancelled) = oneshot::channel();
        let mut state = self.lock();
        let is_wait = purpose == Purpose::Wait;
        let alike =
            (state.calls.values()).filter(|call| (call.purpose == Purpose::Wait) == is_wait);
        if alike.count() >= MAX_FLIGHTS {
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
        let flights = Arc::clone(self);
        Some((Flight { flights, key }, cancelled))
    }

    /// Cancels all calls of this id; whether there is one.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let mut state = self.lock();
        let named = state.calls.values_mut().filter(|call| call.id == *id);
        named.map(Call::cancel).count() > 0
    }

    /// Cancels what creates a terminal: of this session, or at all.
    pub(super) fn cancel_creates(&self, session: Option<&str>) {
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

/// Work that goes on although nobody waits for it, and that the end waits for.
#[derive(Debug, Default)]
pub(super) struct Underway(watch::Sender<usize>);

/// One piece of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Work(watch::Sender<usize>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Underway {
    /// A piece begins.
    pub(super) fn begin(&self) -> Work {
        self.0.send_modify(|count| *count += 1);
        Work(self.0.clone())
    }

    /// Resolves when there is none.
    pub(super) async fn is_over(&self) {
        // The sender is here.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_cancelled_by_id_whatever_its_type_and_both_of_two() {
        let flights = Arc::new(Flights::default());
        let id = RequestId::of_string("1");
        let (first, mut cancelled) = flights.begin(&id, Purpose::Wait).unwrap();
        let create = Purpose::Create("s".to_owned());
        let (_second, mut cancelled_too) = flights.begin(&id, create).unwrap();
        assert!(!flights.cancel(&RequestId::of_string("2")));
        assert!(cancelled.try_recv().is_err());
        assert!(flights.cancel(&id));
        assert!(cancelled.try_recv().is_ok() && cancelled_too.try_recv().is_ok());
        drop(first);
        assert!(flights.cancel(&id), "the second is under way");
    }

    #[test]
    fn creates_of_a_session_are_cancelled_and_no_waits() {
        let flights = Arc::new(Flights::default());
        let id = RequestId::of_string("1");
        let create = |session: &str| Purpose::Create(session.to_owned());
        let purposes = [Purpose::Wait, create("a"), create("b")];
        let mut calls = purposes.map(|purpose| flights.begin(&id, purpose).unwrap());
        let mut told = || calls.each_mut().map(|(_, told)| told.try_recv().is_ok());
        flights.cancel_creates(Some("a"));
        assert_eq!(told(), [false, true, false]);
        flights.cancel_creates(None);
        assert_eq!(told(), [false, false, true]);
    }

    #[test]
    fn there_are_not_too_many() {
        let flights = Arc::new(Flights::default());
        let id = RequestId::of_string("1");
        let mut calls: Vec<_> = (0..MAX_FLIGHTS)
            .map(|_| flights.begin(&id, Purpose::Wait).unwrap())
            .collect();
        assert!(flights.begin(&id, Purpose::Wait).is_none());
        assert!(flights.begin(&id, Purpose::Short).is_some(), "a kill");
        calls.pop();
        assert!(flights.begin(&id, Purpose::Wait).is_some());
    }

    #[tokio::test]
    async fn the_end_waits_for_all_work() {
        let underway = Underway::default();
        underway.is_over().await;
        let work = [underway.begin(), underway.begin()];
        let over = tokio::time::timeout(std::time::Duration::ZERO, underway.is_over());
        assert!(over.await.is_err());
        drop(work);
        underway.is_over().await;
    }
}
