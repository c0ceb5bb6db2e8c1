//! The table of methods: from a method's name to the handler that serves it.
//!
//! A handler takes the method's params struct and the connection that the call came on. Must not
//! know: lines, queues, what a method means.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use termd_proto::Method;
use termd_proto::method::Subscribe;

use super::answer::Answer;
use super::context::ConnectionContext;
use super::error::RpcError;
use super::params;
use super::subscription::{EventSink, Subscription};
use crate::service::OutputSecrets;

/// A call under way.
pub(super) type Running = BoxFuture<'static, Result<Answer, RpcError>>;

type Handler = dyn Fn(&str, Arc<ConnectionContext>) -> Result<Running, RpcError> + Send + Sync;
type Subscriber = dyn Fn(&str, Subscription) -> Result<Running, RpcError> + Send + Sync;

/// How a method is served.
pub(super) enum Served {
    /// By this handler, which reads the params at once and does the rest in the future.
    Call(Box<Handler>),
    /// By this one, which is given a subscription of the connection's.
    Subscribe(Box<Subscriber>),
    /// By the connection itself: a subscription ends.
    Unsubscribe,
}

/// The methods of a socket.
#[derive(Default)]
pub struct Api {
    methods: HashMap<&'static str, Served>,
    /// Hides secrets in answers to agents; `None` in tests.
    pub(super) output_secrets: Option<OutputSecrets>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.methods.keys()).finish()
    }
}

impl Api {
    /// No methods yet, whose answers have no secrets in them where those are hidden.
    pub(crate) fn hiding(output_secrets: OutputSecrets) -> Self {
        Self {
            output_secrets: Some(output_secrets),
            ..Self::default()
        }
    }

    /// Serves the method `M` by a function of `handler`.
    pub fn method<M, H, F, Fut>(&mut self, handler: &Arc<H>, serve: F)
    where
        M: Method,
        H: Send + Sync + 'static,
        F: Fn(Arc<H>, M, Arc<ConnectionContext>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<M::Answer, RpcError>> + Send + 'static,
    {
        let handler = Arc::clone(handler);
        let call = move |raw: &str, context| -> Result<Running, RpcError> {
            let running = serve(Arc::clone(&handler), params::read(raw)?, context);
            Ok(async move { Answer::of(&running.await?) }.boxed())
        };
        self.insert(M::NAME, Served::Call(Box::new(call)));
    }

    /// The same, by a function that never waits.
    pub fn sync_method<M, H, F>(&mut self, handler: &Arc<H>, serve: F)
    where
        M: Method,
        H: Send + Sync + 'static,
        F: Fn(&H, M, &ConnectionContext) -> Result<M::Answer, RpcError> + Send + Sync + 'static,
    {
        let handler = Arc::clone(handler);
        let call = move |raw: &str, context: Arc<ConnectionContext>| -> Result<Running, RpcError> {
            let answer = Answer::of(&serve(&handler, params::read(raw)?, &context)?);
            Ok(ready(answer).boxed())
        };
        self.insert(M::NAME, Served::Call(Box::new(call)));
    }

    /// Serves the subscription `S`, and its end. `serve` resolves when the subscription stands, with
    /// the future that feeds it.
    pub fn subscription<S, H, F, Fut, Feed>(&mut self, handler: &Arc<H>, serve: F)
    where
        S: Subscribe,
        H: Send + Sync + 'static,
        F: Fn(Arc<H>, S, EventSink<S::Item>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Feed, RpcError>> + Send + 'static,
        Feed: Future<Output = ()> + Send + 'static,
    {
        let handler = Arc::clone(handler);
        let subscribe = move |raw: &str, subscription: Subscription| -> Result<Running, RpcError> {
            let number = subscription.number();
            let sink = EventSink::new(subscription, S::NOTIFICATION);
            let opening = serve(Arc::clone(&handler), params::read(raw)?, sink);
            let running = async move {
                // The feed runs from here on: its events come after the answer, which is ready now.
                tokio::spawn(opening.await?);
                Answer::of(&number)
            };
            Ok(running.boxed())
        };
        self.insert(S::NAME, Served::Subscribe(Box::new(subscribe)));
        self.insert(S::END, Served::Unsubscribe);
    }

    pub(super) fn get(&self, method: &str) -> Option<&Served> {
        self.methods.get(method)
    }

    fn insert(&mut self, name: &'static str, served: Served) {
        let before = self.methods.insert(name, served);
        debug_assert!(before.is_none(), "{name} is served twice");
    }

    /// The names of the methods.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.methods.keys().copied()
    }
}
