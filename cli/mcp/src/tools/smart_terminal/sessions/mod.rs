//! The life of a terminal.

pub(super) mod list;
pub(super) mod session;
pub(super) mod start;
pub(super) mod stop;
