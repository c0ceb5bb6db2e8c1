//! The socket side: listener, connections, framing, dispatch, one handler file a namespace.
//!
//! A request from left to right: [`server`] accepts and checks the [`peer`]; `connection` reads;
//! `framing` cuts lines; `request` tells what a line is; `dispatch` calls the method; `call` holds
//! it while it waits (`work` is where these meet); `answer` words what comes out; `outbox` holds it until the peer takes it.
//!
//! Promises: every line, queue and wait has a bound named in [`limits`]; a peer's disconnect ends
//! its calls and nothing else; every error answer carries `data.kind`.
//!
//! Must not know: what any method means, terminals, the store, policy.

mod answer;
mod bad_params;
mod call;
mod connection;
pub mod context;
mod dispatch;
mod framing;
pub mod limits;
mod outbox;
pub mod peer;
mod request;
pub mod server;
#[cfg(test)]
mod tests;
mod work;

pub use context::{ConnectionContext, Introduction, IntroductionError};
pub use peer::Peer;
pub use server::{ServeOptions, SocketStats, serve};
