//! What the end-to-end tests share: a daemon in a home of its own, plain clients, and waiting
//! without sleeping.
//!
//! | To have | Use |
//! |---|---|
//! | a running daemon | [`TestDaemon::start`], [`TestDaemon::configured`] for a `config.toml`, [`TestDaemon::start_in`] for a prepared [`Home`] |
//! | a native client | [`TestDaemon::client`] gives a [`RawClient`]: `ok`, `err` and `request` for calls, `create_terminal` for a terminal |
//! | an ACP agent | [`TestDaemon::agent`] gives an [`Agent`] with a session: `create`, `wait`, `output` |
//! | an MCP client of `termctl mcp` | [`McpClient`] |
//! | a person's terminal | [`Pty`] |
//! | a database server | [`Postgres`] |
//! | an event | [`RawClient::wait_for_event`] on a connection that has subscribed |
//! | a text in a terminal's output | [`RawClient::wait_for_text`] |
//! | the end of a process | [`Process::wait_for_end`] |
//! | a condition without an event | [`wait_until`] |
//! | a coding agent of npm | [`coding_agents`], and `scripted_model.py` for its model |
//! | a benchmark's table | [`figures::Report`] |
//!
//! Nothing outlives a test. A daemon is stopped by SIGTERM when it is dropped, and a process that
//! it leaves behind is killed and fails the test.
//!
//! This crate does not depend on the project's other crates: the tests hold the contract as a
//! stranger reads it, in lines of JSON.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
#![allow(clippy::missing_panics_doc)]

mod agent;
mod binaries;
mod client;
pub mod coding_agents;
mod daemon;
pub mod figures;
mod home;
mod json;
mod logs;
mod mcp_client;
pub mod packages;
mod postgres;
mod process;
mod pty;
pub mod resource_limits;
pub mod scenario;
mod skip;
mod small_disk;
mod wait;

pub use agent::{Agent, SESSION};
pub use binaries::{termctl_binary, termd_binary, termd_shell_binary};
pub use client::{Disconnected, RawClient, RpcError};
pub use daemon::TestDaemon;
pub use home::Home;
pub use json::{assert_members, merged, sh};
pub use logs::{LogShape, log};
pub use mcp_client::{McpClient, STATELESS};
pub use postgres::Postgres;
pub use process::{
    Process, children_named, children_of, is_root, open_descriptors, private_bytes, process_state,
    processes_with_environment, resident_kib,
};
pub use pty::Pty;
pub use skip::{is_installed, skip};
pub use small_disk::SmallDisk;
pub use wait::{DEADLINE, Deadline, wait_readable, wait_until, wait_until_within};
