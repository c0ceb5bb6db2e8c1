//! When the output of an answer came, and for which size it was meant.

use termd_proto::terminal::{OutputSize, OutputTime, ReadResult};

use super::page::Page;
use super::unfiltered::Unfiltered;
use crate::store::ArrivalClock;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::transcript::TranscriptError;

/// The answer to a read, with the times of its output and the terminal's sizes.
pub(crate) async fn with_times(
    terminal: &Terminal,
    page: Unfiltered<Page>,
) -> Result<Unfiltered<Page>, TerminalError> {
    let mut page = page.into_printed();
    page.answer.times = Some(times(terminal, &page.answer).await?);
    page.answer.sizes = Some(sizes(terminal, &page.answer).await?);
    Ok(Unfiltered::new(page))
}

async fn times(
    terminal: &Terminal,
    result: &ReadResult,
) -> Result<Vec<OutputTime>, TranscriptError> {
    let arrivals = (terminal.transcript).arrivals(result.start, result.end);
    let mut times = Vec::new();
    for (start, arrivals) in arrivals.await? {
        let mut start = start;
        for arrival in arrivals {
            times.push(OutputTime {
                start,
                end: arrival.end,
                at_ms: since_start(terminal, arrival.at_ms),
                found_late: arrival.clock == ArrivalClock::TakenOver,
            });
            start = arrival.end;
        }
    }
    Ok(times)
}

/// A time in milliseconds since the terminal's start, as one since the Unix epoch.
fn since_start(terminal: &Terminal, later_ms: u64) -> i64 {
    let later_ms = i64::try_from(later_ms).unwrap_or(i64::MAX);
    terminal.record.created_at_ms.saturating_add(later_ms)
}

async fn sizes(
    terminal: &Terminal,
    result: &ReadResult,
) -> Result<Vec<OutputSize>, TranscriptError> {
    let first = terminal.record.first_size();
    let mut sizes = vec![OutputSize {
        at: result.start,
        cols: first.cols,
        rows: first.rows,
        at_ms: None,
    }];
    for change in (terminal.transcript).sizes(result.start).await? {
        let size = OutputSize {
            at: change.at.max(result.start),
            cols: change.cols,
            rows: change.rows,
            at_ms: change.at_ms.map(|later| since_start(terminal, later)),
        };
        if change.at > result.end {
            break;
        }
        if change.at <= result.start {
            sizes.clear();
        }
        sizes.push(size);
    }
    Ok(sizes)
}
