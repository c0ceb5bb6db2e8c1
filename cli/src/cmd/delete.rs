//! `termctl delete`: deletes what a closed terminal has printed, for good.

use termd_client::escape::escaped;
use termd_proto::TerminalRef;
use termd_proto::terminal::{DeleteTranscript, ShowTerminal, TerminalState};

use super::Context;
use crate::args::DeleteArgs;
use crate::confirm::agrees_at_tty;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::bytes as in_units;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: DeleteArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let request = ShowTerminal {
        id: TerminalRef(args.terminal.clone()),
    };
    let info = link.repeat(&request).await?;
    if info.state != TerminalState::Closed {
        return Err(UsageError::StillOpen(args.terminal).into());
    }
    if !args.yes {
        let label = info.label.as_ref().map(|label| format!(" ({label})"));
        let question = format!(
            "delete what {}{} has printed, {}, and its command lines for good? The audit keeps how it was \
             started",
            info.id,
            escaped(&label.unwrap_or_default()),
            in_units(info.end.0.saturating_sub(info.start.0)),
        );
        if !agrees_at_tty(&question).await {
            return Ok(ExitCode::FAILED);
        }
    }
    let request = DeleteTranscript {
        id: TerminalRef::from(&info.id),
    };
    // Deleting twice is no error.
    let deleted = link.repeat(&request).await?;
    if context.json {
        output::print_json(&deleted)?;
    }
    Ok(ExitCode::OK)
}
