//! The protocol between keeper and server.
//!
//! One `SOCK_SEQPACKET` socketpair; a message is one packet in a fixed binary encoding
//! ([`message`], [`wire`]), file descriptors travel beside it by `SCM_RIGHTS` ([`channel`]). The keeper may
//! be older than the server (a reload replaces only the server), so messages are only ever added,
//! and a kind that the other side does not know is ignored by it.
//!
//! **Invariant:** nothing here parses JSON or knows what a terminal prints. Notes are opaque.

pub mod channel;
pub mod confinement;
mod confinement_wire;
pub mod exec_gate;
mod fields;
pub mod message;
mod step;
pub mod wire;
