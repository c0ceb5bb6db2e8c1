//! What a handler may know of the connection that a call came on.
//!
//! Must not know: bytes, lines, calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use termd_proto::daemon::ClientSettings;
use termd_proto::terminal::Front;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::backlog::{Backlog, Turn};
use super::limits::{MAX_CLIENT_NAME_BYTES, MAX_CWD_BYTES};
use super::peer::Peer;
use super::peer_quota::PeerQuota;
use termd_policy::{CompiledGate, PatternError};

/// A connection's number, unique among the connections of this server process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectionId(pub u64);

/// What a client said of itself in `daemon.hello`. Nothing of it is checked against the peer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Introduction {
    /// Its name, at the most [`MAX_CLIENT_NAME_BYTES`] bytes; may hold control characters.
    pub client: Option<String>,
    /// Which front it is.
    pub front: Option<Front>,
    /// Where its terminals start by default, at the most [`MAX_CWD_BYTES`] bytes.
    pub cwd: Option<String>,
    /// How it wants to be treated.
    pub settings: ClientSettings,
}

/// Why an introduction was not taken.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum IntroductionError {
    /// A text is too long.
    #[error("`{field}` may be {limit} bytes long at the most")]
    TooLong {
        /// The param's name.
        field: &'static str,
        /// Its bound in bytes.
        limit: usize,
    },
    /// A pattern for the gate is none.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// One connection, from its accept to its end.
#[derive(Debug)]
pub struct ConnectionContext {
    pub id: ConnectionId,
    /// Who connected.
    pub peer: Peer,
    /// Cancelled when the connection has ended, however it ended.
    pub closed: CancellationToken,
    /// What has happened on it so far.
    pub counters: ConnectionCounters,
    introduction: Mutex<Arc<Introduction>>,
    /// The introduction's settings for the gate, compiled once.
    gate: Mutex<Arc<CompiledGate>>,
    /// Whether the peer reads what is sent to it.
    pub(super) backlog: Backlog,
    /// What its peer has of the socket.
    pub(super) quota: Arc<PeerQuota>,
}

/// Counts since the connection's start, for the log and `daemon.stats`.
#[derive(Debug, Default)]
pub struct ConnectionCounters {
    requests: AtomicU64,
    errors: AtomicU64,
}

impl ConnectionContext {
    /// A connection that has just been accepted.
    pub fn new(id: ConnectionId, peer: Peer) -> Self {
        Self {
            id,
            peer,
            closed: CancellationToken::new(),
            counters: ConnectionCounters::default(),
            introduction: Mutex::default(),
            gate: Mutex::default(),
            backlog: Backlog::default(),
            quota: Arc::default(),
        }
    }

    /// The same, of a peer that may have others.
    pub(super) fn with_quota(self, quota: &Arc<PeerQuota>) -> Self {
        let quota = Arc::clone(quota);
        Self { quota, ..self }
    }

    /// Waits until an answer about this many bytes of output may be made: long ones one after the
    /// other, and only while the peer takes them; short ones whenever they are asked for.
    ///
    /// To be awaited before anything is held that others may need: a peer that does not read can
    /// keep this waiting for as long as it is connected.
    pub async fn turn(&self, output_bytes: u64) -> Turn<'_> {
        self.backlog.turn(output_bytes).await
    }

    /// What the client said of itself; empty until it has.
    pub fn introduction(&self) -> Arc<Introduction> {
        Arc::clone(
            &self
                .introduction
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// How the client wants the gate to be.
    pub fn gate(&self) -> Arc<CompiledGate> {
        Arc::clone(&self.gate.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes what the client says of itself, in place of what it said before.
    pub fn set_introduction(&self, introduction: Introduction) -> Result<(), IntroductionError> {
        let bounds = [
            ("client", &introduction.client, MAX_CLIENT_NAME_BYTES),
            ("cwd", &introduction.cwd, MAX_CWD_BYTES),
        ];
        for (field, text, limit) in bounds {
            if text.as_ref().is_some_and(|text| text.len() > limit) {
                return Err(IntroductionError::TooLong { field, limit });
            }
        }
        let compiled = CompiledGate::compile(&introduction.settings.gate)?;
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(compiled);
        let mut current = self
            .introduction
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(introduction);
        Ok(())
    }
}

impl ConnectionCounters {
    /// Requests and notifications taken, bad lines included.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Error answers given.
    pub fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_error(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_introduction_is_bounded_and_replaces_the_one_before() {
        let context = ConnectionContext::new(ConnectionId(1), Peer::new(0, 0, None));
        assert_eq!(*context.introduction(), Introduction::default());

        let first = Introduction {
            client: Some("zed".into()),
            ..Introduction::default()
        };
        context.set_introduction(first.clone()).unwrap();
        assert_eq!(*context.introduction(), first);

        let long = Introduction {
            cwd: Some("/".repeat(4097)),
            ..Introduction::default()
        };
        let error = IntroductionError::TooLong {
            field: "cwd",
            limit: 4096,
        };
        assert_eq!(context.set_introduction(long), Err(error));
        assert_eq!(*context.introduction(), first);
    }
}
