//! Why the keeper did not do a request.

use termd_proto::TerminalId;
use thiserror::Error;

use termd_keeper::protocol::channel::ChannelError;
use termd_keeper::protocol::message::{Refusal, SpawnFailure, ToServer};

/// Why the keeper did not do a request.
#[derive(Debug, Error)]
pub enum KeeperError {
    /// The command could not be started.
    #[error("{0}")]
    Spawn(SpawnFailure),
    /// The keeper knows no such terminal (any more).
    #[error("the keeper has no terminal {0}")]
    UnknownTerminal(TerminalId),
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Stopping,
    /// This many processes outlived SIGKILL: another user's, or stuck in the kernel.
    #[error("{0} processes could not be ended")]
    Survivors(u32),
    /// The keeper is older than this server and cannot do it: only a restart of termd brings it up
    /// to date, for the keeper is what a reload leaves in place.
    #[error("the running keeper is older than this server and knows no {0}: restart termd")]
    TooOld(&'static str),
    /// Keeper and server do not understand one another.
    #[error("the keeper's answer makes no sense: {0}")]
    Protocol(&'static str),
    /// The control socket is closed: the keeper is gone.
    #[error("the keeper is gone")]
    Gone,
}

/// The error of an answer other than the expected one.
pub(super) fn refusal(message: &ToServer, id: &TerminalId) -> KeeperError {
    match message {
        ToServer::Refused(Refusal::Spawn(failure)) => KeeperError::Spawn(*failure),
        ToServer::Refused(Refusal::UnknownTerminal) => KeeperError::UnknownTerminal(id.clone()),
        ToServer::Refused(Refusal::Stopping) => KeeperError::Stopping,
        ToServer::Refused(Refusal::Survivors(count)) => KeeperError::Survivors(*count),
        ToServer::Refused(Refusal::Invalid) => KeeperError::Protocol("the request is invalid"),
        _ => KeeperError::Protocol("not an answer to this request"),
    }
}

impl From<ChannelError> for KeeperError {
    fn from(error: ChannelError) -> Self {
        match error {
            ChannelError::Cut => Self::Protocol("a packet was cut: out of file descriptors?"),
            ChannelError::Malformed(what) => Self::Protocol(what),
            ChannelError::Closed | ChannelError::WouldBlock | ChannelError::Io(_) => Self::Gone,
        }
    }
}
