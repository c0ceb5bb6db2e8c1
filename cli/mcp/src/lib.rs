//! `termctl mcp`: the Model Context Protocol on stdin and stdout, mapped onto the daemon's
//! `session.*`. The terminals belong to the daemon; this process holds none of them.
//!
//! ```text
//! server ─▶ tools: terminal_mcp, smart_terminal, lean ─▶ tool ─▶ backend ─▶ the daemon
//! ```
//!
//! How a tool is made (all sets do it alike; `tools/terminal_mcp/resize.rs` is the shortest):
//! - `tool::Tool` is one row: names, effect, output schema, and a handler. The handler is an
//!   async function of a `Call` and a struct of arguments, which gives an `Outcome`.
//! - The struct derives `JsonSchema`: its field docs, bounds and defaults are the input schema that
//!   clients see and that arguments are checked against, before serde reads them.
//! - `backend::Backend` asks the daemon: by `repeat` for what may be done twice, by `once` for what
//!   may not (it starts or types something), by `wait_for` for what takes long. Errors turn into
//!   `ToolError` by `?`.
//! - A call that the daemon's gate stops fails with `ToolError::Gate`. The server then asks the
//!   person by elicitation, where the client has that, answers the daemon's question and runs the
//!   tool again, or answers `requires_confirmation`. So whatever a tool does before the gated
//!   call must be harmless when it is done twice.
//! - A wait goes through `Progress::during`. A cancelled call's future is dropped, which sends
//!   `$/cancel_request` to the daemon. Terminals stay.
//! - A call that types a line and waits for its output takes its turn by `Call::turn` first.
//! - `cursors::Cursors` knows how far this client has read each terminal.
//!
//! stdout carries MCP and nothing else. `initialize` is answered without the daemon. The end of stdin
//! and SIGTERM end this process at once, and no terminal except those that are tied to it. This crate
//! knows the contract alone: no PTY, no SQLite, no terminal model.

mod backend;
mod cursors;
mod error;
mod server;
mod settings;
mod shared;
mod tool;
mod tools;
mod toolset;
mod turns;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::QuitReason;
use termd_client::StartPolicy;
use tokio::signal::unix::{SignalKind, signal};

pub use error::McpError;
pub use settings::{Settings, SettingsError};
pub use toolset::Toolset;

use server::{AnsweringService, Server, Stdio};
use shared::Shared;

/// Serves until stdin ends or SIGTERM comes.
pub async fn serve(
    toolsets: &[Toolset],
    settings: Settings,
    start: StartPolicy,
) -> Result<(), McpError> {
    let mut terminated = signal(SignalKind::terminate()).map_err(McpError::Signals)?;
    let shared = Arc::new(Shared {
        backend: backend::Backend::new(start, &settings),
        settings,
        cursors: cursors::Cursors::default(),
        turns: turns::Turns::default(),
    });
    let server = AnsweringService(Server::new(shared, toolsets));
    let (transport, ended) = Stdio::open();
    let serving = async move {
        let running = server.serve(transport).await.map_err(Box::new)?;
        match running.waiting().await? {
            QuitReason::JoinError(error) => Err(McpError::Stopped(error)),
            _ => Ok(()),
        }
    };
    tokio::select! {
        biased;
        _ = terminated.recv() => Ok(()),
        () = ended.over() => Ok(()),
        served = serving => served,
    }
}
