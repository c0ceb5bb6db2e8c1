//! Commands typed into a terminal's shell.

mod command;
pub(super) mod diff;
pub(super) mod exec;
pub(super) mod retry;
