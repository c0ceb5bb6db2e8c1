//! `termctl close`: ends terminals and takes them off the list.

use serde_json::json;
use termd_client::Link;
use termd_proto::TerminalRef;
use termd_proto::terminal::{CloseTerminal, ListScope, TerminalState};

use super::Context;
use super::list::list;
use crate::args::CloseArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) async fn run(context: Context, args: CloseArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let terminals = if args.exited {
        exited(&link).await?
    } else {
        args.terminals
    };
    let mut failure = None;
    for terminal in terminals {
        let id = TerminalRef(terminal);
        // Closing twice is no error.
        let result = link
            .repeat(&CloseTerminal {
                id: id.clone(),
                eof_ms: args.eof,
            })
            .await;
        let line = match result.map_err(CliError::from) {
            Ok(result) => json!({ "terminal": id, "result": result }),
            // Without a daemon the others cannot be closed either.
            Err(error) if error.refusal().is_none() => return Err(error),
            Err(error) => {
                failure.get_or_insert(error.exit_code());
                if context.json {
                    output::report(&error, true);
                } else {
                    output::note(&format!("cannot close {}: {error}", id.0));
                }
                json!({ "terminal": id, "error": error.to_json()["error"] })
            }
        };
        if context.json {
            output::print_json(&line)?;
        }
    }
    Ok(failure.unwrap_or(ExitCode::OK))
}

/// The ids of all open terminals whose command has exited.
async fn exited(link: &Link) -> Result<Vec<String>, CliError> {
    let open = list(link, ListScope::Open).await?;
    let exited = open
        .into_iter()
        .filter(|terminal| terminal.state == TerminalState::Exited);
    Ok(exited.map(|terminal| terminal.id.to_string()).collect())
}
