//! The server's side of the control socket.

use std::os::fd::OwnedFd;

use termd_proto::TerminalId;
use thiserror::Error;
use tokio::sync::mpsc;

use super::message::{
    EndTree, InventoryTerminal, KeeperEvent, SpawnFailure, SpawnRequest, Spawned,
};

/// Why the keeper did not do what was asked.
#[derive(Debug, Error)]
pub enum KeeperError {
    /// The command could not be started.
    #[error("{0:?}")]
    Spawn(SpawnFailure),
    /// The keeper knows no such terminal (any more).
    #[error("the keeper has no terminal {0}")]
    UnknownTerminal(TerminalId),
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Stopping,
    /// The control socket is closed: the keeper is gone.
    #[error("the keeper is gone")]
    Gone,
}

/// The keeper, as the server asks it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct KeeperClient {}

/// What a server starts with.
#[derive(Debug)]
pub struct Connected {
    /// The keeper.
    pub keeper: KeeperClient,
    /// Every terminal there is.
    pub inventory: Vec<InventoryTerminal>,
    /// What the keeper says from now on.
    pub events: mpsc::Receiver<KeeperEvent>,
}

impl KeeperClient {
    /// Says hello on the inherited control socket and receives the inventory.
    #[allow(clippy::todo)]
    pub async fn connect(control: OwnedFd) -> Result<Connected, KeeperError> {
        let _ = control;
        todo!()
    }

    /// Starts a command. Resolves after its execve(2) has succeeded, or with the step that failed.
    /// Dropping the future does not undo the start: whoever drops it leaves a terminal behind.
    #[allow(clippy::todo)]
    pub async fn spawn(&self, request: SpawnRequest) -> Result<Spawned, KeeperError> {
        let _ = request;
        todo!()
    }

    /// Ends everything that belongs to a terminal, also after its root has exited. Resolves when
    /// no process of it is left. Asking again while it runs is fine; the shorter grace wins.
    #[allow(clippy::todo)]
    pub async fn end_tree(&self, id: &TerminalId, end: EndTree) -> Result<(), KeeperError> {
        let _ = (id, end);
        todo!()
    }

    /// Sends one signal to everything that belongs to a terminal, once. Resolves when it is sent.
    #[allow(clippy::todo)]
    pub async fn signal_tree(&self, id: &TerminalId, signal: i32) -> Result<(), KeeperError> {
        let _ = (id, signal);
        todo!()
    }

    /// Replaces the notes on a terminal, for the next server.
    #[allow(clippy::todo)]
    pub async fn set_notes(&self, id: &TerminalId, notes: Vec<u8>) -> Result<(), KeeperError> {
        let _ = (id, notes);
        todo!()
    }

    /// Lets the keeper drop its file descriptors of a terminal that has ended and is stored.
    #[allow(clippy::todo)]
    pub async fn release(&self, id: &TerminalId) -> Result<(), KeeperError> {
        let _ = id;
        todo!()
    }

    /// Lets the keeper forget a terminal that is closed: its processes can be ended no more.
    #[allow(clippy::todo)]
    pub async fn forget(&self, id: &TerminalId) -> Result<(), KeeperError> {
        let _ = id;
        todo!()
    }

    /// Tells the keeper that this server serves.
    #[allow(clippy::todo)]
    pub async fn ready(&self) -> Result<(), KeeperError> {
        todo!()
    }
}
