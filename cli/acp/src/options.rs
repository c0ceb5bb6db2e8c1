//! What the proxy and the agent's supervisor are told to do.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::time::Duration;

/// How the proxy is to work.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether `termctl mcp` is offered to the agent as an MCP server of each session.
    pub session_mcp: bool,
    /// Whether `terminal/*` is answered here even where the client has terminals of its own.
    pub take_over: bool,
    /// How the client is shown terminals. Absent: [`DisplayMode::Meta`] where the client says that it
    /// understands it, else [`DisplayMode::Text`].
    pub display: Option<DisplayMode>,
    /// How long a command may run.
    pub default_timeout: Option<Duration>,
    /// The most output of a terminal that `terminal/output` gives, in bytes, and what it gives where
    /// the agent does not say.
    pub output_limit: Option<u64>,
    /// The most terminals of a session whose command runs.
    pub max_terminals: Option<NonZeroU32>,
    /// The agent, and its arguments.
    pub agent: Vec<OsString>,
}

/// What the process between the proxy and the agent starts, and for whom.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// The process whose end ends the agent: the parent of this one.
    pub parent: i32,
    /// The agent, and its arguments.
    pub agent: Vec<OsString>,
}

/// How a client is shown terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayMode {
    /// By the `_meta` of tool calls: what a terminal prints, as a stream.
    Meta,
    /// As text in tool calls.
    Text,
    /// Not at all: tool calls pass as they are.
    Off,
}
