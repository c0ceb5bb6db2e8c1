//! What a command takes over from the process that requests it, as a child of that process would.

use serde::{Deserialize, Serialize};

use crate::absent::null_as_default;

/// Most descriptors that a command takes over, its standard three included. The kernel passes 253 at
/// once (`SCM_MAX_FD`); shells have a few.
pub const MAX_INHERITED_FDS: usize = 64;
/// The highest number of such a descriptor. What the keeper needs until the exec lies above it.
pub const MAX_INHERITED_FD: i32 = 199;

/// What a command takes over from the process that requests it. What is absent, it has as every other
/// command of the daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inherited {
    /// The file mode creation mask, umask(2).
    pub umask: Option<u32>,
    /// The nice value, nice(2). One that is below the daemon's takes a privilege.
    pub nice: Option<i32>,
    /// Limits, getrlimit(2). A hard limit above the daemon's own takes a privilege.
    #[serde(deserialize_with = "null_as_default")]
    pub limits: Vec<ResourceLimit>,
    /// The signals that are ignored, sigaction(2).
    #[serde(deserialize_with = "null_as_default")]
    pub ignored_signals: Vec<i32>,
    /// The signals that are blocked, sigprocmask(2).
    #[serde(deserialize_with = "null_as_default")]
    pub blocked_signals: Vec<i32>,
    /// The numbers that the descriptors beside the request get, in the order in which `SCM_RIGHTS`
    /// (unix(7)) sends them: each 0 or 3 to [`MAX_INHERITED_FD`], at most [`MAX_INHERITED_FDS`]. Number
    /// 0 goes with [`Stdin::Inherited`](super::Stdin), and only with it.
    #[serde(deserialize_with = "null_as_default")]
    pub fds: Vec<i32>,
}

/// One limit of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimit {
    /// The number of its `RLIMIT_*` on this machine.
    pub resource: u32,
    /// The soft limit; absent: none.
    pub soft: Option<u64>,
    /// The hard limit; absent: none.
    pub hard: Option<u64>,
}

/// Where what a command on pipes writes to standard error goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stderr {
    /// Into a pipe of its own.
    #[default]
    Pipe,
    /// Into the pipe of standard output, so that the order between the two is kept.
    Stdout,
}

/// How long what a command has started may outlive the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Children {
    /// As long as the agent's process lives. The terminal is closed by itself when the agent has ended,
    /// or when nothing of it is left.
    Agent,
    /// Not at all: the terminal is closed when the command has ended.
    Call,
    /// Until the terminal is closed.
    Keep,
}
