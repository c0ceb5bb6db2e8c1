//! The `terminal` set: smart-terminal-mcp's seventeen tools with the same names, parameters, defaults
//! and result fields. Nine are listed. The other eight are called through `terminal_extra`, or by name.
//!
//! A tool is a file in the folder of its subject. All share `params` and `results` (schemas), and
//! `sessions::session` (the terminal of a call).
//!
//! The set is stricter than the original in two things: marks tell a command's end, never its echo;
//! and output that a limit leaves out is named by offsets.

mod commands;
mod extra;
mod files;
mod input;
mod output;
mod params;
mod programs;
mod results;
mod sessions;

use crate::settings::Settings;
use crate::tool::Tool;
pub(crate) use extra::unlisted;
pub(crate) use results::error;

/// The tools that are listed, in the order in which a model should meet them.
pub(crate) fn tools(settings: &Settings) -> Vec<Tool> {
    vec![
        sessions::start::tool(),
        commands::exec::tool(),
        programs::run::tool(settings),
        input::write::tool(),
        output::read::tool(),
        output::wait::tool(),
        sessions::stop::tool(),
        sessions::list::tool(),
        extra::tool(),
    ]
}
