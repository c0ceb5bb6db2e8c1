//! Accepts connections and sees them all to their end.
//!
//! Promises: only the socket's owner is served; nothing is read from anybody else; no failure of
//! accept(2) ends the server; [`serve`] returns when every connection has ended, and within
//! [`SHUTDOWN_DEADLINE`] of the shutdown.
//! Must not know: lines, requests; where the socket is and who made it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use termd_proto::event::TerminalEvent;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::api::Api;
use super::connection::serve_connection;
use super::context::{ConnectionContext, ConnectionId};
use super::error::RpcError;
use super::limits::{
    MAX_ACCEPT_BACKOFF, MAX_CONNECTIONS, MIN_ACCEPT_BACKOFF, NEWCOMERS_SHARE, SHUTDOWN_DEADLINE,
};
use super::peer::{Admission, Peer, PeerProcess, admit};
use super::peer_quota::{PeerQuotas, Seat};
use crate::heap_trim::HeapTrim;
use crate::service::Descent;

/// The options of [`serve`].
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The only uid that is served.
    pub owner_uid: u32,
    /// Connections at once; one more gets an error and is closed.
    pub connections_max: usize,
    /// Where the counts are kept for `daemon.stats`.
    pub stats: Arc<SocketStats>,
    /// The receiver of each limit that a peer has reached.
    pub events: Option<broadcast::Sender<TerminalEvent>>,
    /// Says whose a peer is; `None`: every peer is a person's.
    pub descent: Option<Arc<Descent>>,
    /// Told of each connection that ends.
    pub(crate) heap: HeapTrim,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            owner_uid: rustix::process::geteuid().as_raw(),
            connections_max: MAX_CONNECTIONS,
            stats: Arc::default(),
            events: None,
            descent: None,
            heap: HeapTrim::default(),
        }
    }
}

/// Counts of the whole socket.
#[derive(Debug, Default)]
pub struct SocketStats {
    connections: AtomicUsize,
}

impl SocketStats {
    /// Connections now.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// Serves `api` on `listener` until `shutdown`, then until every connection has ended.
pub async fn serve(
    listener: UnixListener,
    api: Arc<Api>,
    options: ServeOptions,
    shutdown: CancellationToken,
) {
    let mut server = Server {
        quotas: PeerQuotas::new(options.events.clone()),
        refused: 0,
        api,
        options,
        shutdown,
        connections: JoinSet::new(),
        next_id: 0,
    };
    let mut backoff = Backoff::default();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    backoff = Backoff::default();
                    server.accepted(stream);
                }
                Err(error) => {
                    let pause = backoff.after(&error);
                    tokio::select! {
                        () = sleep(pause) => {}
                        () = server.shutdown.cancelled() => {}
                    }
                }
            },
            Some(ended) = server.connections.join_next() => server.ended(ended),
            () = server.shutdown.cancelled() => break,
        }
    }
    drop(listener);
    server.finish().await;
}

struct Server {
    api: Arc<Api>,
    options: ServeOptions,
    shutdown: CancellationToken,
    connections: JoinSet<()>,
    quotas: Arc<PeerQuotas>,
    /// Connections refused for the number of all, since one was let in.
    refused: u64,
    next_id: u64,
}

impl Server {
    fn accepted(&mut self, stream: UnixStream) {
        let peer = match stream.peer_cred() {
            Ok(credentials) => Peer::from(credentials),
            Err(error) => {
                tracing::warn!(%error, "refused a connection: its peer is unknown");
                return;
            }
        };
        if admit(peer.uid, self.options.owner_uid) == Admission::Refused {
            tracing::warn!(
                uid = peer.uid,
                pid = peer.pid,
                "refused a connection of another user"
            );
            return;
        }
        let seat = match self.seat(&peer) {
            Ok(seat) => seat,
            Err(refusal) => return refuse_for_number(&stream, refusal),
        };
        let process = PeerProcess::of(&stream);
        let id = ConnectionId(self.next_id);
        self.next_id += 1;
        tracing::debug!(connection = id.0, pid = peer.pid, "connection opened");
        let context = ConnectionContext::new(id, peer)
            .with_quota(&seat.quota)
            .with_descent(self.options.descent.clone());
        let context = Arc::new(context);
        let (api, shutdown) = (Arc::clone(&self.api), self.shutdown.clone());
        self.connections.spawn(async move {
            let _seat = seat;
            // Before the peer can end or lose its parents.
            context.look_at_peer(&process);
            drop(process);
            let counted = Arc::clone(&context);
            let end = serve_connection(stream, context, api, shutdown).await;
            let (requests, errors) = (counted.counters.requests(), counted.counters.errors());
            tracing::debug!(
                connection = id.0,
                ?end,
                requests,
                errors,
                "connection closed"
            );
        });
        self.count();
    }

    /// A place for one more connection of this peer.
    fn seat(&mut self, peer: &Peer) -> Result<Seat, RpcError> {
        let all = self.options.connections_max;
        let most = if self.quotas.is_newcomer(peer.pid) {
            all
        } else {
            all - all / NEWCOMERS_SHARE
        };
        if self.connections.len() >= most {
            self.refused += 1;
            if self.refused == 1 {
                tracing::warn!(
                    pid = peer.pid,
                    most,
                    "connections are refused: there are too many"
                );
            }
            return Err(RpcError::overloaded("connections", most));
        }
        let seat = self.quotas.sit_down(peer.pid);
        let seat = seat.map_err(RpcError::from)?;
        if self.refused > 1 {
            tracing::warn!(refused = self.refused, "connections are let in again");
        }
        self.refused = 0;
        Ok(seat)
    }

    fn ended(&self, ended: Result<(), tokio::task::JoinError>) {
        self.count();
        self.options.heap.freed();
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!("a connection's task panicked");
        }
    }

    fn count(&self) {
        self.options
            .stats
            .connections
            .store(self.connections.len(), Ordering::Relaxed);
    }

    /// Waits for the connections, which have seen the same token; drops those that linger.
    async fn finish(mut self) {
        let all_ended = async {
            while let Some(ended) = self.connections.join_next().await {
                self.ended(ended);
            }
        };
        if timeout(SHUTDOWN_DEADLINE, all_ended).await.is_err() {
            tracing::warn!(
                left = self.connections.len(),
                "connections dropped at the deadline"
            );
            self.connections.shutdown().await;
        }
        self.count();
    }
}

/// Tells one connection too many why it is closed. A new socket's buffer takes this line.
fn refuse_for_number(stream: &UnixStream, refusal: RpcError) {
    let body = Answer::from(refusal).into_body();
    let line = [Answer::head("null").as_bytes(), &body, b"\n"].concat();
    if let Err(error) = stream.try_write(&line) {
        tracing::debug!(%error, "could not tell it why");
    }
}

/// How long to leave accept(2) alone after it failed. What fails it (`EMFILE`, `ENFILE`,
/// `ENOMEM`, accept(2)) is over only when something else lets go, and the connection that waits
/// keeps the listener readable: without a pause this would spin.
#[derive(Debug, Default)]
struct Backoff(Option<Duration>);

impl Backoff {
    /// The next pause. Only the first failure in a row is logged.
    fn after(&mut self, error: &io::Error) -> Duration {
        let pause = match self.0 {
            None => {
                tracing::warn!(%error, "cannot accept connections for now");
                MIN_ACCEPT_BACKOFF
            }
            Some(before) => (before * 2).min(MAX_ACCEPT_BACKOFF),
        };
        self.0 = Some(pause);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backoff_doubles_up_to_its_bound() {
        let error = io::Error::from_raw_os_error(24);
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..9).map(|_| backoff.after(&error).as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    }
}
