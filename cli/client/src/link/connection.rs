//! The connection to the daemon that a [`Link`](super::Link) keeps up.
//!
//! A task of its own opens the connection and replaces it, and those who need it wait for the
//! outcome. So a call that is dropped, or not polled any more, holds up no other.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use std::{env, io};

use jsonrpsee::core::ClientError as RpcError;
use termd_proto::daemon::Hello;
use termd_proto::terminal::{AttachTerminal, HoldTerminal};
use termd_proto::{TerminalRef, code};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{Introduction, StartPolicy};
use crate::error::ClientError;
use crate::rpc::{Rpc, is_unread};
use crate::socket_path::{self, Found, SocketPlace};
use crate::start::{daemon_binary, start_daemon};
use crate::units::Units;

/// How long a replaced daemon may be away before termctl gives up.
const RECONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// How long to wait for a place in a full listen backlog.
const BACKLOG_DEADLINE: Duration = Duration::from_secs(10);
/// How long the first answer of a daemon that may be started is waited for, unless it is starting without
/// systemd: replaying a large database takes seconds.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// The same for a client that only looks whether there is one.
const LOOK_PATIENCE: Duration = Duration::from_secs(3);
/// The pause between two attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// What a connection is to a terminal. Each new connection says so to the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tie {
    /// The terminal ends with this client.
    Hold(TerminalRef),
    /// The client is attached.
    Attach(AttachTerminal),
}

/// The connection to the daemon, replaced when it breaks.
#[derive(Debug)]
pub(super) struct Connection(Arc<Shared>);

/// What calls and the task of a renewal share.
#[derive(Debug)]
struct Shared {
    place: SocketPlace,
    start: StartPolicy,
    introduction: Introduction,
    /// Locked for a look, never across an await.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The newest connection. `None` before the first.
    rpc: Option<Arc<Rpc>>,
    ties: Vec<Tie>,
    /// The first failure since the last answer, or since the daemon was given up.
    failing_since: Option<Instant>,
    /// The daemon stayed away once. It is not being replaced: the next call may start it.
    is_given_up: bool,
    /// The task that opens or replaces the connection, while it runs.
    renewal: Option<Renewal>,
}

type Outcome = Result<Arc<Rpc>, ClientError>;

/// The outcome of opening or replacing the connection. `None` until then.
type Renewal = watch::Receiver<Option<Outcome>>;

/// The outcome of one attempt at a call.
pub(super) enum Attempt<T> {
    Answered(T),
    /// The daemon refused, or its answer makes no sense.
    Failed(ClientError),
    /// The connection broke. The call may have been carried out.
    Broken,
    /// The daemon was ending and did not carry the call out.
    NotTaken,
}

impl Connection {
    /// A connection that is opened when it is needed.
    pub(super) fn new(place: SocketPlace, start: StartPolicy, introduction: Introduction) -> Self {
        Self(Arc::new(Shared {
            place,
            start,
            introduction,
            state: Mutex::default(),
        }))
    }

    /// The newest connection. Opens the first.
    pub(super) async fn current(&self) -> Outcome {
        self.other_than(None).await
    }

    /// Replaces a broken connection, unless that has been done.
    pub(super) async fn replace(&self, broken: &Arc<Rpc>) -> Result<(), ClientError> {
        self.other_than(Some(broken)).await.map(drop)
    }

    async fn other_than(&self, broken: Option<&Arc<Rpc>>) -> Outcome {
        let mut renewal = {
            let mut state = self.0.lock();
            match (&state.renewal, &state.rpc) {
                (Some(renewal), _) => renewal.clone(),
                (None, Some(rpc)) if !broken.is_some_and(|broken| Arc::ptr_eq(rpc, broken)) => {
                    return Ok(Arc::clone(rpc));
                }
                (None, _) => Shared::renew(&self.0, &mut state),
            }
        };
        match renewal.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            // The runtime is ending.
            Ok(None) | Err(_) => Err(ClientError::WentAway),
        }
    }

    /// A call was answered.
    pub(super) fn answered(&self) {
        self.0.lock().failing_since = None;
    }

    /// Names this tie on each new connection.
    pub(super) fn tie(&self, tie: Tie) {
        self.0.lock().ties.push(tie);
    }

    /// Names these ties no more.
    pub(super) fn untie(&self, is_untied: impl Fn(&Tie) -> bool) {
        self.0.lock().ties.retain(|tie| !is_untied(tie));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the task that opens the first connection or replaces the newest.
    fn renew(shared: &Arc<Self>, state: &mut State) -> Renewal {
        let (tell, renewal) = watch::channel(None);
        state.renewal = Some(renewal.clone());
        let is_first = state.rpc.is_none();
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let outcome = if is_first {
                shared.open().await
            } else {
                shared.reconnect().await
            };
            shared.lock().renewal = None;
            tell.send_replace(Some(outcome));
        });
        renewal
    }

    /// Opens the first connection, and starts the daemon if the policy says so.
    async fn open(&self) -> Outcome {
        let stream = match self.connect().await? {
            Some(stream) => stream,
            None => self.start_and_connect().await?,
        };
        let rpc = self.introduce(stream).await;
        self.lock().rpc = Some(Arc::clone(&rpc));
        Ok(rpc)
    }

    /// Starts the daemon, where that may be done.
    async fn start_and_connect(&self) -> Result<UnixStream, ClientError> {
        let path = || self.place.path.clone();
        let units = Units::listening_at(&self.place.path).await;
        // A daemon outside systemd would be in the way of the socket.
        if let Some(reason) = units.and_then(|units| units.socket_failure()) {
            return Err(ClientError::StartRefused { reason });
        }
        if self.start == StartPolicy::Never {
            return Err(ClientError::NotRunning { path: path() });
        }
        start_daemon(&daemon_binary()).await?;
        let stream = self.connect().await?;
        stream.ok_or_else(|| ClientError::NothingListens { path: path() })
    }

    /// Connects to the socket, or where the daemon's lock says that it listens.
    async fn connect(&self) -> Result<Option<UnixStream>, ClientError> {
        let place = &self.place;
        if let Some(stream) = connect(&place.path).await? {
            return Ok(Some(stream));
        }
        let Some(socket) = place.elsewhere() else {
            return Ok(None);
        };
        // What a daemon that has ended has left in its lock is no fault of now.
        match connect(&socket).await {
            Ok(Some(_)) if place.is_named => Err(ClientError::ListensElsewhere {
                named: place.path.clone(),
                socket,
            }),
            found => Ok(found.ok().flatten()),
        }
    }

    /// Connects again, until the daemon stays away.
    async fn reconnect(&self) -> Outcome {
        let (mut at_once, since) = {
            let mut state = self.lock();
            let at_once = state.failing_since.is_none();
            let since = *state.failing_since.get_or_insert_with(Instant::now);
            (at_once, since)
        };
        let mut why = ClientError::WentAway;
        let mut asks_systemd = true;
        loop {
            if !std::mem::take(&mut at_once) {
                // Two connections in a row gave no answer, or nothing listens.
                if std::mem::take(&mut asks_systemd)
                    && let Some(units) = Units::listening_at(&self.place.path).await
                    && let Some(reason) = units.socket_failure().or(units.start_failure())
                {
                    self.lock().failing_since = None;
                    return Err(ClientError::StartRefused { reason });
                }
                if since.elapsed() > RECONNECT_DEADLINE {
                    let mut state = self.lock();
                    state.failing_since = None;
                    state.is_given_up = true;
                    return Err(why);
                }
                sleep(RETRY_PAUSE).await;
            }
            match self.connect().await {
                Ok(Some(stream)) => {
                    let rpc = self.introduce(stream).await;
                    self.lock().is_given_up = false;
                    match self.adopt(&rpc).await {
                        Attempt::Answered(()) => return Ok(rpc),
                        Attempt::Failed(error) => return Err(error),
                        Attempt::Broken | Attempt::NotTaken => {}
                    }
                }
                Ok(None) => {
                    let was_given_up = std::mem::take(&mut self.lock().is_given_up);
                    if was_given_up && self.start == StartPolicy::Start {
                        start_daemon(&daemon_binary()).await?;
                    }
                }
                Err(error) => why = error,
            }
        }
    }

    /// Sets up JSON-RPC on a connection and says hello. The hello goes out with the first call, which
    /// saves a round trip. The daemon reads them in order.
    async fn introduce(&self, stream: UnixStream) -> Arc<Rpc> {
        let rpc = Arc::new(Rpc::on(stream, self.introduction.call_deadline));
        let Introduction {
            client,
            front,
            settings,
            agent_pid,
            asks,
            tags,
            ..
        } = self.introduction.clone();
        let saying = Arc::clone(&rpc);
        let cwd = env::current_dir()
            .ok()
            .and_then(|dir| dir.into_os_string().into_string().ok());
        let hello = Hello {
            client: Some(client),
            front: Some(front),
            cwd,
            settings,
            agent_pid,
            asks,
            session: None,
            tags,
        };
        let socket = self.place.path.clone();
        let patience = match self.start {
            StartPolicy::Start => START_PATIENCE,
            StartPolicy::Never => LOOK_PATIENCE,
        };
        let mut hello = Box::pin(async move {
            let mut call = pin!(saying.call(&hello));
            // A daemon that does not know hello still answers calls.
            if timeout(patience, call.as_mut()).await.is_ok() {
                return;
            }
            let units = Units::listening_at(&socket).await;
            match units.and_then(|units| units.unfinished_start(patience)) {
                Some(reason) => saying.give_up(reason),
                None => drop(call.await),
            }
        });
        let said = std::future::poll_fn(|cx| Poll::Ready(pin!(hello.as_mut()).poll(cx))).await;
        if said.is_pending() {
            tokio::spawn(hello);
        }
        rpc
    }

    /// Names the ties on a connection, except those whose terminal is gone, and makes it the newest.
    async fn adopt(&self, rpc: &Arc<Rpc>) -> Attempt<()> {
        let mut named = Vec::new();
        loop {
            let (tie, held) = {
                let mut state = self.lock();
                // What was tied meanwhile is named, too.
                let Some(tie) = state.ties.iter().find(|tie| !named.contains(*tie)) else {
                    state.rpc = Some(Arc::clone(rpc));
                    return Attempt::Answered(());
                };
                let holds = |tie: &&Tie| matches!(tie, Tie::Hold(_));
                (tie.clone(), state.ties.iter().filter(holds).count())
            };
            let said = match &tie {
                Tie::Hold(id) => attempt(rpc, rpc.call(&HoldTerminal { id: id.clone() })).await,
                Tie::Attach(request) => attempt(rpc, rpc.call(request)).await,
            };
            match (said, &tie) {
                // The terminal is gone, or the daemon is too old.
                (Attempt::Answered(()), _) | (Attempt::Failed(_), Tie::Attach(..)) => {}
                (Attempt::Failed(ClientError::Refused(refusal)), Tie::Hold(_))
                    if held > 1 && refusal.code() == code::RESOURCE_NOT_FOUND => {}
                (Attempt::Failed(error), Tie::Hold(_)) => {
                    self.lock().rpc = Some(Arc::clone(rpc));
                    return Attempt::Failed(error);
                }
                (broken, _) => return broken,
            }
            named.push(tie);
        }
    }
}

/// Awaits a call, and sorts its failures.
pub(super) async fn attempt<T>(
    rpc: &Rpc,
    call: impl Future<Output = Result<T, RpcError>>,
) -> Attempt<T> {
    let outcome = tokio::select! {
        biased;
        outcome = call => outcome,
        reason = rpc.given_up() => {
            return Attempt::Failed(ClientError::StartRefused { reason });
        }
    };
    match outcome {
        Ok(answer) => Attempt::Answered(answer),
        Err(RpcError::Call(refusal)) if refusal.code() == code::UNAVAILABLE => Attempt::NotTaken,
        Err(refused @ RpcError::Call(_)) => Attempt::Failed(refused.into()),
        Err(error) if is_unread(&error) => Attempt::NotTaken,
        Err(_) if !rpc.is_connected() => Attempt::Broken,
        Err(error) => Attempt::Failed(error.into()),
    }
}

/// Connects to the user's own socket, if the listener is the user's too. `None` if nothing listens.
pub(super) async fn connect(socket: &Path) -> Result<Option<UnixStream>, ClientError> {
    let own_uid = socket_path::own_uid();
    if socket_path::inspect(socket, own_uid)? == Found::Nothing {
        return Ok(None);
    }
    let begun = Instant::now();
    let cannot = |source: io::Error| ClientError::Connect {
        path: socket.to_owned(),
        source: source.into(),
    };
    let stream = loop {
        match UnixStream::connect(socket).await {
            Ok(stream) => break stream,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => return Ok(None),
                // The backlog is full (unix(7)): the daemon is busy or being replaced.
                io::ErrorKind::WouldBlock if begun.elapsed() < BACKLOG_DEADLINE => {
                    sleep(RETRY_PAUSE).await;
                }
                _ => return Err(cannot(error)),
            },
        }
    };
    let peer = stream.peer_cred().map_err(cannot)?;
    if peer.uid() == own_uid {
        Ok(Some(stream))
    } else {
        Err(ClientError::ForeignPeer {
            path: socket.to_owned(),
            peer: peer.uid(),
        })
    }
}
