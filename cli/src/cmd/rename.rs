//! `termctl rename`: gives a terminal another label.

use termd_client::refusal::wrong_param;
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
        id: TerminalRef(args.terminal.clone()),
        label,
    };
    let renamed = link.once(&request).await;
    let info = renamed.map_err(|error| {
        // Of a terminal that is there only one that is closed is refused.
        let wrong = error
            .refusal()
            .and_then(|refusal| wrong_param(refusal, "id"));
        match wrong {
            Some(_) => UsageError::ClosedKeepsLabel(args.terminal).into(),
            None => CliError::from(error),
        }
    })?;
    if context.json {
        output::print_json(&info)?;
    }
    Ok(ExitCode::OK)
}
