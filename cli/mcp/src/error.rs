use std::io;

use rmcp::service::ServerInitializeError;
use thiserror::Error;
use tokio::task::JoinError;

/// Why the server did not serve to its end.
#[derive(Debug, Error)]
pub enum McpError {
    #[error("cannot wait for SIGTERM: {0}")]
    Signals(#[source] io::Error),
    #[error("the client does not speak MCP: {0}")]
    Handshake(#[from] Box<ServerInitializeError>),
    /// The serving task ended early.
    #[error("the MCP server stopped: {0}")]
    Stopped(#[from] JoinError),
}
