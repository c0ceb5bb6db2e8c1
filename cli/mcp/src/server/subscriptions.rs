//! Notifications of changes: of the list of terminals, and of subscribed terminals.
//!
//! One subscription at the daemon serves all listeners. A listener gathers changes for a moment and
//! notifies once, so a flood of output is a few notifications a second. Where events may have been
//! missed (the daemon's server was replaced), everything counts as changed.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, SubscriptionContext, SubscriptionSink};
use termd_proto::TerminalId;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::SubscribeEvents;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::watch;
use tokio::time::sleep;

use super::resources;
use crate::shared::Shared;

/// The time for which changes are gathered.
const PERIOD: Duration = Duration::from_millis(300);
/// The time between two attempts to subscribe at the daemon.
const RETRY: Duration = Duration::from_secs(1);
/// Most changes on the way to one listener. Beyond it everything counts as changed.
const QUEUE: usize = 256;
/// Most resources that one client subscribes to.
const MAX_SUBSCRIBED: usize = 1_000;

#[derive(Debug, Clone)]
enum Change {
    List,
    Terminal(TerminalId),
    /// Everything: events may have been missed.
    All,
}

/// The changes that one listener wants.
#[derive(Debug, Default, Clone)]
struct Interest {
    list: bool,
    /// Terminals by the URI that names them.
    resources: HashMap<String, TerminalId>,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Notice {
    List,
    Updated(String),
}

impl Interest {
    fn notices(&self, change: &Change) -> Vec<Notice> {
        let mut notices = Vec::new();
        if self.list && matches!(change, Change::List | Change::All) {
            notices.push(Notice::List);
        }
        let touched = |id: &TerminalId| match change {
            Change::List => false,
            Change::Terminal(changed) => changed == id,
            Change::All => true,
        };
        let uris = self.resources.iter().filter(|(_, id)| touched(id));
        notices.extend(uris.map(|(uri, _)| Notice::Updated(uri.clone())));
        notices
    }
}

/// The receiver of notifications, in the way of its protocol version.
#[derive(Debug)]
enum Listener {
    Peer(Peer<RoleServer>),
    Sink(SubscriptionSink),
}

impl Listener {
    /// Sends a notification; false when the receiver is gone.
    async fn notify(&self, notice: Notice) -> bool {
        match (self, notice) {
            (Self::Peer(peer), Notice::List) => peer.notify_resource_list_changed().await.is_ok(),
            (Self::Peer(peer), Notice::Updated(uri)) => {
                let param = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(param).await.is_ok()
            }
            (Self::Sink(sink), Notice::List) => sink.notify_resource_list_changed().await.is_ok(),
            (Self::Sink(sink), Notice::Updated(uri)) => {
                sink.notify_resource_updated(uri).await.is_ok()
            }
        }
    }
}

/// The source of all listeners.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    shared: Arc<Shared>,
    changes: broadcast::Sender<Change>,
    /// Whether the daemon's events are read. Unset before somebody listens.
    is_watching: OnceLock<watch::Receiver<bool>>,
    /// The interest of the one client with `initialize`.
    interest: Arc<Mutex<Interest>>,
}

impl Subscriptions {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            changes: broadcast::Sender::new(QUEUE),
            is_watching: OnceLock::new(),
            interest: Arc::default(),
        }
    }

    /// Notifies a client with `initialize` of every change of the list.
    pub(crate) fn watch_list(&self, peer: Peer<RoleServer>) {
        self.change_interest(|interest| interest.list = true);
        let interest = Arc::clone(&self.interest);
        self.watch();
        let changes = self.changes.subscribe();
        tokio::spawn(async move {
            let wanted = || {
                let interest = interest.lock().unwrap_or_else(PoisonError::into_inner);
                interest.clone()
            };
            gather(changes, wanted, Listener::Peer(peer)).await;
        });
    }

    /// `resources/subscribe`.
    pub(crate) fn add(&self, uri: &str, id: TerminalId) -> Result<(), ErrorData> {
        self.change_interest(|interest| {
            if interest.resources.len() >= MAX_SUBSCRIBED {
                return Err(ErrorData::invalid_request(
                    format!("{MAX_SUBSCRIBED} subscriptions are the most: unsubscribe from some"),
                    None,
                ));
            }
            interest.resources.insert(uri.to_owned(), id);
            Ok(())
        })
    }

    /// `resources/unsubscribe`. An unknown URI is no error.
    pub(crate) fn remove(&self, uri: &str) {
        self.change_interest(|interest| interest.resources.remove(uri));
    }

    /// `subscriptions/listen`: until the client cancels it.
    pub(crate) async fn listen(&self, context: &SubscriptionContext) {
        let changes = self.changes.subscribe();
        let mut is_watching = self.watch();
        let was_watching = *is_watching.borrow();
        let accepted = context.accepted();
        let mut interest = Interest {
            list: accepted.resources_list_changed == Some(true),
            ..Interest::default()
        };
        let uris = accepted.resource_subscriptions.iter().flatten();
        for uri in uris.take(MAX_SUBSCRIBED) {
            // A URI of no terminal never changes.
            if let Ok(id) = resources::check(&self.shared.backend, uri).await {
                interest.resources.insert(uri.clone(), id);
            }
        }
        let listener = Listener::Sink(context.sink().clone());
        let notifying = async {
            // The client was told that it listens. What changed since then may have been missed.
            if !was_watching
                && is_watching
                    .wait_for(|is_watching| *is_watching)
                    .await
                    .is_ok()
            {
                let _ = self.changes.send(Change::All);
            }
            gather(changes, move || interest.clone(), listener).await;
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = notifying => {}
        }
    }

    fn change_interest<T>(&self, change: impl FnOnce(&mut Interest) -> T) -> T {
        change(&mut self.interest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the daemon's events read, from the first call on.
    fn watch(&self) -> watch::Receiver<bool> {
        let start = || {
            let (is_watching, started) = watch::channel(false);
            let (shared, changes) = (Arc::clone(&self.shared), self.changes.clone());
            tokio::spawn(read_events(shared, changes, is_watching));
            started
        };
        self.is_watching.get_or_init(start).clone()
    }
}

/// Reads the daemon's events for as long as this process lives.
async fn read_events(
    shared: Arc<Shared>,
    changes: broadcast::Sender<Change>,
    is_watching: watch::Sender<bool>,
) {
    loop {
        let subscribed = shared
            .backend
            .pool()
            .subscribe(&SubscribeEvents { id: None })
            .await;
        if let Ok(mut events) = subscribed {
            if is_watching.send_replace(true) {
                let _ = changes.send(Change::All);
            }
            while let Some(Ok(event)) = events.next().await {
                for change in changes_of(event) {
                    // An error means that there is no listener now.
                    let _ = changes.send(change);
                }
            }
        }
        sleep(RETRY).await;
    }
}

fn changes_of(event: TerminalEvent) -> Vec<Change> {
    match event {
        TerminalEvent::Created { .. } | TerminalEvent::Named { .. } => vec![Change::List],
        TerminalEvent::Output { id, .. }
        | TerminalEvent::Resized { id, .. }
        | TerminalEvent::LimitReached { id, .. } => {
            vec![Change::Terminal(id)]
        }
        TerminalEvent::Exited { id, .. } | TerminalEvent::Closed { id } => {
            vec![Change::List, Change::Terminal(id)]
        }
        TerminalEvent::Attention { .. } | TerminalEvent::PeerLimitReached { .. } => Vec::new(),
        TerminalEvent::Lagged { .. } => vec![Change::All],
    }
}

/// Gathers changes and sends each once a period, until the listener is gone.
async fn gather(
    mut changes: broadcast::Receiver<Change>,
    interest: impl Fn() -> Interest,
    listener: Listener,
) {
    let mut pending = BTreeSet::new();
    loop {
        match changes.recv().await {
            Ok(change) => pending.extend(interest().notices(&change)),
            Err(RecvError::Lagged(_)) => pending.extend(interest().notices(&Change::All)),
            Err(RecvError::Closed) => return,
        }
        if pending.is_empty() {
            continue;
        }
        sleep(PERIOD).await;
        while let Ok(change) = changes.try_recv() {
            pending.extend(interest().notices(&change));
        }
        for notice in std::mem::take(&mut pending) {
            if !listener.notify(notice).await {
                return;
            }
        }
    }
}
