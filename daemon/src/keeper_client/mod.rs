//! The server's side of the control socket.
//!
//! A task owns the socket (`link`); [`KeeperClient`] makes requests of it. By its answers to pings the
//! keeper knows that this process is alive.

mod error;
mod exec_gate;
mod link;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use termd_proto::TerminalId;
use termd_proto::audit::RecordHash;
use termd_proto::terminal::{Stdin, Stdio};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};

use termd_keeper::protocol::confinement::{
    Builder, Confinement, MissingRestriction, Processes, Restriction,
};
use termd_keeper::protocol::message::{
    EndTree, InventoryTerminal, KeeperEvent, LEVEL, LEVEL_AUDIT_HEAD, LEVEL_BUBBLEWRAP,
    LEVEL_CONFINEMENT, LEVEL_FILES, LEVEL_INHERITED, LEVEL_ORPHANS, LEVEL_PIPES,
    LEVEL_PRIVATE_PROCESSES, LEVEL_STDIN, LEVEL_WRITABLE_IDS, MAX_TERMINALS, PROTOCOL_VERSION,
    ProcessList, SpawnRequest, Spawned, TerminalFds, ToKeeper, ToServer,
};

pub use self::error::KeeperError;
use self::error::refusal;
use self::link::{Introduction, Link, Request};

/// Requests waiting for the task; beyond that a caller waits.
const QUEUED_REQUESTS: usize = 64;

/// Events that the server has not taken yet: an exit for each terminal, and three of the daemon. A
/// server that leaves more is stuck, which the keeper's pings find out.
const QUEUED_EVENTS: usize = MAX_TERMINALS + 16;

/// The connection to the keeper. Cheap to clone.
#[derive(Debug, Clone)]
pub struct KeeperClient {
    requests: mpsc::Sender<Request>,
    /// What the keeper supports.
    level: u32,
}

/// What a server starts with.
#[derive(Debug)]
pub struct Connected {
    /// The connection.
    pub keeper: KeeperClient,
    /// Every terminal there is.
    pub inventory: Vec<InventoryTerminal>,
    /// The head of the audit chain that the server before has set.
    pub audit_head: Option<RecordHash>,
    /// Whether the server before ended unasked.
    pub is_recovery: bool,
    /// The keeper's events from now on.
    pub events: mpsc::Receiver<KeeperEvent>,
}

impl KeeperClient {
    /// Says hello on the inherited control socket and receives the inventory. Must be called
    /// inside a tokio runtime with I/O; the task that it spawns there ends with the socket.
    pub async fn connect(control: OwnedFd) -> Result<Connected, KeeperError> {
        // tokio's one type for any Unix socket. Only its readiness is used: packets go through
        // `channel`, for a stream's read and write know no descriptors.
        let socket = std::os::unix::net::UnixStream::from(control);
        socket
            .set_nonblocking(true)
            .map_err(|_| KeeperError::Gone)?;
        let socket = UnixStream::from_std(socket).map_err(|_| KeeperError::Gone)?;
        let mut link = Link::new(socket);
        let (version, level) = (PROTOCOL_VERSION, LEVEL);
        link.queue(0, &ToKeeper::Hello { version, level }, SharedFds::default());
        let Introduction {
            level,
            inventory,
            audit_head,
            is_recovery,
        } = link.receive_inventory().await?;
        let (event_sender, events) = mpsc::channel(QUEUED_EVENTS);
        let (requests, receiver) = mpsc::channel(QUEUED_REQUESTS);
        tokio::spawn(link.run(receiver, event_sender));
        Ok(Connected {
            keeper: Self { requests, level },
            inventory,
            audit_head,
            is_recovery,
            events,
        })
    }

    /// Whether the keeper supports this kind of stdio; older ones know only PTYs.
    pub fn can_start(&self, stdio: Stdio, stdin: Stdin) -> Result<(), KeeperError> {
        match (stdio, stdin) {
            (Stdio::Pipes, _) if self.level < LEVEL_PIPES => Err(KeeperError::TooOld("pipes")),
            (_, Stdin::Pipe) if self.level < LEVEL_STDIN => {
                Err(KeeperError::TooOld("input on a pipe"))
            }
            (_, Stdin::Inherited) if self.level < LEVEL_INHERITED => {
                Err(KeeperError::TooOld("what a command inherits"))
            }
            (Stdio::Pty | Stdio::Pipes, _) => Ok(()),
        }
    }

    /// Whether the keeper supports this confinement. An older one would run the command unconfined.
    pub fn can_confine(&self, confinement: &Confinement) -> Result<(), KeeperError> {
        if confinement.is_more_than_default() && self.level < LEVEL_CONFINEMENT {
            return Err(KeeperError::TooOld("confinement"));
        }
        let builder = confinement.sandbox.as_ref().map(|sandbox| sandbox.builder);
        if builder == Some(Builder::Bubblewrap) && self.level < LEVEL_BUBBLEWRAP {
            return Err(KeeperError::TooOld("sandboxes that bubblewrap builds"));
        }
        Ok(())
    }

    /// Takes out of a confinement what an older keeper would refuse as damaged and did not do when it
    /// was started either. Returns what is missing then.
    pub fn remove_unsupported(
        &self,
        confinement: &mut Confinement,
    ) -> impl Iterator<Item = MissingRestriction> + use<> {
        let mut sandbox = confinement.sandbox.as_mut();
        if let Some(sandbox) = sandbox.as_mut().filter(|_| self.level < LEVEL_WRITABLE_IDS) {
            sandbox.writable_ids.clear();
        }
        let unsupported = sandbox.filter(|sandbox| {
            sandbox.processes == Processes::Private && self.level < LEVEL_PRIVATE_PROCESSES
        });
        let missing: &[Restriction] = match unsupported {
            Some(sandbox) => {
                sandbox.processes = Processes::Shared;
                &[Restriction::PidNamespace, Restriction::IpcNamespace]
            }
            None => &[],
        };
        let errno = nix::libc::ENOSYS;
        (missing.iter()).map(move |&restriction| MissingRestriction { restriction, errno })
    }

    /// Starts a command. Resolves after its execve(2) has succeeded, or with the step that failed.
    /// Dropping the future does not undo the start: the terminal stays.
    pub async fn spawn(&self, command: SpawnCommand) -> Result<Spawned, KeeperError> {
        let SpawnCommand { request, inherited } = command;
        let (id, stdio) = (request.id.clone(), request.stdio);
        self.can_start(stdio, request.stdin)?;
        self.can_confine(&request.confinement)?;
        let message = ToKeeper::Spawn(Box::new(request));
        let (message, fds) = self.request_with(message, inherited).await?;
        Self::spawned(message, fds, stdio, &id)
    }

    /// Has a child do an operation on a file, in the place of a command. `content` is what it writes.
    /// Resolves once the child is confined.
    pub async fn operate_on_file(
        &self,
        request: SpawnRequest,
        content: Option<OwnedFd>,
    ) -> Result<Spawned, KeeperError> {
        if self.level < LEVEL_FILES {
            return Err(KeeperError::TooOld("operations on files"));
        }
        self.can_confine(&request.confinement)?;
        let (id, stdio) = (request.id.clone(), request.stdio);
        let message = ToKeeper::Spawn(Box::new(request));
        let content = content.into_iter().collect();
        let (message, fds) = self.request_with(message, content).await?;
        Self::spawned(message, fds, stdio, &id)
    }

    /// What the keeper supports.
    pub(super) fn level(&self) -> u32 {
        self.level
    }

    /// Reads the answer to a start.
    pub(super) fn spawned(
        message: ToServer,
        fds: Vec<OwnedFd>,
        stdio: Stdio,
        id: &TerminalId,
    ) -> Result<Spawned, KeeperError> {
        match message {
            ToServer::Spawned { process, enforced } => Ok(Spawned {
                process,
                fds: terminal_fds(stdio, fds)?,
                enforced,
            }),
            other => Err(refusal(&other, id)),
        }
    }

    /// Ends everything that belongs to a terminal, also after its root has exited. Resolves when
    /// no process of it is left. A second request while the first runs is fine; the shorter grace wins.
    pub async fn end_tree(&self, id: &TerminalId, end: EndTree) -> Result<(), KeeperError> {
        let id = id.clone();
        self.done(ToKeeper::EndTree { id, end }).await
    }

    /// Sends one signal to everything that belongs to a terminal, once. Resolves when it is sent.
    pub async fn signal_tree(&self, id: &TerminalId, signal: i32) -> Result<(), KeeperError> {
        let id = id.clone();
        self.done(ToKeeper::SignalTree { id, signal }).await
    }

    /// Replaces the notes on a terminal, for the next server. At most
    /// [`termd_keeper::protocol::message::MAX_NOTES_BYTES`]; longer ones are refused and the old ones stay.
    pub async fn set_notes(&self, id: &TerminalId, notes: Vec<u8>) -> Result<(), KeeperError> {
        let id = id.clone();
        self.done(ToKeeper::SetNotes { id, notes }).await
    }

    /// Lets the keeper drop its file descriptors of a terminal that has ended and is stored.
    /// A running one is hung up, as by closing a window.
    pub async fn release_fds(&self, id: &TerminalId) -> Result<(), KeeperError> {
        self.done(ToKeeper::ReleaseFds { id: id.clone() }).await
    }

    /// Has the keeper close the pipe that a command reads: all of its input is in it.
    pub async fn close_stdin(&self, id: &TerminalId) -> Result<(), KeeperError> {
        self.done(ToKeeper::CloseStdin { id: id.clone() }).await
    }

    /// Lets the keeper forget a terminal that is closed; its processes can then not be ended. A
    /// running one is hung up, as by closing a window.
    pub async fn forget(&self, id: &TerminalId) -> Result<(), KeeperError> {
        self.done(ToKeeper::Forget { id: id.clone() }).await
    }

    /// The processes that belong to no terminal; `None` from a keeper that cannot list them.
    pub async fn orphans(&self) -> Result<Option<ProcessList>, KeeperError> {
        if self.level < LEVEL_ORPHANS {
            return Ok(None);
        }
        match self.request(ToKeeper::ListOrphans).await?.0 {
            ToServer::Processes(orphans) => Ok(Some(orphans)),
            _ => Err(KeeperError::Protocol("not an answer to this request")),
        }
    }

    /// The processes of a terminal, its root included while that runs.
    pub async fn processes(&self, id: &TerminalId) -> Result<ProcessList, KeeperError> {
        if self.level < LEVEL_INHERITED {
            return Err(KeeperError::TooOld("the list of a terminal's processes"));
        }
        match self.request(ToKeeper::ListTree { id: id.clone() }).await?.0 {
            ToServer::Processes(processes) => Ok(processes),
            other => Err(refusal(&other, id)),
        }
    }

    /// Has the keeper keep the head of the audit chain for the next server. An older one cannot.
    pub async fn set_audit_head(&self, head: &RecordHash) -> Result<(), KeeperError> {
        if self.level < LEVEL_AUDIT_HEAD {
            return Ok(());
        }
        let head = format!("{} {}", head.seq, head.hash).into_bytes();
        self.done(ToKeeper::SetAuditHead { head }).await
    }

    /// Tells the keeper that this server serves.
    pub async fn ready(&self) -> Result<(), KeeperError> {
        self.done(ToKeeper::Ready).await
    }

    async fn done(&self, message: ToKeeper) -> Result<(), KeeperError> {
        let id = match &message {
            ToKeeper::EndTree { id, .. }
            | ToKeeper::SignalTree { id, .. }
            | ToKeeper::SetNotes { id, .. }
            | ToKeeper::ReleaseFds { id }
            | ToKeeper::CloseStdin { id }
            | ToKeeper::Forget { id } => Some(id.clone()),
            _ => None,
        };
        match (self.request(message).await?.0, id) {
            (ToServer::Done, _) => Ok(()),
            (other, Some(id)) => Err(refusal(&other, &id)),
            (_, None) => Err(KeeperError::Protocol("not an answer to this request")),
        }
    }

    /// Sends a request, and waits for the answer and the descriptors beside it.
    async fn request(&self, message: ToKeeper) -> Result<(ToServer, Vec<OwnedFd>), KeeperError> {
        self.request_with(message, SharedFds::default()).await
    }

    /// The same, with descriptors beside the request.
    async fn request_with(
        &self,
        message: ToKeeper,
        fds: SharedFds,
    ) -> Result<(ToServer, Vec<OwnedFd>), KeeperError> {
        let (answer, answered) = oneshot::channel();
        let request = Request {
            message,
            fds,
            answer,
        };
        (self.requests.send(request).await).map_err(|_| KeeperError::Gone)?;
        let answer = answered.await.map_err(|_| KeeperError::Gone)?;
        Ok((answer.message, answer.fds))
    }
}

/// Descriptors that are sent beside a message, in their order. Cheap to clone.
pub(crate) type SharedFds = Arc<[OwnedFd]>;

impl From<SpawnRequest> for SpawnCommand {
    /// A command that inherits nothing.
    fn from(request: SpawnRequest) -> Self {
        let inherited = SharedFds::default();
        Self { request, inherited }
    }
}

/// A command to start, with the descriptors that it inherits.
#[derive(Debug)]
pub struct SpawnCommand {
    /// The command.
    pub request: SpawnRequest,
    /// The descriptors that the request numbers.
    pub inherited: SharedFds,
}

fn terminal_fds(stdio: Stdio, fds: Vec<OwnedFd>) -> Result<TerminalFds, KeeperError> {
    TerminalFds::from_sent(stdio, fds)
        .ok_or(KeeperError::Protocol("a terminal without its descriptors"))
}
