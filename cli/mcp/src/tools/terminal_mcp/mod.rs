//! The `session` set: terminal-mcp's nine tools, same names, parameters, defaults and result fields,
//! and what costs nothing on top. One file a tool; what several share is in `fields` (schemas),
//! `input` (typing), `output` and `screen` (reading) and `facts` (what goes on).

mod attach;
mod close;
mod create;
mod exec;
mod facts;
mod fields;
mod history;
mod input;
mod interact;
mod list;
mod output;
mod read;
mod resize;
mod screen;
mod screenshot;
mod send;
mod wait_for;

use crate::settings::Settings;
use crate::tool::Tool;

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
        attach::tool(),
    ]
}
