//! `termctl mcp`: the Model Context Protocol on stdin and stdout, mapped onto the daemon's
//! `session.*`. The terminals belong to the daemon; this process holds none of them.
//!
//! ```text
//! stdio ─▶ server ─▶ registry ─▶ tools/terminal_mcp, tools/smart_terminal
//!            │                        │
//!            └─▶ resources            ├─▶ backend ─▶ the daemon
//!                                     └─▶ cursors
//! ```
//!
//! How a tool is made (both sets are made so; `tools/terminal_mcp/resize.rs` is the
//!   shortest):
//! - `tool::Tool` describes it: names, hints, an input `schema::Schema` with bounds and defaults,
//!   an output schema, and `run`, a plain async function from a `call::Call` to an
//!   `answer::Outcome`. A set is a `fn tools() -> Vec<Tool>`, named in `registry`.
//! - Arguments are checked against the schema before `run` (types, bounds, unknown names with the
//!   nearest known one); `call::Call::arguments` then makes a serde struct of them.
//! - The daemon is asked through `backend::Backend`: `repeat` for what may be asked twice, `once`
//!   for what may not (it starts or types something), `wait` for what takes long. Errors turn into
//!   `answer::ToolError` by `?`.
//! - The gate: a call that the daemon's gate stops fails with `answer::ToolError::Gate`. `server`
//!   then asks the person by elicitation, where the client has that, and runs the tool again with
//!   `confirmed: true` among its arguments, or answers `requires_confirmation`. So whatever a tool
//!   does before the gated call must be harmless when it is done twice.
//! - Progress and cancelling: a wait goes through `progress::Progress::during`; a cancelled call's
//!   future is dropped, and with it goes `$/cancel_request` to the daemon. Terminals stay.
//! - `cursors::Cursors` knows how far this client has read each terminal, by its id.
//!
//! It promises: stdout carries MCP and nothing else; `initialize` is answered without the daemon;
//! the end of stdin and SIGTERM end this process at once, and no terminal but those that asked for it.
//! It must not know PTYs, SQLite or the screen's model: the contract alone.

mod answer;
mod backend;
mod call;
mod confirm;
mod cursors;
mod end_cause;
mod error;
mod omitted;
mod progress;
mod registry;
mod resources;
mod schema;
mod server;
mod settings;
mod stdio;
mod subscriptions;
mod tool;
mod tools;
mod toolset;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::QuitReason;
use termd_client::StartPolicy;
use tokio::signal::unix::{SignalKind, signal};

pub use error::McpError;
pub use settings::{Settings, SettingsError};
pub use toolset::Toolset;

/// What every call shares.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The daemon.
    pub(crate) backend: backend::Backend,
    /// What the environment says.
    pub(crate) settings: Settings,
    /// How far this client has read.
    pub(crate) cursors: cursors::Cursors,
}

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
    });
    let server = server::Server::new(shared, toolsets);
    let (transport, ended) = stdio::Stdio::open();
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
