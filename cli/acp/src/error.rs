//! Errors of the proxy and of the agent's supervisor.

use std::io;

use thiserror::Error;

/// Why the proxy, or the agent's supervisor, could not do its work.
#[derive(Debug, Error)]
pub enum AcpError {
    /// A signal handler could not be installed.
    #[error("cannot listen to signals: {0}")]
    Signals(#[source] io::Error),
    /// The process between the proxy and the agent did not start.
    #[error("cannot start the agent's supervisor: {0}")]
    SupervisorStart(#[source] io::Error),
    /// The supervisor was started without a pipe: the agent's input or output.
    #[error("the agent's {0}: broken pipe")]
    Unpiped(&'static str),
    /// A step of the supervisor's setup failed.
    #[error("{0}: {1}")]
    SupervisorSetup(&'static str, #[source] io::Error),
}
