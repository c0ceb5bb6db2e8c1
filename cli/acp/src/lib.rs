//! `termctl acp`: the Agent Client Protocol passed on between a client and the agent that is started
//! here, and the client's `terminal/*` answered by the daemon.
//!
//! ```text
//!          stdin                                     agent's stdin
//! client ────────▶ proxy ─ agreed, sessions ────────▶ agent
//!        ◀──────── proxy ◀───────────────────────────
//!          stdout    │  display, permission   agent's stdout
//!                    └─▶ terminals ─▶ the daemon
//! ```
//!
//! - [`wire`] reads and writes lines, and changes parts of one without touching the rest.
//! - `agent` is the agent's process, and the end of all that it started.
//! - `awake` looks for the next message for a moment, before this process sleeps.
//! - `proxy` takes each line in its order: it goes on byte for byte, unless one of these has a word:
//! - `agreed`: what `initialize` has agreed, and the `terminal: true` that is put into it.
//! - `sessions`: each ACP session's directory, and its end.
//! - `session_mcp`: `termctl mcp` among a session's MCP servers, with `--session-mcp`.
//! - `terminals`: `terminal/*` from the agent; limits, timeouts, and the sweep.
//! - `permission`: asks the client's person where the gate says confirm, by `requests` of our own.
//! - `stray`: what is said on standard error, the agent's strays among it.
//! - `display`: tool calls that embed a terminal, as the client can show them.
//!
//! It promises: a message that none of these is about passes unchanged and in order; who reads slowly
//! holds up who writes, and nothing is queued; when this process ends, in whatever way, so does the
//! agent with all that it started, and the terminals of its sessions.
//! It must not know PTYs, SQLite or the screen's model: the contract alone.

mod agent;
mod agreed;
mod awake;
mod display;
mod error;
mod exit_code;
mod options;
mod permission;
mod proxy;
mod requests;
mod session_mcp;
mod sessions;
mod stray;
mod terminals;
pub mod wire;

use std::sync::Arc;

use termd_proto::terminal::Front;

use agreed::Agreed;
use awake::Awake;
use display::Display;
use requests::Requests;
use sessions::Sessions;
use termd_client::{Introduction, Pool, StartPolicy};
use terminals::Terminals;
use wire::line_writer::LineWriter;

pub use error::AcpError;
pub use exit_code::AgentExitCode;
pub use options::{DisplayMode, Options, SupervisorOptions};

/// What both directions share.
#[derive(Debug)]
struct Shared {
    /// What the command line says.
    options: Options,
    /// The client's end.
    client: LineWriter,
    /// The agent's end.
    agent: LineWriter,
    /// The daemon.
    pool: Pool,
    /// Keeps us awake after a message.
    awake: Awake,
    /// What `initialize` has agreed.
    agreed: Agreed,
    /// The ACP sessions.
    sessions: Sessions,
    /// Our own requests to the client.
    requests: Requests,
    /// The agent's terminals.
    terminals: Terminals,
    /// What the client is shown of them.
    display: Display,
}

/// Passes ACP on until one side has ended; the agent's exit code.
pub async fn serve(options: Options, start: StartPolicy) -> Result<AgentExitCode, AcpError> {
    let (from_client, to_client) = wire::stdio::stdio();
    let (agent, from_agent, to_agent) = agent::Agent::start(&options.agent)?;
    let introduction = Introduction {
        client: "acp".to_owned(),
        front: Front::Acp,
        settings: None,
        // A wait for an exit takes as long as the command.
        call_deadline: terminals::LONGEST_CALL,
    };
    let shared = Arc::new(Shared {
        options,
        client: LineWriter::new(to_client),
        agent: LineWriter::new(to_agent),
        pool: Pool::new(start, introduction),
        awake: Awake::default(),
        agreed: Agreed::default(),
        sessions: Sessions::default(),
        requests: Requests::default(),
        terminals: Terminals::default(),
        display: Display::default(),
    });
    let awake = Arc::clone(&shared);
    tokio::spawn(async move { awake.awake.keep().await });
    agent.serve(&shared, from_client, from_agent).await
}

/// `termctl acp-agent`: the process between the proxy and the agent; the agent's exit code.
pub async fn hold_agent(options: &SupervisorOptions) -> Result<AgentExitCode, AcpError> {
    agent::supervisor::hold(options).await
}
