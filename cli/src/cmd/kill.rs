//! `termctl kill`: ends a command and all that it started, or sends it a signal.

use termd_proto::TerminalRef;
use termd_proto::terminal::KillTerminal;

use super::Context;
use crate::args::KillArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::signal_number::SIGNAL_NAMES;

pub(super) async fn run(context: Context, args: KillArgs) -> Result<ExitCode, CliError> {
    // clap requires a terminal where no list is.
    let Some(terminal) = args.terminal else {
        return list_signals(context.json);
    };
    let link = context.open().await?;
    let result = link
        .once(&KillTerminal {
            id: TerminalRef(terminal),
            signal: args.signal.map(|signal| signal.0),
        })
        .await?;
    if context.json {
        output::print_json(&result)?;
    }
    Ok(ExitCode::OK)
}

fn list_signals(json: bool) -> Result<ExitCode, CliError> {
    if json {
        output::print_json(&SIGNAL_NAMES)?;
    } else {
        output::print(format!("{}\n", SIGNAL_NAMES.join(" ")).as_bytes())?;
    }
    Ok(ExitCode::OK)
}
