//! `termctl tag`: changes a terminal's tags.

use termd_client::refusal::wrong_param;
use termd_proto::terminal::TagTerminal;
use termd_proto::{Tags, TerminalRef};

use super::Context;
use crate::args::TagArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: TagArgs) -> Result<ExitCode, CliError> {
    let request = TagTerminal {
        id: TerminalRef(args.terminal.clone()),
        add: Tags::of(args.tags).map_err(UsageError::from)?,
        remove: Tags::of(args.removed).map_err(UsageError::from)?,
    };
    let link = context.open().await?;
    let tagged = link.once(&request).await;
    let info = tagged.map_err(|error| {
        let refusal = error.refusal();
        // Of a terminal that is there only one that is closed is refused.
        match refusal.and_then(|refusal| wrong_param(refusal, "id")) {
            Some(_) => UsageError::ClosedKeepsTags(args.terminal).into(),
            None => CliError::from(error),
        }
    })?;
    if context.json {
        output::print_json(&info)?;
    }
    Ok(ExitCode::OK)
}
