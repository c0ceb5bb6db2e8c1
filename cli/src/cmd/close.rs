//! `termctl close`: ends terminals and takes them off the list.

use termd_client::Link;
use termd_proto::terminal::{CloseTerminal, ListScope, TerminalState};
use termd_proto::{Tags, TerminalRef};

use super::Context;
use super::list::{list, tagged};
use super::several::for_each;
use crate::args::CloseArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: CloseArgs) -> Result<ExitCode, CliError> {
    let tags = Tags::of(args.tagged.tags).map_err(UsageError::from)?;
    let link = context.open().await?;
    let terminals = if args.exited {
        exited(&link, &tags).await?
    } else if tags.is_empty() {
        args.terminals.into_iter().map(TerminalRef).collect()
    } else {
        tagged(&link, ListScope::Open, &tags).await?
    };
    for_each(context, "close", &terminals, async |id| {
        // Closing twice is no error.
        link.repeat(&CloseTerminal {
            id: id.clone(),
            eof_ms: args.eof,
        })
        .await
    })
    .await
}

/// The open terminals with one of these tags, or all where there is none, whose command has exited.
async fn exited(link: &Link, tags: &Tags) -> Result<Vec<TerminalRef>, CliError> {
    let open = list(link, ListScope::Open, tags).await?;
    let exited = open
        .iter()
        .filter(|terminal| terminal.state == TerminalState::Exited);
    Ok(exited
        .map(|terminal| TerminalRef::from(&terminal.id))
        .collect())
}
