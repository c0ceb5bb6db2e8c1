//! `termctl wait`: waits for the exit of terminals' commands, and passes on the exit code; with `--for`
//! for a line of output, with `--attention` for what waits for a person.

mod attention;
mod output_match;

use std::time::Duration;

use futures_util::future::{select_all, try_join_all};
use serde_json::json;
use termd_client::Link;
use termd_proto::terminal::{ListScope, WaitForExit, WaitResult};
use termd_proto::{Tags, TerminalRef};
use tokio::time::Instant;

use self::output_match::OutputMatch;
use super::Context;
use super::attach::ending::LOST;
use super::list::tagged;
use crate::args::WaitArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

/// How the terminals were named, and so whether an answer says of which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    One,
    /// Several, or by tags.
    Several,
}

/// How long one call waits.
const WAIT: Duration = Duration::from_secs(30);

pub(super) async fn run(context: Context, args: WaitArgs) -> Result<ExitCode, CliError> {
    let tags = Tags::of(args.tagged.tags).map_err(UsageError::from)?;
    let link = context.open().await?;
    let link = &link;
    let named = args.terminals.len();
    let ids: Vec<TerminalRef> = if tags.is_empty() {
        args.terminals.into_iter().map(TerminalRef).collect()
    } else {
        tagged(link, ListScope::Open, &tags).await?
    };
    let naming = match named {
        1 => Naming::One,
        _ => Naming::Several,
    };
    if args.attention {
        return attention::run(context, link, &ids, args.any, deadline(args.timeout)).await;
    }
    if let Some(pattern) = &args.pattern {
        let wanted = OutputMatch {
            pattern,
            deadline: deadline(args.timeout),
        };
        return output_match::run(context, link, &ids, naming, &wanted, args.any).await;
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
            match naming {
                Naming::One => output::print_json(result)?,
                Naming::Several => {
                    output::print_json(&json!({ "terminal": id, "result": result }))?;
                }
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
