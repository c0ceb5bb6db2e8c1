//! `termctl acp`'s arguments.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::time::Duration;

use clap::{Args, ValueEnum};
use termd_acp::{DisplayMode, Options, SupervisorOptions};
use termd_proto::duration;

/// `termctl acp`.
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    /// Also offer `termctl mcp` to the agent as an MCP server of each session
    #[arg(long)]
    pub(crate) session_mcp: bool,
    /// Answer terminal/* here even where the client has terminals of its own
    #[arg(long)]
    pub(crate) take_over: bool,
    /// How the client is shown terminals [default: meta where it says that it understands it, else
    /// text]
    #[arg(long, value_enum)]
    pub(crate) display: Option<DisplayArg>,
    /// End a command that runs longer than this (30s, 10m, 2h)
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) default_timeout: Option<Duration>,
    /// The most output of a terminal that terminal/output gives, in bytes, and what it gives where
    /// the agent does not say
    #[arg(long, value_name = "BYTES")]
    pub(crate) output_limit: Option<u64>,
    /// The most terminals of a session whose command runs
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_terminals: Option<NonZeroU32>,
    /// The agent, and its arguments
    #[arg(last = true, required = true, value_name = "AGENT")]
    pub(crate) agent: Vec<OsString>,
}

/// `termctl acp-agent`: what `termctl acp` starts, to start the agent and to end all of it.
#[derive(Debug, Args)]
pub(crate) struct AcpAgentArgs {
    /// The process whose end ends the agent: the parent of this one
    #[arg(long, value_name = "PID")]
    pub(crate) parent: i32,
    /// The agent, and its arguments
    #[arg(last = true, required = true, value_name = "AGENT")]
    pub(crate) agent: Vec<OsString>,
}

/// How a client is shown terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DisplayArg {
    /// By the `_meta` of tool calls: what a terminal prints, as a stream
    Meta,
    /// As text in tool calls
    Text,
    /// Not at all: tool calls pass as they are
    Off,
}

impl From<AcpArgs> for Options {
    fn from(args: AcpArgs) -> Self {
        Self {
            session_mcp: args.session_mcp,
            take_over: args.take_over,
            display: args.display.map(DisplayMode::from),
            default_timeout: args.default_timeout,
            output_limit: args.output_limit,
            max_terminals: args.max_terminals,
            agent: args.agent,
        }
    }
}

impl From<AcpAgentArgs> for SupervisorOptions {
    fn from(args: AcpAgentArgs) -> Self {
        Self {
            parent: args.parent,
            agent: args.agent,
        }
    }
}

impl From<DisplayArg> for DisplayMode {
    fn from(argument: DisplayArg) -> Self {
        match argument {
            DisplayArg::Meta => Self::Meta,
            DisplayArg::Text => Self::Text,
            DisplayArg::Off => Self::Off,
        }
    }
}
