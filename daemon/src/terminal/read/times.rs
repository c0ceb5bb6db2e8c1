//! When the output of an answer came.

use termd_proto::terminal::{OutputTime, ReadResult};

use crate::store::ArrivalClock;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// The answer to a read, with the times of its output.
pub(crate) async fn with_times(
    terminal: &Terminal,
    result: ReadResult,
) -> Result<ReadResult, TerminalError> {
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
    let times = Some(times);
    Ok(ReadResult { times, ..result })
}
