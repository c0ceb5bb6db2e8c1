//! `termctl wait`: waits for the exit of terminals' commands, and passes on the exit code; with `--for`
//! for a line of output, with `--attention` for what waits for a person.

mod attention;
mod output_match;

use std::time::Duration;

use futures_util::future::{select_all, try_join_all};
use serde_json::json;
use termd_client::Link;
use termd_proto::TerminalRef;
use termd_proto::terminal::{WaitForExit, WaitResult};
use tokio::time::Instant;

use self::output_match::OutputMatch;
use super::Context;
use super::attach::ending::LOST;
use crate::args::WaitArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// How long one call waits.
const WAIT: Duration = Duration::from_secs(30);

pub(super) async fn run(context: Context, args: WaitArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let ids: Vec<TerminalRef> = args.terminals.into_iter().map(TerminalRef).collect();
    let link = &link;
    if args.attention {
        return attention::run(context, link, &ids, args.any, deadline(args.timeout)).await;
    }
    if let Some(pattern) = &args.pattern {
        let wanted = OutputMatch {
            pattern,
            deadline: deadline(args.timeout),
        };
        return output_match::run(context, link, &ids, &wanted, args.any).await;
    }
    let waits = ids.iter().map(|id| {
        Box::pin(async move { Ok::<_, CliError>((id, wait(link, id, args.timeout).await?)) })
    });
    let results = if args.any {
        vec![select_all(waits).await.0?]
    } else {
        try_join_all(waits).await?
    };
    if context.json {
        for (id, result) in &results {
            match ids.len() {
                1 => output::print_json(result)?,
                _ => output::print_json(&json!({ "terminal": id, "result": result }))?,
            }
        }
    }
    for (id, result) in &results {
        if result.exited && result.exit_status.is_none() {
            output::note(&format!("{id}: its exit is not known: {LOST}"));
        }
    }
    let mut codes = results.iter().map(|(_, result)| exit_code(result));
    Ok(codes
        .find(|code| *code != ExitCode::OK)
        .unwrap_or(ExitCode::OK))
}

fn exit_code(result: &WaitResult) -> ExitCode {
    match &result.exit_status {
        Some(status) => ExitCode::of_command(status),
        None if result.exited => ExitCode::OWN_FAILURE,
        None => ExitCode::TIMED_OUT,
    }
}

/// The end of a timeout. One beyond the clock's range is none.
fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

/// Waits for the exit, or until the timeout.
pub(super) async fn wait(
    link: &Link,
    id: &TerminalRef,
    timeout: Option<Duration>,
) -> Result<WaitResult, CliError> {
    let deadline = deadline(timeout);
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
