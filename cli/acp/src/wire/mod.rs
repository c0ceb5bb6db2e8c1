//! ACP's wire: a JSON-RPC 2.0 message a line, read as far as a proxy must and changed no further.
//!
//! Messages keep their bytes: what is looked at is borrowed from the line ([`message`]), and what
//! is changed is cut out and replaced in it ([`edit`]), so that whatever else a line holds, in
//! whatever order and spelling, goes on as it came.
//!
//! It must not know what ACP's methods mean.

pub mod edit;
pub(crate) mod ends;
pub mod head;
pub(crate) mod lines;
pub mod message;
pub(crate) mod outlet;

/// Longest message, in bytes: an agent may embed a file, or a picture, in one.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 20;
