//! The daemon over one connection after another: connects, starts the daemon if none runs, says
//! hello, and reconnects when the server was replaced.
//!
//! A [`Link`] repeats an idempotent call on the next connection until it has an answer, for
//! [`RECONNECT_DEADLINE`] at most. It never sends a call twice that starts or types something.

use std::borrow::Borrow;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use std::{env, io};

use jsonrpsee::core::ClientError as RpcError;
use jsonrpsee::core::client::Subscription;
use termd_proto::daemon::{ClientSettings, Hello};
use termd_proto::method::Subscribe;
use termd_proto::terminal::{AttachMode, AttachTerminal, Front, HoldTerminal};
use termd_proto::{TerminalRef, code};
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::error::ClientError;
use crate::rpc::{CALL_DEADLINE, Request, Rpc};
use crate::socket_path::{self, Found, socket_path};
use crate::start::{daemon_binary, start_daemon};

/// How long a replaced daemon may be away before termctl gives up.
const RECONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// How long to wait for a place in a full listen backlog.
const BACKLOG_DEADLINE: Duration = Duration::from_secs(10);
/// The pause between two attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Whether to start the daemon if none is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPolicy {
    Start,
    /// Fail with [`ClientError::NotRunning`].
    Never,
}

/// The greeting of a client on each connection.
#[derive(Debug, Clone)]
pub struct Introduction {
    /// The client's name, for audit records and for the owner of its terminals.
    pub client: String,
    /// The client's front.
    pub front: Front,
    /// How the client wants the daemon to treat its calls.
    pub settings: Option<ClientSettings>,
    /// The process of the agent that the client serves: its own or its parent's.
    pub agent_pid: Option<i32>,
    /// Whether the client can ask its person.
    pub asks: bool,
    /// How long one call may take.
    pub call_deadline: Duration,
}

impl Default for Introduction {
    /// A verb of termctl.
    fn default() -> Self {
        Self {
            client: "termctl".to_owned(),
            front: Front::Cli,
            settings: None,
            agent_pid: None,
            asks: false,
            call_deadline: CALL_DEADLINE,
        }
    }
}

/// The daemon, over one connection after another.
#[derive(Debug)]
pub struct Link {
    socket: PathBuf,
    start: StartPolicy,
    introduction: Introduction,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rpc: Arc<Rpc>,
    /// Terminals that end with this client. Each new connection names them to the daemon.
    held: Vec<TerminalRef>,
    /// Terminals that this client is attached to. Each new connection names them to the daemon.
    attached: Vec<(TerminalRef, AttachMode)>,
    /// The first failure since the last answer, or since the daemon was given up.
    failing_since: Option<Instant>,
    /// The daemon stayed away once. It is not being replaced: the next call may start it.
    is_given_up: bool,
}

/// The outcome of one attempt at a call.
enum Attempt<T> {
    Answered(T),
    /// The daemon refused, or its answer makes no sense.
    Failed(ClientError),
    /// The connection broke. The call may have been carried out.
    Broken,
    /// The daemon was ending and did not carry the call out.
    NotTaken,
}

impl Link {
    /// Connects, starting the daemon if the policy says so.
    pub async fn open(policy: StartPolicy) -> Result<Self, ClientError> {
        Self::open_as(policy, Introduction::default()).await
    }

    /// Connects, with an introduction.
    pub async fn open_as(
        policy: StartPolicy,
        introduction: Introduction,
    ) -> Result<Self, ClientError> {
        let socket = socket_path()?;
        let stream = match connect(&socket).await? {
            Some(stream) => stream,
            None if policy == StartPolicy::Never => {
                return Err(ClientError::NotRunning { path: socket });
            }
            None => {
                start_daemon(&daemon_binary()).await?;
                connect(&socket)
                    .await?
                    .ok_or_else(|| ClientError::NothingListens {
                        path: socket.clone(),
                    })?
            }
        };
        Ok(Self::on(stream, socket, policy, introduction).await)
    }

    async fn on(
        stream: UnixStream,
        socket: PathBuf,
        start: StartPolicy,
        introduction: Introduction,
    ) -> Self {
        let state = State {
            rpc: introduce(stream, &introduction).await,
            held: Vec::new(),
            attached: Vec::new(),
            failing_since: None,
            is_given_up: false,
        };
        Self {
            socket,
            start,
            introduction,
            state: Mutex::new(state),
        }
    }

    /// Makes an idempotent call: reads, waits, sizes.
    pub async fn repeat<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        self.repeat_with::<R, _>(|| request).await
    }

    /// Makes an idempotent call whose request is built for each attempt.
    pub async fn repeat_with<R, B>(
        &self,
        request: impl Fn() -> B + Send + Sync,
    ) -> Result<R::Answer, ClientError>
    where
        R: Request,
        B: Borrow<R> + Send + Sync,
    {
        loop {
            let rpc = self.current().await;
            let request = request();
            match attempt(&rpc, rpc.call(request.borrow())).await {
                Attempt::Answered(answer) => {
                    self.state.lock().await.failing_since = None;
                    return Ok(answer);
                }
                Attempt::Failed(error) => return Err(error),
                Attempt::Broken | Attempt::NotTaken => self.reconnect(&rpc).await?,
            }
        }
    }

    /// Makes a call that must not be made twice: it starts, types or ends something.
    pub async fn once<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        loop {
            let rpc = self.current().await;
            if !rpc.is_connected() {
                // The connection broke before this call, so nothing is in doubt.
                self.reconnect(&rpc).await?;
                continue;
            }
            match attempt(&rpc, rpc.call(request)).await {
                Attempt::Answered(answer) => {
                    self.state.lock().await.failing_since = None;
                    return Ok(answer);
                }
                Attempt::Failed(error) => return Err(error),
                Attempt::NotTaken => self.reconnect(&rpc).await?,
                Attempt::Broken => {
                    self.reconnect(&rpc).await?;
                    return Err(ClientError::InDoubt);
                }
            }
        }
    }

    /// Subscribes on the current connection. Its end ends the subscription.
    pub async fn subscribe<S: Subscribe>(
        &self,
        params: &S,
    ) -> Result<Subscription<S::Item>, ClientError> {
        loop {
            let rpc = self.current().await;
            match attempt(&rpc, rpc.subscribe(params)).await {
                Attempt::Answered(subscription) => {
                    self.state.lock().await.failing_since = None;
                    return Ok(subscription);
                }
                Attempt::Failed(error) => return Err(error),
                Attempt::Broken | Attempt::NotTaken => self.reconnect(&rpc).await?,
            }
        }
    }

    /// Ties a terminal to each new connection.
    pub async fn keep_holding(&self, terminal: TerminalRef) {
        self.state.lock().await.held.push(terminal);
    }

    /// Attaches this client to a terminal, now and on each new connection.
    pub async fn attach(
        &self,
        terminal: &TerminalRef,
        mode: AttachMode,
    ) -> Result<(), ClientError> {
        let request = AttachTerminal {
            id: terminal.clone(),
            mode: Some(mode),
        };
        match self.repeat(&request).await {
            // An older daemon does not know the method.
            Err(ClientError::Refused(refusal)) if refusal.code() == code::METHOD_NOT_FOUND => {}
            said => said?,
        }
        self.state
            .lock()
            .await
            .attached
            .push((terminal.clone(), mode));
        Ok(())
    }

    /// Unties a terminal from new connections.
    pub async fn stop_holding(&self, terminal: &TerminalRef) {
        self.state.lock().await.held.retain(|held| held != terminal);
    }

    /// Reconnects whenever the connection breaks, and ties the terminals again, until the daemon stays
    /// away.
    pub async fn stay(&self) -> Result<(), ClientError> {
        loop {
            let rpc = self.current().await;
            rpc.disconnected().await;
            self.reconnect(&rpc).await?;
        }
    }

    async fn current(&self) -> Arc<Rpc> {
        Arc::clone(&self.state.lock().await.rpc)
    }

    /// Replaces a broken connection, unless another call has done so.
    async fn reconnect(&self, broken: &Arc<Rpc>) -> Result<(), ClientError> {
        let mut state = self.state.lock().await;
        if !Arc::ptr_eq(&state.rpc, broken) {
            return Ok(());
        }
        let mut at_once = state.failing_since.is_none();
        let since = *state.failing_since.get_or_insert_with(Instant::now);
        let mut why = ClientError::WentAway;
        loop {
            if !std::mem::take(&mut at_once) {
                if since.elapsed() > RECONNECT_DEADLINE {
                    state.failing_since = None;
                    state.is_given_up = true;
                    return Err(why);
                }
                sleep(RETRY_PAUSE).await;
            }
            match connect(&self.socket).await {
                Ok(Some(stream)) => {
                    state.is_given_up = false;
                    state.rpc = introduce(stream, &self.introduction).await;
                }
                Ok(None) => {
                    if std::mem::take(&mut state.is_given_up) && self.start == StartPolicy::Start {
                        // A future that most calls never need.
                        Box::pin(start_daemon(&daemon_binary())).await?;
                    }
                    continue;
                }
                Err(error) => {
                    why = error;
                    continue;
                }
            }
            match hold_all(&state).await {
                Attempt::Answered(()) => return Ok(()),
                Attempt::Failed(error) => return Err(error),
                Attempt::Broken | Attempt::NotTaken => {}
            }
        }
    }
}

/// Ties the held terminals to this connection, except those that are gone.
async fn hold_all(state: &State) -> Attempt<()> {
    for held in &state.held {
        let request = HoldTerminal { id: held.clone() };
        match attempt(&state.rpc, state.rpc.call(&request)).await {
            Attempt::Failed(ClientError::Refused(refusal))
                if state.held.len() > 1 && refusal.code() == code::RESOURCE_NOT_FOUND => {}
            Attempt::Answered(()) => {}
            failed => return failed,
        }
    }
    for (attached, mode) in &state.attached {
        let request = AttachTerminal {
            id: attached.clone(),
            mode: Some(*mode),
        };
        match attempt(&state.rpc, state.rpc.call(&request)).await {
            // The terminal is gone, or the daemon is too old.
            Attempt::Answered(()) | Attempt::Failed(_) => {}
            broken => return broken,
        }
    }
    Attempt::Answered(())
}

async fn attempt<T>(rpc: &Rpc, call: impl Future<Output = Result<T, RpcError>>) -> Attempt<T> {
    match call.await {
        Ok(answer) => Attempt::Answered(answer),
        Err(RpcError::Call(refusal)) if refusal.code() == code::UNAVAILABLE => Attempt::NotTaken,
        Err(refused @ RpcError::Call(_)) => Attempt::Failed(refused.into()),
        Err(_) if !rpc.is_connected() => Attempt::Broken,
        Err(error) => Attempt::Failed(error.into()),
    }
}

/// Connects to the user's own socket, if the listener is the user's too. `None` if nothing listens.
async fn connect(socket: &Path) -> Result<Option<UnixStream>, ClientError> {
    let own_uid = socket_path::own_uid();
    if socket_path::inspect(socket, own_uid)? == Found::Nothing {
        return Ok(None);
    }
    let begun = Instant::now();
    let cannot = |source: io::Error| ClientError::Connect {
        path: socket.to_owned(),
        source,
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

/// Sets up JSON-RPC on a connection and says hello. The hello goes out with the first call, which
/// saves a round trip. The daemon reads them in order.
async fn introduce(stream: UnixStream, introduction: &Introduction) -> Arc<Rpc> {
    let rpc = Arc::new(Rpc::on(stream, introduction.call_deadline));
    let Introduction {
        client,
        front,
        settings,
        agent_pid,
        asks,
        ..
    } = introduction.clone();
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
    };
    let mut hello = Box::pin(async move {
        // A daemon that does not know hello still answers calls.
        let _ = saying.call(&hello).await;
    });
    let said = std::future::poll_fn(|cx| Poll::Ready(pin!(hello.as_mut()).poll(cx))).await;
    if said.is_pending() {
        tokio::spawn(hello);
    }
    rpc
}

#[cfg(test)]
mod tests;
