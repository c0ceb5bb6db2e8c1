//! The protocol between keeper and server.
//!
//! The two talk over one `SOCK_SEQPACKET` socketpair. A message is one packet in a fixed binary
//! encoding ([`message`], [`wire`]); file descriptors travel beside it by `SCM_RIGHTS` ([`channel`]).
//! The keeper may be older than the server, because a reload replaces only the server. Messages are
//! therefore only ever added, and each side ignores a kind that it does not know.
//!
//! **Invariant:** nothing here parses JSON or knows what a terminal prints. Notes are opaque.

pub mod channel;
pub mod confinement;
pub mod exec_gate;
pub mod file_operation;
mod level;
pub mod message;
mod spawn_step;
mod terminal_fds;
pub mod wire;
