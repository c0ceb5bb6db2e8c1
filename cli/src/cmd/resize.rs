//! `termctl resize`: sets a terminal's size.

use serde_json::json;
use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::terminal::{ResizeTerminal, ShowTerminal, TerminalState};

use super::Context;
use crate::arg_types::Size;
use crate::args::ResizeArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: ResizeArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let request = ShowTerminal {
        id: TerminalRef(args.terminal.clone()),
    };
    let info = link.repeat(&request).await?;
    if info.state != TerminalState::Running {
        return Err(UsageError::NotRunning(args.terminal).into());
    }
    resize(&link, &TerminalRef::from(&info.id), args.size).await?;
    if context.json {
        output::print_json(&json!({ "cols": args.size.cols, "rows": args.size.rows }))?;
    }
    Ok(ExitCode::OK)
}

/// Sets the size.
pub(super) async fn resize(link: &Link, id: &TerminalRef, size: Size) -> Result<(), ClientError> {
    link.repeat(&ResizeTerminal {
        id: id.clone(),
        cols: size.cols,
        rows: size.rows,
    })
    .await
}
