//! `termctl resize`: sets a terminal's size.

use serde_json::json;
use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::terminal::ResizeTerminal;

use super::Context;
use crate::arg_types::Size;
use crate::args::ResizeArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) async fn run(context: Context, args: ResizeArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    resize(&link, &TerminalRef(args.terminal), args.size).await?;
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
