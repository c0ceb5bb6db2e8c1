//! When the output of an answer came, and for which size it was meant.

use termd_proto::terminal::{OutputSize, OutputTime, ReadResult};

use crate::store::ArrivalClock;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::transcript::TranscriptError;

/// The answer to a read, with the times of its output and the terminal's sizes.
pub(crate) async fn with_times(
    terminal: &Terminal,
    result: ReadResult,
) -> Result<ReadResult, TerminalError> {
    Ok(ReadResult {
        times: Some(times(terminal, &result).await?),
        sizes: Some(sizes(terminal, &result).await?),
        ..result
    })
}

async fn times(
    terminal: &Terminal,
    result: &ReadResult,
) -> Result<Vec<OutputTime>, TranscriptError> {
    let started_at_ms = terminal.record.created_at_ms;
    let arrivals = (terminal.transcript).arrivals(result.start, result.end);
    let mut times = Vec::new();
    for (start, arrivals) in arrivals.await? {
        let mut start = start;
        for arrival in arrivals {
            let later = i64::try_from(arrival.at_ms).unwrap_or(i64::MAX);
            times.push(OutputTime {
                start,
                end: arrival.end,
                at_ms: started_at_ms.saturating_add(later),
                found_late: arrival.clock == ArrivalClock::TakenOver,
            });
            start = arrival.end;
        }
    }
    Ok(times)
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
    }];
    for change in (terminal.transcript).sizes(result.start).await? {
        let size = OutputSize {
            at: change.at.max(result.start),
            cols: change.cols,
            rows: change.rows,
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
