//! The terminal of termd's in which termctl runs.

use std::env;

use termd_proto::terminal::TerminalInfo;

/// The variable in which the programs of a terminal have its id.
pub(super) const TERMINAL_VARIABLE: &str = "TERMD_TERMINAL";

/// The id of the terminal.
pub(super) fn own_id() -> Option<String> {
    env::var(TERMINAL_VARIABLE).ok().filter(|id| !id.is_empty())
}

/// Whether termctl runs in this terminal.
pub(super) fn is_own(info: &TerminalInfo) -> bool {
    own_id().is_some_and(|own| own == info.id.as_str())
}
