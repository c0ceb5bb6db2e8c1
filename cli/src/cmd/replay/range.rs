//! The part of a terminal's output that is played.

use termd_proto::Offset;

/// From where, and up to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// The first byte that is kept of the terminal.
    pub(super) kept_from: Offset,
    pub(super) start: Offset,
    /// `None`: the end of the output, also while it grows.
    pub(super) end: Option<Offset>,
}
