//! What a handler may know of the connection that a call came on.
//!
//! Must not know: bytes, lines, calls.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use termd_proto::daemon::ClientSettings;
use termd_proto::terminal::Front;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::backlog::{Backlog, Turn};
use super::limits::{MAX_CLIENT_NAME_BYTES, MAX_CWD_BYTES};
use super::peer::Peer;
use super::peer_quota::PeerQuota;
use crate::approval::{Approvals, PersonInReach, Reach};
use crate::service::{Descent, Placement, ServedAgent};
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
    /// Whether it can ask its person.
    pub asks: bool,
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
    /// Says whose the peer is; `None` in tests: every peer is a person's.
    descent: Option<Arc<Descent>>,
    /// Whose the peer was when the connection began. It may have lost its parents since.
    placement: OnceLock<Placement>,
    /// The process of the agent that the client serves.
    served: Mutex<Option<ServedAgent>>,
    /// Whether the client has ever said that it is an agent's front.
    was_agents_front: AtomicBool,
    /// The ways to a person that the connection is.
    reach: Mutex<Vec<PersonInReach>>,
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
            descent: None,
            placement: OnceLock::new(),
            served: Mutex::default(),
            was_agents_front: AtomicBool::new(false),
            reach: Mutex::default(),
            backlog: Backlog::default(),
            quota: Arc::default(),
        }
    }

    /// The same, of a peer that may have others.
    pub(super) fn with_quota(self, quota: &Arc<PeerQuota>) -> Self {
        let quota = Arc::clone(quota);
        Self { quota, ..self }
    }

    /// The same, with what says whose the peer is.
    pub(super) fn with_descent(self, descent: Option<Arc<Descent>>) -> Self {
        Self { descent, ..self }
    }

    /// Whose the peer is, or the process of the agent that it serves.
    pub(super) fn placement(&self) -> Placement {
        if let Some(served) = self.served() {
            return served.placement;
        }
        let placement = self.placement.get_or_init(|| {
            let descent = self.descent.as_ref();
            descent.map_or_else(Placement::default, |descent| descent.place(self.peer.pid))
        });
        placement.clone()
    }

    pub(super) fn served(&self) -> Option<ServedAgent> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.clone()
    }

    /// Notes the process of the agent that the client says it serves. Any other process than its own
    /// and its parent is not believed.
    pub(super) fn serve(&self, front: Option<Front>, agent_pid: Option<i32>, client: Option<&str>) {
        let is_agents = matches!(front, Some(Front::Acp | Front::Mcp));
        if is_agents {
            self.was_agents_front.store(true, Ordering::Release);
        }
        if let (true, Some(descent), Some(pid), Some(named)) =
            (is_agents, &self.descent, self.peer.pid, agent_pid)
        {
            let served = descent.serve(
                pid,
                named,
                front.unwrap_or(Front::Mcp),
                client.map(str::to_owned),
            );
            *self.served.lock().unwrap_or_else(PoisonError::into_inner) = served;
        }
    }

    pub(super) fn was_agents_front(&self) -> bool {
        self.was_agents_front.load(Ordering::Acquire)
    }

    /// Counts the connection as a way to a person until it ends, once for each kind of way.
    pub(super) fn reach(&self, approvals: &Approvals, reach: Reach) {
        let mut ways = self.reach.lock().unwrap_or_else(PoisonError::into_inner);
        if ways.iter().all(|way| way.reach() != reach) {
            ways.push(approvals.join(reach));
        }
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
        let mut settings = introduction.settings.gate.clone();
        // An agent's process does not switch off the gate for itself.
        settings.enabled |= self.placement().agent.is_some();
        let compiled = CompiledGate::compile(&settings)?;
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
