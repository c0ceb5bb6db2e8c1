//! The `session` set: terminal-mcp's nine tools with the same names, parameters, defaults and result
//! fields, and four more. A tool is a file. Several tools share `params` and `results` (schemas),
//! `input` (typing), `output` and `screen` (reading) and `status` (the state of a terminal).

mod attach;
pub(super) mod close;
pub(super) mod create;
pub(super) mod exec;
mod history;
mod input;
pub(super) mod interact;
mod list;
pub(super) mod output;
pub(super) mod params;
pub(super) mod read;
mod resize;
mod results;
pub(super) mod screen;
mod screenshot;
mod search;
mod send;
pub(super) mod status;
pub(super) mod wait_for;

use crate::settings::Settings;
use crate::tool::Tool;
pub(crate) use results::error;

/// The tools, in the order in which a model should meet them.
pub(crate) fn tools(settings: &Settings) -> Vec<Tool> {
    vec![
        create::tool(settings),
        interact::tool(settings),
        send::tool(),
        read::tool(settings),
        wait_for::tool(settings),
        exec::tool(settings),
        list::tool(),
        resize::tool(),
        close::tool(),
        screenshot::tool(),
        history::tool(),
        search::tool(),
        attach::tool(),
    ]
}
