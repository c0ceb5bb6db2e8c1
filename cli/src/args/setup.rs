//! What may stand after `termctl setup`.

use clap::Args;

use super::ToolsetArg;
use crate::arg_types::{ServerName, Variable};
use crate::setup::{Action, ClientName};

fn clients() -> String {
    let names = crate::setup::names();
    format!("Which client; more with a comma [default: all that are found]: {names}")
}

/// `termctl setup`.
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Which client; more with a comma [default: all that are found]
    #[arg(long = "client", value_delimiter = ',', value_name = "NAME", long_help = clients())]
    pub(crate) clients: Vec<ClientName>,
    /// Make termd the shell of agents, in the place of `termctl mcp`: links to termd-shell, and each
    /// client's setting for them
    #[arg(long, conflicts_with_all = ["project", "tools", "name", "env"])]
    pub(crate) shell: bool,
    /// Have agents ask the gate before each command by a hook of theirs, for agents whose shell is not
    /// termd's
    #[arg(long, conflicts_with_all = ["shell", "project", "tools", "name", "env"])]
    pub(crate) hooks: bool,
    /// Set up the project in the current directory, not the user
    #[arg(long)]
    pub(crate) project: bool,
    /// Print what would stand in the file, and write nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Take it out again
    #[arg(long, conflicts_with_all = ["print", "tools", "env"])]
    pub(crate) remove: bool,
    /// Which tools it offers: lean, session, terminal, or several with commas [default: those of the
    /// entry that is there, else lean]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SETS")]
    pub(crate) tools: Vec<ToolsetArg>,
    /// What the client calls it
    #[arg(long, value_name = "NAME", default_value = "termd")]
    pub(crate) name: ServerName,
    /// A variable that the client sets for it; may be given again
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
}

impl SetupArgs {
    pub(crate) fn action(&self) -> Action {
        if self.remove {
            Action::Remove
        } else {
            Action::Add
        }
    }
}
