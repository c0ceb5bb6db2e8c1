//! From a method's name to its handler.
//!
//! Promises: a handler sees the call under a surrogate id, its [`ConnectionContext`] in the
//! extensions, and absent params as `{}`.
//! Must not know: what waits, what is written, how an answer is worded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use jsonrpsee::core::id_providers::RandomIntegerIdProvider;
use jsonrpsee::core::server::BoundedSubscriptions;
use jsonrpsee::types::Params as RpcParams;
use jsonrpsee::{Extensions, MethodCallback, MethodSink, Methods, SubscriptionState};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::answer::{Answer, ErrorAnswer, SURROGATE_ID};
use super::call::{Call, Outcome};
use super::context::ConnectionContext;
use super::limits::{RESPONSE_BYTES_MAX, SUBSCRIPTIONS_MAX};
use super::request::Params;

/// When a call begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// On the spot: most calls never wait.
    Now,
    /// Once the peer has taken some of what waits for it.
    Later,
}

/// What a dispatched call came to.
pub(super) enum Dispatched {
    /// Answered on the spot.
    Answered(Answer),
    /// It waits for something, or is to begin later.
    Waiting(Call),
}

/// The methods, as one connection calls them.
pub(super) struct Dispatcher {
    methods: Methods,
    context: Arc<ConnectionContext>,
    extensions: Extensions,
    subscriptions: BoundedSubscriptions,
    events: mpsc::Sender<Box<RawValue>>,
}

impl Dispatcher {
    /// `events` is where subscriptions send to.
    pub(super) fn new(
        methods: Methods,
        context: &Arc<ConnectionContext>,
        events: mpsc::Sender<Box<RawValue>>,
    ) -> Self {
        let mut extensions = Extensions::new();
        extensions.insert(context.id);
        extensions.insert(Arc::clone(context));
        Self {
            methods,
            context: Arc::clone(context),
            extensions,
            subscriptions: BoundedSubscriptions::new(clamp_to_u32(SUBSCRIPTIONS_MAX)),
            events,
        }
    }

    /// Calls a method, and where it begins now runs it to its first wait.
    pub(super) fn dispatch(&self, method: &str, params: Params<'_>, begin: Begin) -> Dispatched {
        let Some(callback) = self.methods.method(method) else {
            return Dispatched::Answered(ErrorAnswer::method_not_found(method).into_answer());
        };
        let raw = match params {
            Params::Absent => "{}",
            Params::Structured(raw) => raw,
            Params::Unstructured => {
                let error = ErrorAnswer::invalid_params("params", "an object is expected");
                return Dispatched::Answered(error.into_answer());
            }
        };
        // Sync handlers run here whenever they begin: none of them answers much. Of the others
        // only what makes their future.
        let called = catch_unwind(AssertUnwindSafe(|| self.call(callback, raw)));
        match called.unwrap_or(Called::Done(None)) {
            Called::Done(outcome) => Dispatched::Answered(settle(outcome, Some(raw))),
            Called::Overloaded => {
                let error = ErrorAnswer::overloaded("subscriptions", SUBSCRIPTIONS_MAX);
                Dispatched::Answered(error.into_answer())
            }
            Called::Future(call) if begin == Begin::Later => {
                let context = Arc::clone(&self.context);
                let held = async move { context.backlog.low().await };
                Dispatched::Waiting(call.keeping(raw).after(held))
            }
            Called::Future(mut call) => match call.poll_once() {
                Poll::Ready(outcome) => Dispatched::Answered(settle(outcome, Some(raw))),
                Poll::Pending => Dispatched::Waiting(call),
            },
        }
    }

    fn call(&self, callback: &MethodCallback, raw: &str) -> Called {
        let params = RpcParams::new(Some(raw));
        let extensions = self.extensions.clone();
        let size = RESPONSE_BYTES_MAX;
        let id = SURROGATE_ID;
        match callback {
            MethodCallback::Sync(call) => Called::Done(Some(call(id, params, size, extensions))),
            MethodCallback::Async(call) => {
                let params = params.into_owned();
                Called::Future(Call::new(call(
                    id,
                    params,
                    self.context.id,
                    size,
                    extensions,
                )))
            }
            MethodCallback::Unsubscription(call) => {
                Called::Done(Some(call(id, params, self.context.id, size, extensions)))
            }
            MethodCallback::Subscription(call) => {
                let Some(permit) = self.subscriptions.acquire() else {
                    return Called::Overloaded;
                };
                let sink = MethodSink::new_with_limit(self.events.clone(), clamp_to_u32(size));
                let state = SubscriptionState {
                    conn_id: self.context.id,
                    id_provider: &RandomIntegerIdProvider,
                    subscription_permit: permit,
                };
                // A bad param is told through a task of its own, after the first poll.
                Called::Future(Call::new(call(id, params, sink, state, extensions)).keeping(raw))
            }
        }
    }
}

/// What a callback gave.
enum Called {
    Done(Outcome),
    Future(Call),
    Overloaded,
}

/// The answer to a call that has ended. `params` are the call's, while they are still at hand:
/// jsonrpsee's code reads them at the first poll.
pub(super) fn settle(outcome: Outcome, params: Option<&str>) -> Answer {
    if let Some(response) = outcome {
        Answer::from_response(response, params)
    } else {
        tracing::error!("a handler panicked");
        ErrorAnswer::internal().into_answer()
    }
}

fn clamp_to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
