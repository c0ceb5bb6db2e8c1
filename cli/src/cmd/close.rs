//! `termctl close`: ends terminals and takes them off the list.

use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::terminal::CloseTerminal;

use super::Context;
use crate::args::CloseArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) async fn run(context: Context, args: CloseArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    for terminal in args.terminals {
        let id = TerminalRef(terminal);
        // Closing twice is no error.
        let result = link
            .repeat(&CloseTerminal {
                id: id.clone(),
                eof_ms: args.eof,
            })
            .await?;
        if context.json {
            output::print_json(&json!({ "terminal": id, "result": result }))?;
        }
    }
    Ok(ExitCode::OK)
}
