//! Keys and characters for a terminal, and its size.

pub(super) mod escapes;
pub(super) mod resize;
pub(super) mod send_key;
pub(super) mod write;
