//! What a handler may know of the connection that a call came on.
//!
//! Must not know: bytes, lines, calls.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use termd_proto::Tags;
use termd_proto::daemon::{ClientSettings, Hello};
use termd_proto::terminal::{Agent, Front, MAX_INHERITED_FDS};
use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::backlog::{Backlog, Turn};
use super::limits::{MAX_CLIENT_NAME_BYTES, MAX_CWD_BYTES};
use super::peer::{Peer, PeerProcess};
use super::peer_quota::PeerQuota;
use crate::approval::{Approvals, PersonInReach, Reach};
use crate::service::{Descent, Origin, Placement, ServedAgent};
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
    /// The agent's session, of an agent's shell; at the most [`MAX_CLIENT_NAME_BYTES`] bytes.
    pub session: Option<String>,
    /// Tags of each terminal that it creates.
    pub tags: Tags,
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
    gates: Mutex<Gates>,
    /// Says whose the peer is; `None` in tests: every peer is a person's.
    descent: Option<Arc<Descent>>,
    /// Where the peer came from when the connection began. It may have lost its parents since.
    origin: OnceLock<Origin>,
    /// The process of the agent that the client serves.
    served: Mutex<Option<ServedAgent>>,
    /// The agent to which the peer, or the agent that it serves, was last found to belong.
    last_agent: Mutex<Option<Agent>>,
    /// Whether the client has ever said that it is an agent's front.
    was_agents_front: AtomicBool,
    /// The ways to a person that the connection is.
    reach: Mutex<Vec<PersonInReach>>,
    /// The descriptors that came beside lines, until a call takes them.
    fds: Mutex<Vec<OwnedFd>>,
    /// Whether the peer reads what is sent to it.
    pub(super) backlog: Backlog,
    /// What its peer has of the socket.
    pub(super) quota: Arc<PeerQuota>,
}

/// The introduction's settings for the gate, compiled once.
#[derive(Debug, Default)]
struct Gates {
    /// As the client has set them.
    own: Arc<CompiledGate>,
    /// The same, and not switched off: an agent's process does not do that for itself.
    of_agent: Arc<CompiledGate>,
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
            gates: Mutex::default(),
            descent: None,
            origin: OnceLock::new(),
            served: Mutex::default(),
            last_agent: Mutex::default(),
            was_agents_front: AtomicBool::new(false),
            reach: Mutex::default(),
            fds: Mutex::default(),
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

    /// Looks where the peer comes from, once. Of a peer that has ended nobody can tell: its pid may be
    /// another process's.
    pub(super) fn look_at_peer(&self, process: &PeerProcess) {
        if let Some(descent) = &self.descent {
            let origin = descent.look_at(self.peer.pid);
            let is_known = !process.has_ended();
            let origin = if is_known {
                origin
            } else {
                Origin::unknown(self.peer.pid)
            };
            self.origin.get_or_init(|| origin);
        }
    }

    fn origin(&self, descent: &Descent) -> &Origin {
        self.origin.get_or_init(|| descent.look_at(self.peer.pid))
    }

    /// Whose the peer itself is, whatever it serves.
    pub(super) fn peer_placement(&self) -> Placement {
        let descent = self.descent.as_ref();
        descent.map_or_else(Placement::default, |descent| {
            descent.place(self.origin(descent))
        })
    }

    /// Whose the peer is now, or the process of the agent that it serves. What was an agent's once
    /// stays so.
    pub(super) fn placement(&self) -> Placement {
        let Some(descent) = &self.descent else {
            return Placement::default();
        };
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let mut placement = match &*served {
            Some(served) => descent.place(&served.origin),
            None => descent.place(self.origin(descent)),
        };
        let mut last = self.last_agent();
        match &placement.agent {
            Some(agent) => *last = Some(agent.clone()),
            None => placement.agent.clone_from(&last),
        }
        placement
    }

    fn last_agent(&self) -> MutexGuard<'_, Option<Agent>> {
        let last = self.last_agent.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent that the client serves, by all of its names.
    pub(super) fn served_agent(&self) -> Option<Agent> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        self.descent.as_ref()?.agent(served.as_ref()?)
    }

    /// The process of the agent that the client serves: the pid, and the start in clock ticks since boot.
    pub(super) fn served_process(&self) -> Option<(i32, u64)> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.as_ref().map(ServedAgent::process)
    }

    /// Whether the client can ask its person, or another front of the same agent can.
    pub(super) fn asks(&self) -> bool {
        let of_agent = || {
            let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
            let descent = self.descent.as_ref();
            let both = descent.zip(served.as_ref());
            both.is_some_and(|(descent, served)| descent.asks(served))
        };
        self.introduction().asks || of_agent() || self.placement().asks
    }

    /// Notes the process of the agent that the client says it serves. Any other process than its own
    /// and its parent is not believed.
    pub(super) fn serve(&self, hello: &Hello) {
        let client = &hello.client;
        let Some(front) = hello.front.filter(|front| front.is_agents()) else {
            return;
        };
        self.was_agents_front.store(true, Ordering::Release);
        let (Some(descent), Some(named)) = (&self.descent, hello.agent_pid) else {
            return;
        };
        let origin = self.origin(descent);
        let found = descent.serve(origin, named, front, client.as_deref(), hello.asks);
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_some() && *served != found {
            // The peer itself is of course below the agent that it serves.
            *self.last_agent() = None;
            *served = found;
        }
    }

    pub(super) fn was_agents_front(&self) -> bool {
        self.was_agents_front.load(Ordering::Acquire)
    }

    /// Counts the connection as a way to a person until it ends, once for each kind of way.
    pub(super) fn reach(&self, approvals: &Approvals, reach: Reach) {
        let mut ways = self.reach.lock().unwrap_or_else(PoisonError::into_inner);
        if ways.iter().all(|way| way.reach() != reach) {
            ways.push(approvals.join(reach, self.peer.pid));
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

    /// Waits until a command of the peer may be checked; the turn is held while it is.
    ///
    /// To be awaited before the call does anything: calls that wait for it end with the connection.
    pub(super) async fn check_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.quota.check_turn().await
    }

    /// Keeps descriptors that came beside a line for its call, in their order. Those that are too many
    /// are closed.
    pub(super) fn add_fds(&self, more: Vec<OwnedFd>) {
        let mut fds = self.fds.lock().unwrap_or_else(PoisonError::into_inner);
        fds.extend(more);
        fds.truncate(MAX_INHERITED_FDS);
    }

    /// Takes all descriptors that have come.
    pub(super) fn take_fds(&self) -> Vec<OwnedFd> {
        let mut fds = self.fds.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut fds)
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
        let is_agents = self.placement().agent.is_some();
        let gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = if is_agents {
            &gates.of_agent
        } else {
            &gates.own
        };
        Arc::clone(gate)
    }

    /// Takes what the client says of itself, in place of what it said before.
    pub fn set_introduction(&self, introduction: Introduction) -> Result<(), IntroductionError> {
        let bounds = [
            ("client", &introduction.client, MAX_CLIENT_NAME_BYTES),
            ("cwd", &introduction.cwd, MAX_CWD_BYTES),
            ("session", &introduction.session, MAX_CLIENT_NAME_BYTES),
        ];
        for (field, text, limit) in bounds {
            if text.as_ref().is_some_and(|text| text.len() > limit) {
                return Err(IntroductionError::TooLong { field, limit });
            }
        }
        let mut settings = introduction.settings.gate.clone();
        let own = Arc::new(CompiledGate::compile(&settings)?);
        let of_agent = if settings.enabled {
            Arc::clone(&own)
        } else {
            settings.enabled = true;
            Arc::new(CompiledGate::compile(&settings)?)
        };
        let gates = Gates { own, of_agent };
        *self.gates.lock().unwrap_or_else(PoisonError::into_inner) = gates;
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
