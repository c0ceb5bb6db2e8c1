//! `termctl wait --for`: waits until a terminal's output matches a regular expression.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use termd_client::refusal::wrong_param;
use termd_client::{ClientError, Link};
use termd_proto::interact::{Until, WaitEnd, WaitFor, WaitForResult};
use termd_proto::terminal::{Encoding, ReadFrom, ReadTerminal};
use termd_proto::{Offset, TerminalRef};
use tokio::time::Instant;

use super::Naming;
use crate::cmd::Context;
use crate::direction_marks::for_stdout;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

/// How long one call waits.
const WAIT: Duration = Duration::from_secs(30);
/// After a call without a match the next one begins this number of lines before its end. A longer match
/// is not found over two calls.
const LINES_AGAIN: u64 = 1000;

/// What is waited for.
#[derive(Debug)]
pub(super) struct OutputMatch<'a> {
    pub(super) pattern: &'a str,
    pub(super) deadline: Option<Instant>,
}

/// Waits for all terminals, or for the first that matches, and prints the lines.
pub(super) async fn run(
    context: Context,
    link: &Link,
    ids: &[TerminalRef],
    naming: Naming,
    wanted: &OutputMatch<'_>,
    any: bool,
) -> Result<ExitCode, CliError> {
    let waits = ids
        .iter()
        .map(|id| async move { Ok::<_, CliError>((id, wanted.wait(link, id).await?)) });
    let results = if any {
        let mut waits: FuturesUnordered<_> = waits.collect();
        let mut without = Vec::new();
        loop {
            match waits.next().await.transpose()? {
                Some(found) if found.1.ended_by == WaitEnd::Matched => break vec![found],
                Some(other) => without.push(other),
                None => break without,
            }
        }
    } else {
        try_join_all(waits).await?
    };
    for (id, result) in &results {
        show(context, id, result, naming)?;
    }
    let ended_by = |end: WaitEnd| results.iter().any(|(_, result)| result.ended_by == end);
    Ok(if ended_by(WaitEnd::Timeout) {
        ExitCode::TIMED_OUT
    } else if ended_by(WaitEnd::Exited) {
        ExitCode::FAILED
    } else {
        ExitCode::OK
    })
}

fn show(
    context: Context,
    id: &TerminalRef,
    result: &WaitForResult,
    naming: Naming,
) -> Result<(), CliError> {
    if context.json {
        let said = json!({
            "ended_by": result.ended_by,
            "matched": result.matched,
            "end": result.end,
            "exit_status": result.activity.exit_status,
        });
        return match naming {
            Naming::One => output::print_json(&said),
            Naming::Several => output::print_json(&json!({ "terminal": id, "result": said })),
        };
    }
    match (&result.matched, result.ended_by) {
        (Some(matched), _) => {
            let line = match naming {
                Naming::One => format!("{}\n", matched.line),
                Naming::Several => format!("{}: {}\n", id.0, matched.line),
            };
            output::print(&for_stdout(line.as_bytes()))
        }
        (None, WaitEnd::Exited) => {
            output::note(&format!(
                "{} has exited, and its output does not match",
                id.0
            ));
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

impl OutputMatch<'_> {
    /// Waits for a match from the beginning of the output on.
    async fn wait(&self, link: &Link, id: &TerminalRef) -> Result<WaitForResult, CliError> {
        let mut since = Offset::ZERO;
        loop {
            let left = self
                .deadline
                .map(|at| at.saturating_duration_since(Instant::now()));
            let slice = left.map_or(WAIT, |left| left.min(WAIT));
            let request = WaitFor {
                id: id.clone(),
                since: Some(since),
                until: Until {
                    pattern: Some(self.pattern.to_owned()),
                    ..Until::default()
                },
                timeout_ms: Some(
                    u64::try_from(slice.as_micros().div_ceil(1000)).unwrap_or(u64::MAX),
                ),
            };
            let waited = link.repeat(&request).await;
            let result = waited.map_err(|error| self.refusal(error))?;
            let is_over = self.deadline.is_some_and(|at| at <= Instant::now());
            if result.ended_by != WaitEnd::Timeout || is_over {
                return Ok(result);
            }
            since = lines_before(link, id, since, result.end).await?;
        }
    }

    fn refusal(&self, error: ClientError) -> CliError {
        let problem = error
            .refusal()
            .and_then(|refusal| wrong_param(refusal, "until.pattern"));
        match problem {
            Some(problem) => UsageError::of_pattern("--for", self.pattern, &problem).into(),
            None => error.into(),
        }
    }
}

/// The start of a line some lines before `end`, but not before `since`. What comes meanwhile does not
/// move it past `end`.
async fn lines_before(
    link: &Link,
    id: &TerminalRef,
    since: Offset,
    end: Offset,
) -> Result<Offset, CliError> {
    let request = ReadTerminal {
        max_bytes: Some(4),
        encoding: Some(Encoding::Base64),
        ..ReadTerminal::new(id.clone(), ReadFrom::TailLines(LINES_AGAIN))
    };
    let start = link.repeat(&request).await?.start;
    Ok(if start <= end {
        start.max(since)
    } else {
        since
    })
}
