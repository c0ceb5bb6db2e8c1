//! The `lean` set: five tools that do it all, for clients without habits. A tool is a file. Typing,
//! reading and the state of a terminal are the `session` set's; `results` keeps of its fields those that
//! a model acts on.
//!
//! There is no tool to open a terminal: `term_run` starts a command, and one that waits for input, or
//! outlives the call, is a terminal to type into (decision 0110).

mod close;
mod list;
mod read;
mod results;
mod run;
mod type_in;

use crate::tool::Tool;
pub(crate) use results::error;

/// The tools, in the order in which a model should meet them.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        run::tool(),
        type_in::tool(),
        read::tool(),
        list::tool(),
        close::tool(),
    ]
}
