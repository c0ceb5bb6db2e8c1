//! The calls of one connection that are under way.
//!
//! Promises: dropping this drops the calls, and so ends their waits; a cancelled call is dropped
//! before it is answered; a handler's panic is one call's internal error.
//! Must not know: sockets, methods.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::future::{AbortHandle, Abortable, BoxFuture};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

use super::answer::Answer;
use super::api::Running;
use super::error::RpcError;
use super::peer_quota::CallPermit;
use super::request::same_id;

/// What a handler's future came to.
pub(super) type Outcome = Result<Answer, RpcError>;

/// A handler's future, safe to poll.
pub(super) struct Call {
    future: Running,
}

/// A call that has ended.
pub(super) struct Ended {
    /// The peer's id, as it was written.
    pub(super) id: Box<str>,
    pub(super) how: HowEnded,
}

/// How a call has ended.
pub(super) enum HowEnded {
    /// The handler has answered, or panicked.
    Finished(Outcome),
    /// `$/cancel_request` named it.
    Cancelled,
}

type Key = u64;
type Ending = BoxFuture<'static, (Key, HowEnded)>;

/// What is known of a call under way.
struct InFlight {
    id: Box<str>,
    /// Length of the request's line, which the call may hold on to.
    line_bytes: usize,
    abort: AbortHandle,
    /// Given back to the peer when this goes.
    _permit: CallPermit,
}

/// The calls under way.
#[derive(Default)]
pub(super) struct Calls {
    running: FuturesUnordered<Ending>,
    in_flight: HashMap<Key, InFlight>,
    next_key: Key,
    line_bytes: usize,
}

impl Call {
    pub(super) fn new(future: Running) -> Self {
        let future = AssertUnwindSafe(future)
            .catch_unwind()
            .map(|ended| ended.unwrap_or_else(|_| Err(RpcError::panicked())))
            .boxed();
        Self { future }
    }

    /// Begins only once this is over.
    pub(super) fn after(self, held: impl Future<Output = ()> + Send + 'static) -> Self {
        let future = self.future;
        let future = async move {
            held.await;
            future.await
        };
        Self {
            future: future.boxed(),
        }
    }

    /// Runs the call to its first wait. Most calls never wait: these are answered on the spot.
    pub(super) fn poll_once(&mut self) -> Poll<Outcome> {
        // The task that goes on with it polls it again with a waker of its own.
        Pin::new(&mut self.future).poll(&mut Context::from_waker(Waker::noop()))
    }
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Bytes of request lines that calls under way may hold on to.
    pub(super) fn line_bytes(&self) -> usize {
        self.line_bytes
    }

    /// Takes a call that waits, or has not begun.
    pub(super) fn push(&mut self, id: &str, line_bytes: usize, permit: CallPermit, call: Call) {
        let key = self.next_key;
        self.next_key += 1;
        let (abort, registration) = AbortHandle::new_pair();
        let running = Abortable::new(call.future, registration).map(move |result| match result {
            Ok(outcome) => (key, HowEnded::Finished(outcome)),
            Err(_) => (key, HowEnded::Cancelled),
        });
        self.running.push(running.boxed());
        let in_flight = InFlight {
            id: id.into(),
            line_bytes,
            abort,
            _permit: permit,
        };
        self.in_flight.insert(key, in_flight);
        self.line_bytes += line_bytes;
    }

    /// The next call that ends; none when there is no call. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Ended> {
        let (key, how) = self.running.next().await?;
        let call = self.in_flight.remove(&key)?;
        self.line_bytes -= call.line_bytes;
        if self.in_flight.is_empty() {
            self.in_flight.shrink_to(16);
        }
        Some(Ended { id: call.id, how })
    }

    /// Ends the calls with this id. Each is then reported by [`Self::next`], as finished if it
    /// finished before.
    pub(super) fn cancel(&self, id: &str) {
        self.in_flight
            .values()
            .filter(|call| same_id(&call.id, id))
            .for_each(|call| {
                call.abort.abort();
            });
    }

    /// Drops all of them and gives back their ids.
    pub(super) fn abandon(&mut self) -> Vec<Box<str>> {
        self.running = FuturesUnordered::new();
        self.line_bytes = 0;
        let mut calls: Vec<_> = self.in_flight.drain().collect();
        calls.sort_unstable_by_key(|(key, _)| *key);
        calls.into_iter().map(|(_, call)| call.id).collect()
    }
}
