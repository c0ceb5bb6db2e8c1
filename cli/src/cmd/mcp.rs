//! `termctl mcp`: reads the arguments and the environment, then serves.

use std::env;

use clap::ValueEnum as _;
use termd_mcp::{Settings, Toolset};

use super::Context;
use crate::args::{McpArgs, ToolsetArg};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::usage_error::UsageError;

/// The sets of tools, if `--tools` is not given.
const TOOLS_VARIABLE: &str = "TERMCTL_MCP_TOOLS";

pub(super) async fn run(context: Context, args: &McpArgs) -> Result<ExitCode, CliError> {
    let toolsets = if args.tools.is_empty() {
        toolsets_of(&env::var(TOOLS_VARIABLE).unwrap_or_default())?
    } else {
        args.tools.clone()
    };
    let settings =
        Settings::from_environment(|name| env::var_os(name)).map_err(UsageError::from)?;
    let toolsets: Vec<_> = toolsets.into_iter().map(Toolset::from).collect();
    termd_mcp::serve(&toolsets, settings, context.start).await?;
    Ok(ExitCode::OK)
}

/// The sets in a comma-separated list; the default for an empty list.
fn toolsets_of(list: &str) -> Result<Vec<ToolsetArg>, UsageError> {
    if list.trim().is_empty() {
        return Ok(vec![ToolsetArg::Session]);
    }
    list.split(',')
        .map(|name| {
            ToolsetArg::from_str(name.trim(), true).map_err(|_| UsageError::UnknownToolset {
                variable: TOOLS_VARIABLE,
                name: name.to_owned(),
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
