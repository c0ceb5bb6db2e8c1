//! `termctl rename`: gives a terminal another label.

use termd_proto::terminal::RenameTerminal;
use termd_proto::{Label, TerminalRef};

use super::Context;
use crate::args::RenameArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: RenameArgs) -> Result<ExitCode, CliError> {
    let label = match args.label.as_str() {
        "" => None,
        text => Some(text.parse::<Label>().map_err(UsageError::from)?),
    };
    let link = context.open().await?;
    let request = RenameTerminal {
        id: TerminalRef(args.terminal),
        label,
    };
    let info = link.once(&request).await?;
    if context.json {
        output::print_json(&info)?;
    }
    Ok(ExitCode::OK)
}
