//! `termctl kill`: ends a command and all that it started, or sends it a signal.

use termd_proto::TerminalRef;
use termd_proto::terminal::KillTerminal;

use super::Context;
use crate::args::KillArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) async fn run(context: Context, args: KillArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let result = link
        .once(&KillTerminal {
            id: TerminalRef(args.terminal),
            signal: args.signal,
        })
        .await?;
    if context.json {
        output::print_json(&result)?;
    }
    Ok(ExitCode::OK)
}
