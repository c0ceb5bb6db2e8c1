//! A terminal's output: reads, and waits for it.

pub(super) mod history;
pub(super) mod line_history;
pub(super) mod pattern;
pub(super) mod read;
pub(super) mod text;
pub(super) mod wait;
pub(super) mod watch;
