//! `termctl mcp`: what the command line and the environment say, then the server.

use std::env;

use clap::ValueEnum as _;

use super::Context;
use crate::args::{McpArgs, ToolsetArg};
use crate::error::CliError;
use crate::exit::ExitCode;
use crate::mcp::{self, Settings};

/// Names the tool sets where `--tools` does not.
const TOOLS_VARIABLE: &str = "TERMCTL_MCP_TOOLS";

pub(super) async fn run(context: Context, args: &McpArgs) -> Result<ExitCode, CliError> {
    let toolsets = if args.tools.is_empty() {
        toolsets_of(&env::var(TOOLS_VARIABLE).unwrap_or_default())?
    } else {
        args.tools.clone()
    };
    let settings = Settings::from_environment(|name| env::var_os(name))
        .map_err(|error| CliError::Usage(error.to_string()))?;
    mcp::serve(&toolsets, settings, context.start).await
}

/// The sets in a comma-separated list; the default where it is empty.
fn toolsets_of(list: &str) -> Result<Vec<ToolsetArg>, CliError> {
    if list.trim().is_empty() {
        return Ok(vec![ToolsetArg::Session]);
    }
    list.split(',')
        .map(|name| {
            ToolsetArg::from_str(name.trim(), true).map_err(|_| {
                CliError::Usage(format!(
                    "{TOOLS_VARIABLE}: no set of tools is called {name:?}: session, terminal, or \
                     both with a comma between"
                ))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_sets() {
        let table = [
            ("", Some(vec![ToolsetArg::Session])),
            ("terminal", Some(vec![ToolsetArg::Terminal])),
            (
                "session, terminal",
                Some(vec![ToolsetArg::Session, ToolsetArg::Terminal]),
            ),
            ("sessions", None),
        ];
        for (list, want) in table {
            assert_eq!(toolsets_of(list).ok(), want, "{list:?}");
        }
    }
}
