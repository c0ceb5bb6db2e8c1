//! The socket side: listener, connections, framing, dispatch, one handler file a namespace.
//!
//! A request from left to right: [`server`] accepts and checks the [`peer`]; `connection` reads;
//! `framing` cuts lines; `request` tells what a line is; `dispatch` calls the method; `call` holds
//! it while it waits (`work` is where these meet); `answer` words what comes out; `outbox` holds it
//! until the peer takes it. What a method means is in its namespace's handler: `acp`, `session`,
//! `command`, `audit`, `daemon`; what a failure is called, in `error`.
//!
//! Promises: every line, queue and wait has a bound named in [`limits`]; a peer's disconnect ends
//! its calls and nothing else; every error answer carries `data.kind`.
//!
//! Must not know: a PTY, a query, a file. Handlers translate; they decide nothing.

mod account;
mod acp;
mod answer;
mod api;
mod approval;
mod audit;
mod backlog;
mod call;
mod caller;
mod command;
mod connection;
pub mod context;
mod daemon;
mod dispatch;
mod error;
pub mod framing;
mod interact;
pub mod limits;
mod outbox;
pub mod params;
pub mod peer;
mod policy;
pub mod request;
mod screen;
pub mod server;
mod session;
mod subscription;
mod terminal_events;
#[cfg(test)]
mod tests;
mod work;

pub use acp::AcpHandler;
pub use api::Api;
pub use approval::ApprovalHandler;
pub use audit::AuditHandler;
pub use command::CommandHandler;
pub use context::{ConnectionContext, ConnectionId, Introduction, IntroductionError};
pub use daemon::{ConfigFaults, DaemonHandler};
pub use error::{RpcError, RpcResult};
pub use interact::InteractHandler;
pub use peer::Peer;
pub use policy::PolicyHandler;
pub use screen::ScreenHandler;
pub use server::{ServeOptions, SocketStats, serve};
pub use session::SessionHandler;
