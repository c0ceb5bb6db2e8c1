//! The socket side: listener, connections, framing, dispatch, one handler file a namespace.
//!
//! A request from left to right: [`server`] accepts and checks the [`peer`]; `connection` reads;
//! [`framing`] cuts lines; [`request`] reads a line; `call_queue` is the connection's queue of calls
//! and answers; `dispatch` finds the method's handler in the [`Api`] and runs it to its first wait;
//! `call` holds it while it waits; `answer` encodes the result; `outbox` holds it until the peer
//! takes it. Handlers are in `methods`, a file a namespace; what a failure is called is in `error`.
//!
//! Promises: every line, queue and wait has a bound named in [`limits`]; a peer's disconnect ends
//! its calls and nothing else; every error answer carries `data.kind`.
//!
//! Must not know: a PTY, a query, a file.

mod answer;
mod api;
mod backlog;
mod call;
mod call_queue;
mod caller;
mod connection;
pub mod context;
mod dispatch;
mod error;
pub mod framing;
pub mod limits;
mod methods;
mod outbox;
mod page_pipe;
pub mod params;
pub mod peer;
mod peer_quota;
mod receive;
pub mod request;
mod secret_filter;
pub mod server;
mod subscription;
#[cfg(test)]
mod tests;

pub use api::Api;
pub use context::{ConnectionContext, ConnectionId, Introduction, IntroductionError};
pub use error::{RpcError, RpcResult};
pub use methods::{
    AcpHandler, ApprovalHandler, AttentionHandler, AuditHandler, CommandHandler, DaemonHandler,
    Faults, FileHandler, ImportHandler, InteractHandler, OutputHandler, PolicyHandler,
    RecordingHandler, ReloadFault, ScreenHandler, SecretHandler, SessionHandler, ShellHandler,
};
pub use peer::Peer;
pub use server::{ServeOptions, SocketStats, serve};
