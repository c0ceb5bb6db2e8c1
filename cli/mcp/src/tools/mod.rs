//! The tools, a folder for each set; each set is named after the server that it stands in for.

pub(crate) mod smart_terminal;
pub(crate) mod terminal_mcp;
