//! What holds calls back while the peer has too much to take. Pure but for wakers.
//!
//! Promises: a call behind a closed gate is not polled, so that it makes no answer; each is polled
//! again once the gate opens; dropping it works at any time.
//! Must not know: why the gate is closed, what a call is.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Open at first.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    position: Position,
    /// How often it was closed: which closing a call was held by.
    closings: u64,
    /// Who is to be polled once it opens.
    held: Vec<Waker>,
}

/// Whether calls go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Position {
    /// They do.
    #[default]
    Open,
    /// They are held.
    Closed,
}

impl Gate {
    pub(super) fn position(&self) -> Position {
        self.state().position
    }

    /// Opens or closes it.
    pub(super) fn turn(&self, position: Position) {
        let mut state = self.state();
        if state.position == position {
            return;
        }
        state.position = position;
        match position {
            Position::Closed => state.closings += 1,
            Position::Open => {
                let held = mem::take(&mut state.held);
                drop(state);
                held.into_iter().for_each(Waker::wake);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future that goes on only while the gate is open.
#[derive(Debug)]
pub(super) struct Gated<F> {
    gate: Arc<Gate>,
    future: F,
    /// The closing that has its waker: one that is woken often must not be noted often.
    held_by: Option<u64>,
}

impl<F> Gated<F> {
    pub(super) fn new(gate: &Arc<Gate>, future: F) -> Self {
        Self {
            gate: Arc::clone(gate),
            future,
            held_by: None,
        }
    }
}

impl<F: Future + Unpin> Future for Gated<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let mut state = this.gate.state();
        if state.position == Position::Open {
            drop(state);
            return Pin::new(&mut this.future).poll(context);
        }
        if this.held_by != Some(state.closings) {
            this.held_by = Some(state.closings);
            state.held.push(context.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::ready;
    use futures_util::stream::{FuturesUnordered, StreamExt};

    use super::*;

    #[test]
    fn what_is_held_goes_on_when_the_gate_opens() {
        let gate = Arc::new(Gate::default());
        let mut calls = FuturesUnordered::new();
        for round in 0..3 {
            gate.turn(Position::Closed);
            calls.push(Gated::new(&gate, ready(round)));
            assert_eq!(calls.next().now_or_never(), None);
            // Opened and closed before anybody looked: it must not be forgotten.
            gate.turn(Position::Open);
            gate.turn(Position::Closed);
            assert_eq!(calls.next().now_or_never(), None);
            gate.turn(Position::Open);
            assert_eq!(calls.next().now_or_never(), Some(Some(round)));
        }
    }

    #[test]
    fn one_that_is_woken_often_is_noted_once() {
        let gate = Arc::new(Gate::default());
        gate.turn(Position::Closed);
        let mut call = Gated::new(&gate, ready(()));
        for _ in 0..100 {
            assert_eq!((&mut call).now_or_never(), None);
        }
        assert_eq!(gate.state().held.len(), 1);
        gate.turn(Position::Open);
        assert_eq!(gate.state().held.len(), 0);
        assert_eq!(call.now_or_never(), Some(()));
    }
}
