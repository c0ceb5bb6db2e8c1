//! Why the proxy, or the agent's supervisor, could not do its work.

use std::io;

use thiserror::Error;

/// Why the proxy, or the agent's supervisor, could not do its work.
#[derive(Debug, Error)]
pub enum AcpError {
    /// Signals cannot be listened to.
    #[error("cannot listen to signals: {0}")]
    Signals(#[source] io::Error),
    /// The process between the proxy and the agent does not start.
    #[error("cannot start the agent's supervisor: {0}")]
    SupervisorStart(#[source] io::Error),
    /// That process was started without a pipe: the agent's input or output.
    #[error("the agent's {0}: broken pipe")]
    Unpiped(&'static str),
    /// The supervisor cannot do a part of its setup: which, and what the system says.
    #[error("{0}: {1}")]
    SupervisorSetup(&'static str, #[source] io::Error),
}
