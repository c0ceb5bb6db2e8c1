//! The options of the proxy and of the agent's supervisor.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::time::Duration;

/// The proxy's options.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Add `termctl mcp` to the MCP servers of each session.
    pub session_mcp: bool,
    /// Answer `terminal/*` even if the client has terminals of its own.
    pub take_over: bool,
    /// How terminals are shown. Absent: [`DisplayMode::Meta`] if the client announces support for it,
    /// else [`DisplayMode::Text`].
    pub display: Option<DisplayMode>,
    /// Longest run of a command.
    pub default_timeout: Option<Duration>,
    /// Limit and default of the bytes that `terminal/output` returns.
    pub output_limit: Option<u64>,
    /// Most terminals of a session that run at once.
    pub max_terminals: Option<NonZeroU32>,
    /// The agent's program and arguments.
    pub agent: Vec<OsString>,
}

/// The options of the process between the proxy and the agent.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// The parent's process id. The agent ends with its parent.
    pub parent: i32,
    /// The agent's program and arguments.
    pub agent: Vec<OsString>,
}

/// How a client is shown terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayMode {
    /// By the `_meta` of tool calls: a stream of output.
    Meta,
    /// As text in tool calls.
    Text,
    /// Not at all: tool calls are forwarded unchanged.
    Off,
}
