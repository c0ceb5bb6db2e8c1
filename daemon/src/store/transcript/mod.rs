//! What is kept of a terminal's output: blocks, gaps, when it came, and the screens that it drew.

pub(super) mod arrivals;
pub(super) mod blocks;
pub(super) mod checkpoints;
pub(super) mod encoding;
pub(super) mod gaps;
pub(super) mod usage;
