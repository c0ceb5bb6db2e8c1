//! From a method's name to its handler, for one connection.
//!
//! Promises: a handler sees the connection's [`ConnectionContext`], and absent params as `{}`.
//! Must not know: what waits, what is written, how an answer is worded.

use std::sync::Arc;
use std::task::Poll;

use serde_json::value::RawValue;
use termd_proto::terminal::UnsubscribeEvents;
use tokio::sync::mpsc;

use super::answer::Answer;
use super::api::{Api, Running, Served};
use super::call::{Call, Outcome};
use super::context::ConnectionContext;
use super::error::RpcError;
use super::params;
use super::request::Params;
use super::secret_filter::SecretFilter;
use super::subscription::Subscriptions;

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
    api: Arc<Api>,
    context: Arc<ConnectionContext>,
    subscriptions: Subscriptions,
}

impl Dispatcher {
    /// `events` is where subscriptions send to.
    pub(super) fn new(
        api: Arc<Api>,
        context: &Arc<ConnectionContext>,
        events: mpsc::Sender<Box<RawValue>>,
    ) -> Self {
        Self {
            api,
            context: Arc::clone(context),
            subscriptions: Subscriptions::new(events),
        }
    }

    /// Hides secrets in what the connection is sent.
    pub(super) fn secret_filter(&self) -> SecretFilter {
        SecretFilter {
            output_secrets: self.api.output_secrets.clone(),
            context: Arc::clone(&self.context),
        }
    }

    /// Calls a method, and where it begins now runs it to its first wait.
    pub(super) fn dispatch(&self, method: &str, params: Params<'_>, begin: Begin) -> Dispatched {
        let mut call = match self.begin(method, params) {
            Ok(Called::Answered(answer)) => return Dispatched::Answered(answer),
            Ok(Called::Running(running)) => Call::new(running),
            Err(error) => return Dispatched::Answered(error.into()),
        };
        match begin {
            Begin::Later => {
                let context = Arc::clone(&self.context);
                Dispatched::Waiting(call.after(async move { context.backlog.low().await }))
            }
            Begin::Now => match call.poll_once() {
                Poll::Ready(outcome) => Dispatched::Answered(settle(outcome)),
                Poll::Pending => Dispatched::Waiting(call),
            },
        }
    }

    fn begin(&self, method: &str, params: Params<'_>) -> Result<Called, RpcError> {
        let served = self
            .api
            .get(method)
            .ok_or_else(|| RpcError::method_not_found(method))?;
        let raw = match params {
            Params::Absent => "{}",
            Params::Structured(raw) => raw,
            Params::Unstructured => {
                return Err(RpcError::unreadable_params(
                    "params",
                    "an object is expected",
                ));
            }
        };
        match served {
            Served::Call(handler) => Ok(Called::Running(handler(raw, Arc::clone(&self.context))?)),
            Served::Subscribe(handler) => {
                let subscription = self.subscriptions.open(&self.context.closed)?;
                Ok(Called::Running(handler(raw, subscription)?))
            }
            Served::Unsubscribe => {
                let UnsubscribeEvents { subscription } = params::read(raw)?;
                let was_open = self.subscriptions.close(subscription);
                Ok(Called::Answered(Answer::of(&was_open)?))
            }
        }
    }
}

/// What a handler gave.
enum Called {
    Answered(Answer),
    Running(Running),
}

/// The answer to a call that has ended.
pub(super) fn settle(outcome: Outcome) -> Answer {
    outcome.unwrap_or_else(Answer::from)
}
