//! The subscriptions of one connection: each has a number, and its events go out as notifications.
//!
//! Promises: at most [`MAX_SUBSCRIPTIONS`] a connection; one that is ended, or whose connection has
//! ended, sends nothing more.
//! Must not know: what an event means.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::RpcError;
use super::limits::MAX_SUBSCRIPTIONS;

type Active = Arc<Mutex<HashMap<u64, CancellationToken>>>;

/// The subscriptions of one connection.
pub(super) struct Subscriptions {
    active: Active,
    next_number: AtomicU64,
    events: mpsc::Sender<Box<RawValue>>,
}

impl Subscriptions {
    /// `events` takes what is sent.
    pub(super) fn new(events: mpsc::Sender<Box<RawValue>>) -> Self {
        Self {
            active: Arc::default(),
            next_number: AtomicU64::new(1),
            events,
        }
    }

    /// Opens a subscription that ends with the connection.
    pub(super) fn open(&self, connection: &CancellationToken) -> Result<Subscription, RpcError> {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        if active.len() >= MAX_SUBSCRIPTIONS {
            return Err(RpcError::overloaded("subscriptions", MAX_SUBSCRIPTIONS));
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let ended = connection.child_token();
        active.insert(number, ended.clone());
        Ok(Subscription {
            number,
            ended,
            events: self.events.clone(),
            active: Arc::clone(&self.active),
        })
    }

    /// Ends a subscription. False: there is none of this number.
    pub(super) fn close(&self, number: u64) -> bool {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let found = active.remove(&number);
        found.map(|ended| ended.cancel()).is_some()
    }
}

/// One open subscription. Its place is free again when this is dropped.
pub(super) struct Subscription {
    number: u64,
    ended: CancellationToken,
    events: mpsc::Sender<Box<RawValue>>,
    active: Active,
}

impl Subscription {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        active.remove(&self.number);
    }
}

/// The subscription has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended;

/// Where a subscription's events are sent.
pub struct EventSink<T> {
    subscription: Subscription,
    notification: &'static str,
    item: PhantomData<fn(T)>,
}

impl<T: Serialize> EventSink<T> {
    pub(super) fn new(subscription: Subscription, notification: &'static str) -> Self {
        Self {
            subscription,
            notification,
            item: PhantomData,
        }
    }

    /// Queues an event; waits while the queue, which is short, is full.
    pub async fn send(&self, event: &T) -> Result<(), Ended> {
        let notification = Notification {
            jsonrpc: "2.0",
            method: self.notification,
            params: Event {
                subscription: self.subscription.number,
                result: event,
            },
        };
        let message = to_raw_value(&notification).map_err(|_| Ended)?;
        tokio::select! {
            sent = self.subscription.events.send(message) => sent.map_err(|_| Ended),
            () = self.closed() => Err(Ended),
        }
    }

    /// Resolves when the subscription has ended.
    pub async fn closed(&self) {
        self.subscription.ended.cancelled().await;
    }
}

#[derive(Serialize)]
struct Notification<'a, T> {
    jsonrpc: &'static str,
    method: &'static str,
    params: Event<'a, T>,
}

#[derive(Serialize)]
struct Event<'a, T> {
    subscription: u64,
    result: &'a T,
}
