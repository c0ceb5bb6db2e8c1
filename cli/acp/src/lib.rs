//! `termctl acp`: forwards the Agent Client Protocol between a client and an agent that it starts,
//! and answers the agent's `terminal/*` with the daemon's terminals.
//!
//! ```text
//!          stdin                                            agent's stdin
//! client ────────▶ proxy ─ capabilities, sessions ────────▶ agent
//!        ◀──────── proxy ◀─────────────────────────────────
//!          stdout    │  display, permission          agent's stdout
//!                    └─▶ methods ─▶ the daemon
//! ```
//!
//! From the bottom up; a module uses only those above it in this list, and a test holds that:
//!
//! - [`wire`] reads and writes lines, and changes parts of a line.
//! - `stderr_log` writes to standard error without blocking; `busy_poll` delays sleep after a message.
//! - `capabilities` knows what `initialize` agreed, and adds `terminal: true` to it.
//! - `sessions` knows the directory of each ACP session; `session_mcp` adds `termctl mcp` to a
//!   session's MCP servers.
//! - `client_requests` sends the proxy's own requests to the client.
//! - `terminals` holds the agent's terminals, and reads their output from the daemon.
//! - `shared` is all of this state.
//! - `permission` asks the person at the client where the gate says confirm.
//! - `methods` answers `terminal/*`: limits, timeouts, and the release of what is left.
//! - `display` rewrites tool calls that embed a terminal for the client.
//! - `proxy` routes each line in order.
//! - `agent` is the agent's process, and ends everything that the agent started.
//!
//! Invariants: a message that none of these handles is forwarded unchanged and in order. A slow
//! reader holds up the writer; nothing is queued. However this process ends, the agent ends with
//! everything it started, and the terminals of its sessions are released. The crate knows the
//! contract alone: no PTYs, no SQLite, no screen model.

mod agent;
mod busy_poll;
mod capabilities;
mod client_requests;
mod display;
mod error;
mod exit_code;
mod methods;
mod options;
mod permission;
mod proxy;
mod rpc_errors;
mod session_mcp;
mod sessions;
mod shared;
mod stderr_log;
mod terminals;
#[cfg(test)]
mod tests;
pub mod wire;

use std::sync::Arc;

use termd_client::{Introduction, Pool, StartPolicy};
use termd_proto::Tags;
use termd_proto::terminal::Front;

use proxy::Proxy;
use shared::Shared;
use wire::line_writer::LineWriter;

pub use error::AcpError;
pub use exit_code::AgentExitCode;
pub use options::{DisplayMode, Options, SupervisorOptions};

/// Forwards ACP until one side ends; returns the agent's exit code.
pub async fn serve(options: Options, start: StartPolicy) -> Result<AgentExitCode, AcpError> {
    let (from_client, to_client) = wire::stdio::stdio();
    let (agent, from_agent, to_agent) = agent::Agent::start(&options.agent)?;
    let introduction = Introduction {
        client: "acp".to_owned(),
        front: Front::Acp,
        settings: None,
        // The agent is the proxy's child.
        agent_pid: i32::try_from(std::process::id()).ok(),
        asks: true,
        tags: Tags::default(),
        // A wait for an exit takes as long as the command.
        call_deadline: methods::MAX_CALL,
    };
    let (client, to_agent) = (LineWriter::new(to_client), LineWriter::new(to_agent));
    let pool = Pool::new(start, introduction);
    let shared = Arc::new(Shared::new(options, client, to_agent, pool));
    let polling = Arc::clone(&shared);
    tokio::spawn(async move { polling.busy_poll.run().await });
    let proxy = Arc::new(Proxy::new(shared));
    agent.serve(&proxy, from_client, from_agent).await
}

/// Runs `termctl acp-agent`, the process between the proxy and the agent; returns the agent's exit
/// code.
pub async fn supervise(options: &SupervisorOptions) -> Result<AgentExitCode, AcpError> {
    agent::supervisor::supervise(options).await
}
