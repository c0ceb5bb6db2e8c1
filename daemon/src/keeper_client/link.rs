//! The task that owns the control socket: it sends requests, hands answers to their callers, passes
//! events on, and answers the keeper's pings.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use termd_proto::audit::RecordHash;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};

use termd_keeper::protocol::channel::{self, ChannelError, Packet, Received};
use termd_keeper::protocol::message::{
    InventoryTerminal, KeeperEvent, MAX_TERMINALS, PROTOCOL_VERSION, ToKeeper, ToServer,
};

use super::error::KeeperError;
use super::{SharedFds, terminal_fds};

/// Requests unanswered at once; beyond that the task takes no more. A kill and a start of every
/// terminal fit.
const MAX_UNANSWERED: usize = 2 * MAX_TERMINALS;

#[derive(Debug)]
pub(super) struct Request {
    pub(super) message: ToKeeper,
    /// A descriptor that is sent beside it.
    pub(super) fds: SharedFds,
    pub(super) answer: oneshot::Sender<Answer>,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) message: ToServer,
    pub(super) fds: Vec<OwnedFd>,
}

/// Reads what [`KeeperClient::set_audit_head`] wrote.
fn record_hash(head: &[u8]) -> Option<RecordHash> {
    let (seq, hash) = std::str::from_utf8(head).ok()?.split_once(' ')?;
    Some(RecordHash {
        seq: seq.parse().ok()?,
        hash: hash.to_owned(),
    })
}

/// What a keeper says first.
#[derive(Default)]
pub(super) struct Introduction {
    pub(super) level: u32,
    pub(super) inventory: Vec<InventoryTerminal>,
    pub(super) audit_head: Option<RecordHash>,
    pub(super) is_recovery: bool,
}

/// The socket and its unfinished requests.
pub(super) struct Link {
    socket: UnixStream,
    /// What waits to be sent, each with the descriptor beside it.
    out: VecDeque<(Packet, SharedFds)>,
    unanswered: HashMap<u32, oneshot::Sender<Answer>>,
    next_request: u32,
}

impl Link {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            out: VecDeque::new(),
            unanswered: HashMap::new(),
            next_request: 1,
        }
    }

    pub(super) fn queue(&mut self, request: u32, message: &ToKeeper, fds: SharedFds) {
        let (kind, body) = message.encode();
        let packet = Packet {
            kind,
            request,
            body,
        };
        self.out.push_back((packet, fds));
    }

    /// Reads what the keeper says up to the end of its inventory.
    pub(super) async fn receive_inventory(&mut self) -> Result<Introduction, KeeperError> {
        let mut said = Introduction::default();
        loop {
            let Some(Received { packet, fds }) = self.turn().await? else {
                continue;
            };
            match decode(&packet)? {
                Some(ToServer::Hello { version, .. }) if version != PROTOCOL_VERSION => {
                    return Err(KeeperError::Protocol("the keeper is of another protocol"));
                }
                Some(ToServer::Hello { level, .. }) => said.level = level,
                Some(ToServer::Inventory {
                    id,
                    process,
                    status,
                    notes,
                    stdio,
                }) => said.inventory.push(InventoryTerminal {
                    id,
                    process,
                    status,
                    notes,
                    fds: if fds.is_empty() {
                        None
                    } else {
                        Some(terminal_fds(stdio, fds)?)
                    },
                }),
                Some(ToServer::AuditHead { head }) => said.audit_head = record_hash(&head),
                Some(ToServer::Recovery) => said.is_recovery = true,
                Some(ToServer::InventoryEnd) => return Ok(said),
                Some(ToServer::Ping) => self.queue(0, &ToKeeper::Pong, SharedFds::default()),
                _ => {}
            }
        }
    }

    /// Ends when the socket closes or every `KeeperClient` is dropped. Callers that still wait get
    /// [`KeeperError::Gone`].
    pub(super) async fn run(
        mut self,
        mut requests: mpsc::Receiver<Request>,
        events: mpsc::Sender<KeeperEvent>,
    ) {
        loop {
            let may_accept = self.unanswered.len() < MAX_UNANSWERED && self.out.is_empty();
            let arrived = tokio::select! {
                arrived = self.turn() => arrived,
                request = requests.recv(), if may_accept => match request {
                    Some(request) => {
                        self.accept(request);
                        continue;
                    }
                    None => return,
                },
            };
            let taken = match arrived {
                Ok(Some(received)) => self.take(received, &events).await,
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                tracing::error!(%error, "the control socket failed");
                return;
            }
        }
    }

    fn accept(&mut self, request: Request) {
        let number = self.next_request;
        // 0 is the number of messages that are no request.
        self.next_request = self.next_request.checked_add(1).unwrap_or(1);
        self.queue(number, &request.message, request.fds);
        self.unanswered.insert(number, request.answer);
    }

    async fn take(
        &mut self,
        received: Received,
        events: &mpsc::Sender<KeeperEvent>,
    ) -> Result<(), KeeperError> {
        let Received { packet, fds } = received;
        match decode(&packet)? {
            None => {}
            Some(ToServer::Ping) => self.queue(0, &ToKeeper::Pong, SharedFds::default()),
            // A server that dropped its events has no use for them.
            Some(ToServer::Event(event)) => drop(events.send(event).await),
            Some(message) => {
                if let Some(answer) = self.unanswered.remove(&packet.request) {
                    // The caller may be gone.
                    drop(answer.send(Answer { message, fds }));
                }
            }
        }
        Ok(())
    }

    /// Sends what is queued and returns the next packet that arrives, or `None` when the queue
    /// has become empty and another request can be taken. Cancel safe: a packet is sent or
    /// received whole, and leaves the queue only once it is sent.
    async fn turn(&mut self) -> Result<Option<Received>, KeeperError> {
        loop {
            let interest = if self.out.is_empty() {
                Interest::READABLE
            } else {
                Interest::READABLE | Interest::WRITABLE
            };
            let ready = self
                .socket
                .ready(interest)
                .await
                .map_err(|_| KeeperError::Gone)?;
            if ready.is_writable() && !self.out.is_empty() {
                while let Some((packet, fds)) = self.out.front() {
                    let fds = fds.iter().map(AsFd::as_fd).collect::<Vec<_>>();
                    let send = || channel::send(self.socket.as_fd(), packet, &fds);
                    match attempt(&self.socket, Interest::WRITABLE, send) {
                        Ok(()) => drop(self.out.pop_front()),
                        Err(ChannelError::WouldBlock) => break,
                        Err(error) => return Err(error.into()),
                    }
                }
                if self.out.is_empty() {
                    return Ok(None);
                }
            }
            if ready.is_readable() {
                let receive = || channel::receive(self.socket.as_fd());
                match attempt(&self.socket, Interest::READABLE, receive) {
                    Ok(received) => return Ok(Some(received)),
                    Err(ChannelError::WouldBlock) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

/// Tries to send or receive, and lets tokio know where the socket was not ready after all.
fn attempt<T>(
    socket: &UnixStream,
    interest: Interest,
    transfer: impl FnOnce() -> Result<T, ChannelError>,
) -> Result<T, ChannelError> {
    let tried = socket.try_io(interest, || match transfer() {
        Err(ChannelError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        other => Ok(other),
    });
    tried.unwrap_or(Err(ChannelError::WouldBlock))
}

fn decode(packet: &Packet) -> Result<Option<ToServer>, KeeperError> {
    ToServer::decode(packet.kind, &packet.body)
        .map_err(|_| KeeperError::Protocol("a malformed message"))
}
