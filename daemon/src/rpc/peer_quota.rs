//! What one peer has of the socket, over all its connections.
//!
//! A peer is a process, by its pid at connect(2): every peer is of the same user, and an agent, an
//! editor and a person's shell are told apart by nothing else that they cannot choose. What forks
//! to have more is bounded by the socket's own limits, of which a part is kept for newcomers.
//!
//! Promises: no peer has more than the limits say. A reached limit is logged and announced once,
//! and the number of refusals is logged when the peer has gone.
//! Must not know: lines, methods, what a call is about.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_proto::event::TerminalEvent;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

use super::limits::{
    MAX_CALL_BYTES_IN_FLIGHT_OF_PEER, MAX_CALLS_IN_FLIGHT_OF_PEER, MAX_CHECKS_OF_PEER,
    MAX_CONNECTIONS_OF_PEER,
};

/// A limit of one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerLimit {
    /// [`MAX_CONNECTIONS_OF_PEER`].
    Connections,
    /// [`MAX_CALLS_IN_FLIGHT_OF_PEER`]; a wait is a call in flight.
    Calls,
    /// [`MAX_CALL_BYTES_IN_FLIGHT_OF_PEER`].
    CallBytes,
}

impl PeerLimit {
    /// Its name in errors, events and the log.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections_of_peer",
            Self::Calls => "calls_in_flight_of_peer",
            Self::CallBytes => "call_bytes_in_flight_of_peer",
        }
    }

    /// Its value.
    pub(super) fn max(self) -> usize {
        match self {
            Self::Connections => MAX_CONNECTIONS_OF_PEER,
            Self::Calls => MAX_CALLS_IN_FLIGHT_OF_PEER,
            Self::CallBytes => MAX_CALL_BYTES_IN_FLIGHT_OF_PEER,
        }
    }
}

/// The quotas of all peers that are connected.
#[derive(Debug)]
pub(super) struct PeerQuotas {
    by_pid: Mutex<HashMap<Option<i32>, Arc<PeerQuota>>>,
    /// Where reached limits are announced.
    events: Option<broadcast::Sender<TerminalEvent>>,
}

/// What one peer has of the socket now.
#[derive(Debug, Default)]
pub(super) struct PeerQuota {
    /// None for all that no pid is known of, together.
    pid: Option<i32>,
    connections: AtomicUsize,
    calls: AtomicUsize,
    call_bytes: AtomicUsize,
    checks: Checks,
    /// How often each limit was reached.
    refused: [AtomicU64; 3],
    events: Option<broadcast::Sender<TerminalEvent>>,
}

/// The checks of commands that a peer may have under way.
#[derive(Debug)]
struct Checks(Arc<Semaphore>);

impl Default for Checks {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CHECKS_OF_PEER)))
    }
}

/// A connection's part of its peer's quota, until it ends.
#[derive(Debug)]
pub(super) struct Seat {
    quotas: Arc<PeerQuotas>,
    pub(super) quota: Arc<PeerQuota>,
}

/// A call's part of its peer's quota, while it is under way.
#[derive(Debug)]
pub(super) struct CallPermit {
    quota: Arc<PeerQuota>,
    bytes: usize,
}

impl PeerQuotas {
    pub(super) fn new(events: Option<broadcast::Sender<TerminalEvent>>) -> Arc<Self> {
        let by_pid = Mutex::default();
        Arc::new(Self { by_pid, events })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<i32>, Arc<PeerQuota>>> {
        self.by_pid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no peer with this pid is connected.
    pub(super) fn is_newcomer(&self, pid: Option<i32>) -> bool {
        !self.lock().contains_key(&pid)
    }

    /// One more connection of this peer.
    pub(super) fn sit_down(self: &Arc<Self>, pid: Option<i32>) -> Result<Seat, PeerLimit> {
        let mut by_pid = self.lock();
        let quota = by_pid.entry(pid).or_insert_with(|| {
            Arc::new(PeerQuota {
                pid,
                events: self.events.clone(),
                ..PeerQuota::default()
            })
        });
        if quota.connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS_OF_PEER {
            quota.reached(PeerLimit::Connections);
            return Err(PeerLimit::Connections);
        }
        quota.connections.fetch_add(1, Ordering::Relaxed);
        Ok(Seat {
            quotas: Arc::clone(self),
            quota: Arc::clone(quota),
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut by_pid = self.quotas.lock();
        if self.quota.connections.fetch_sub(1, Ordering::Relaxed) == 1 {
            by_pid.remove(&self.quota.pid);
            self.quota.sum_up();
        }
    }
}

impl PeerQuota {
    /// One more call of this peer, which holds a line of this many bytes.
    pub(super) fn begin(self: &Arc<Self>, bytes: usize) -> Result<CallPermit, PeerLimit> {
        let used = [
            (&self.calls, 1, PeerLimit::Calls),
            (&self.call_bytes, bytes, PeerLimit::CallBytes),
        ];
        // One thread counts: what is read here still holds below.
        for (count, more, limit) in used {
            if count.load(Ordering::Relaxed) + more > limit.max() {
                self.reached(limit);
                return Err(limit);
            }
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.call_bytes.fetch_add(bytes, Ordering::Relaxed);
        let quota = Arc::clone(self);
        Ok(CallPermit { quota, bytes })
    }

    /// Waits for the turn of one more check. A caller that gives up has not had it.
    pub(super) async fn check_turn(&self) -> Option<OwnedSemaphorePermit> {
        // `None` only once the semaphore is closed, and it never is.
        Arc::clone(&self.checks.0).acquire_owned().await.ok()
    }

    fn reached(&self, limit: PeerLimit) {
        let [connections, calls, call_bytes] = &self.refused;
        let refused = match limit {
            PeerLimit::Connections => connections,
            PeerLimit::Calls => calls,
            PeerLimit::CallBytes => call_bytes,
        };
        if refused.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        let (name, max) = (limit.name(), limit.max());
        tracing::warn!(
            pid = self.pid,
            limit = name,
            max,
            "a peer has reached a limit"
        );
        if let Some(events) = &self.events {
            let _ = events.send(TerminalEvent::PeerLimitReached {
                pid: self.pid,
                limit: name.to_owned(),
                value: u64::try_from(max).unwrap_or(u64::MAX),
            });
        }
    }

    /// Says in all what was told once.
    fn sum_up(&self) {
        let [connections, calls, call_bytes] = self
            .refused
            .each_ref()
            .map(|count| count.load(Ordering::Relaxed));
        if connections + calls + call_bytes > 1 {
            let pid = self.pid;
            tracing::warn!(
                pid,
                connections,
                calls,
                call_bytes,
                "what was refused to a peer"
            );
        }
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        self.quota.calls.fetch_sub(1, Ordering::Relaxed);
        let bytes = &self.quota.call_bytes;
        bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_peer_has_its_connections_and_no_more_and_is_told_of_once() {
        let (sender, mut events) = broadcast::channel(8);
        let quotas = PeerQuotas::new(Some(sender));
        let greedy = Some(7);
        let mut seats: Vec<Seat> = (0..MAX_CONNECTIONS_OF_PEER)
            .map(|_| quotas.sit_down(greedy).unwrap())
            .collect();
        for _ in 0..100 {
            let refused = quotas.sit_down(greedy).err();
            assert_eq!(refused, Some(PeerLimit::Connections));
        }
        let event = TerminalEvent::PeerLimitReached {
            pid: greedy,
            limit: "connections_of_peer".to_owned(),
            value: 256,
        };
        assert_eq!(events.try_recv().ok(), Some(event));
        assert!(events.try_recv().is_err(), "told once");
        assert!(quotas.sit_down(Some(8)).is_ok(), "another is not concerned");
        seats.pop();
        assert!(quotas.sit_down(greedy).is_ok());
        assert!(!quotas.is_newcomer(greedy));
        seats.clear();
        assert!(quotas.is_newcomer(greedy) && quotas.lock().is_empty());
    }

    #[test]
    fn checks_of_a_peer_take_turns_over_all_its_connections() {
        let quotas = PeerQuotas::new(None);
        let seats = [(); 2].map(|()| quotas.sit_down(Some(7)).unwrap());
        let turn = |number: usize| seats[number % 2].quota.check_turn();
        let mut turns: Vec<_> = (0..MAX_CHECKS_OF_PEER)
            .map(|number| turn(number).now_or_never().unwrap())
            .collect();
        assert!(turn(0).now_or_never().is_none() && turn(1).now_or_never().is_none());
        let other = quotas.sit_down(Some(8)).unwrap();
        assert!(other.quota.check_turn().now_or_never().is_some());
        turns.pop();
        assert!(turn(1).now_or_never().is_some());
    }

    #[test]
    fn calls_are_counted_over_all_connections_while_they_last() {
        let quotas = PeerQuotas::new(None);
        let seats = [(); 2].map(|()| quotas.sit_down(Some(7)).unwrap());
        let mut permits: Vec<CallPermit> = (0..MAX_CALLS_IN_FLIGHT_OF_PEER)
            .map(|number| seats[number % 2].quota.begin(1).unwrap())
            .collect();
        assert_eq!(seats[0].quota.begin(1).err(), Some(PeerLimit::Calls));
        let other = quotas.sit_down(Some(8)).unwrap();
        assert!(other.quota.begin(1).is_ok());
        permits.clear();
        let most = MAX_CALL_BYTES_IN_FLIGHT_OF_PEER;
        let large = seats[0].quota.begin(most).unwrap();
        assert_eq!(seats[1].quota.begin(1).err(), Some(PeerLimit::CallBytes));
        drop(large);
        assert!(seats[1].quota.begin(most).is_ok());
    }
}
