//! ACP's wire: one JSON-RPC 2.0 message a line, read and changed no further than a proxy must.
//!
//! [`message`] borrows what it reads from the line and [`edit`] cuts changes into the line, so all
//! other bytes are forwarded as they came. The module does not know what ACP's methods mean.

pub mod cut_message;
pub mod edit;
pub(crate) mod line_reader;
pub(crate) mod line_writer;
pub mod message;
pub(crate) mod stdio;

/// Longest message, in bytes: an agent may embed a file or a picture.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 20;
