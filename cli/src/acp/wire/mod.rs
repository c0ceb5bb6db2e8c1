//! ACP's wire: a JSON-RPC 2.0 message a line, read as far as a proxy must and changed no further.
//!
//! Messages keep their bytes: what is looked at is borrowed from the line ([`message`]), and what
//! is changed is cut out and replaced in it ([`edit`]), so that whatever else a line holds, in
//! whatever order and spelling, goes on as it came.
//!
//! It must not know what ACP's methods mean.

pub(super) mod edit;
pub(super) mod ends;
pub(super) mod head;
pub(super) mod json;
pub(super) mod lines;
pub(super) mod message;
pub(super) mod outlet;

/// Longest message, in bytes: an agent may embed a file, or a picture, in one.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;
