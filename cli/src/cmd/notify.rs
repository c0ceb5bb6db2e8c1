//! `termctl notify`: tells the person that a script or an agent waits, is done, or has failed.

use termd_proto::TerminalRef;
use termd_proto::attention::ReportAttention;

use super::Context;
use super::own_terminal::own_id;
use crate::args::NotifyArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: NotifyArgs) -> Result<ExitCode, CliError> {
    let text = args.text.join(" ");
    if text.trim().is_empty() {
        return Err(UsageError::NothingToTell.into());
    }
    let report = ReportAttention {
        state: args.state.into(),
        text: Some(text),
        terminal: args.terminal.or_else(own_id).map(TerminalRef),
    };
    context.open().await?.once(&report).await?;
    Ok(ExitCode::OK)
}
