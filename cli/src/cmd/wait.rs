//! `termctl wait`: waits for the exit, and passes on the command's exit code.

use std::time::Duration;

use termd_client::Link;
use termd_proto::TerminalRef;
use termd_proto::terminal::{WaitForExit, WaitResult};
use tokio::time::Instant;

use super::Context;
use crate::args::WaitArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// How long one call waits.
const WAIT: Duration = Duration::from_secs(30);

pub(super) async fn run(context: Context, args: WaitArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let result = wait(&link, &TerminalRef(args.terminal), args.timeout).await?;
    if context.json {
        output::print_json(&result)?;
    }
    Ok(match &result.exit_status {
        Some(status) => ExitCode::of_command(status),
        None if result.exited => ExitCode::FAILED,
        None => ExitCode::TIMED_OUT,
    })
}

/// Waits for the exit, or until the timeout.
pub(super) async fn wait(
    link: &Link,
    id: &TerminalRef,
    timeout: Option<Duration>,
) -> Result<WaitResult, CliError> {
    // A timeout beyond the clock's range is none.
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let slice = left.map_or(WAIT, |left| left.min(WAIT));
        let slice_ms = u64::try_from(slice.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
        let result = link
            .repeat(&WaitForExit {
                id: id.clone(),
                timeout_ms: Some(slice_ms),
            })
            .await?;
        if result.exited || deadline.is_some_and(|at| at <= Instant::now()) {
            return Ok(result);
        }
    }
}
