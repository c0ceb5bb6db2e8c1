//! The keeper's end of the control socket: a bounded queue that never blocks on a server.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use termd_proto::TerminalId;

use crate::inventory::Inventory;
use crate::process_tree::RequestNumber;
use crate::protocol::channel::{self, ChannelError, Packet, Received};
use crate::protocol::message::{MAX_TERMINALS, ToServer};

/// The most messages that wait for a server which does not read: a whole inventory, and for each
/// terminal an exit and an answer. With more the server is stuck; the next one gets the inventory.
const MAX_QUEUED: usize = 4 * MAX_TERMINALS;

/// A queued packet, or a terminal to be sent as it is then. Notes and descriptors are not copied
/// into the queue.
#[derive(Debug)]
enum Outgoing {
    Packet(Packet),
    Inventory(TerminalId),
    Spawned(RequestNumber, TerminalId),
}

/// The server cannot be reached any more.
#[derive(Debug)]
pub(crate) struct Broken;

/// One server's control socket.
#[derive(Debug)]
pub(crate) struct Link {
    socket: OwnedFd,
    queue: VecDeque<Outgoing>,
}

impl Link {
    /// Over the keeper's end of a new socketpair.
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            queue: VecDeque::new(),
        }
    }

    /// The next packet, if one is there.
    pub(crate) fn receive(&self) -> Result<Received, ChannelError> {
        channel::receive(self.socket.as_fd())
    }

    /// Whether a message waits to be sent.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Queues a message.
    pub(crate) fn queue(
        &mut self,
        request: RequestNumber,
        message: &ToServer,
    ) -> Result<(), Broken> {
        let (kind, body) = message.encode();
        self.push(Outgoing::Packet(Packet {
            kind,
            request,
            body,
        }))
    }

    /// Queues a terminal of the inventory, to be sent as it is then.
    pub(crate) fn queue_inventory(&mut self, id: TerminalId) -> Result<(), Broken> {
        self.push(Outgoing::Inventory(id))
    }

    /// Queues the answer that a terminal was started.
    pub(crate) fn queue_spawned(
        &mut self,
        request: RequestNumber,
        id: TerminalId,
    ) -> Result<(), Broken> {
        self.push(Outgoing::Spawned(request, id))
    }

    /// Whether a terminal is still to be sent, so that a change of it needs no message.
    pub(crate) fn will_send(&self, terminal: &TerminalId) -> bool {
        self.queue
            .iter()
            .any(|outgoing| matches!(outgoing, Outgoing::Inventory(id) if id == terminal))
    }

    fn push(&mut self, outgoing: Outgoing) -> Result<(), Broken> {
        if self.queue.len() >= MAX_QUEUED {
            return Err(Broken);
        }
        self.queue.push_back(outgoing);
        Ok(())
    }

    /// Sends as much as the socket takes.
    pub(crate) fn flush(&mut self, inventory: &Inventory) -> Result<(), Broken> {
        while let Some(outgoing) = self.queue.front() {
            match send(self.socket.as_fd(), outgoing, inventory) {
                Ok(()) => drop(self.queue.pop_front()),
                Err(ChannelError::WouldBlock) => return Ok(()),
                Err(_) => return Err(Broken),
            }
        }
        Ok(())
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn send(
    socket: BorrowedFd<'_>,
    outgoing: &Outgoing,
    inventory: &Inventory,
) -> Result<(), ChannelError> {
    let (request, id) = match outgoing {
        Outgoing::Packet(packet) => return channel::send(socket, packet, &[]),
        Outgoing::Inventory(id) => (0, id),
        Outgoing::Spawned(request, id) => (*request, id),
    };
    // The server has forgotten it meanwhile.
    let Some(terminal) = inventory.visible(id) else {
        return Ok(());
    };
    let fds = terminal.shared_fds();
    let message = match outgoing {
        Outgoing::Spawned(..) => ToServer::Spawned {
            process: terminal.root(),
            enforced: terminal.enforced().clone(),
        },
        _ => ToServer::Inventory {
            id: id.clone(),
            process: terminal.root(),
            status: terminal.status(),
            notes: terminal.notes().to_vec(),
            stdio: terminal.stdio(),
        },
    };
    let (kind, body) = message.encode();
    let packet = Packet {
        kind,
        request,
        body,
    };
    channel::send(socket, &packet, &fds.unwrap_or_default())
}
