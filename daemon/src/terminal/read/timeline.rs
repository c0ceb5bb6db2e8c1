//! When the output in a range came, as spans without long pauses.

use termd_proto::Offset;
use termd_proto::recording::{CameMs, MAX_SPAN_BYTES, Timeline, TimelineSpan};
use termd_proto::terminal::Gap;

use crate::store::Arrival;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Output whose times are read at once, in bytes: 256 blocks.
const WINDOW_BYTES: u64 = 16 << 20;
/// Windows of one answer: what a call may take of a reader of the database.
const MAX_WINDOWS: usize = 8;
/// Spans of one answer, about: half a MiB of JSON.
const MAX_SPANS: usize = 4096;

pub(crate) async fn timeline(
    terminal: &Terminal,
    (from, to): (Offset, Offset),
    pause_ms: u64,
) -> Result<Timeline, TerminalError> {
    let gaps = terminal.transcript.gaps().await?;
    let mut spans = Spans {
        started_at_ms: terminal.record.created_at_ms,
        pause_ms: i64::try_from(pause_ms).unwrap_or(i64::MAX),
        spans: Vec::new(),
    };
    let mut at = from;
    for _ in 0..MAX_WINDOWS {
        if at >= to || spans.spans.len() >= MAX_SPANS {
            break;
        }
        let end = (at + WINDOW_BYTES).min(to);
        for (start, arrivals) in terminal.transcript.arrivals(at, end).await? {
            let Some(last) = arrivals.last() else {
                continue;
            };
            let part_end = last.end;
            spans.add_untimed((at, start.max(at)), gaps.all());
            spans.add(start, &arrivals);
            at = part_end.max(at);
        }
        spans.add_untimed((at, end), gaps.all());
        at = end;
    }
    Ok(Timeline {
        spans: spans.spans,
        end: at,
        at_end: at >= to,
        state: terminal.state(),
    })
}

/// The spans so far.
struct Spans {
    started_at_ms: i64,
    pause_ms: i64,
    spans: Vec<TimelineSpan>,
}

impl Spans {
    fn add(&mut self, start: Offset, arrivals: &[Arrival]) {
        let mut start = start;
        for arrival in arrivals {
            let later = i64::try_from(arrival.at_ms).unwrap_or(i64::MAX);
            self.add_one(
                (start, arrival.end),
                self.started_at_ms.saturating_add(later),
            );
            start = arrival.end;
        }
    }

    fn add_one(&mut self, (start, end): (Offset, Offset), at_ms: i64) {
        if let Some(span) = self.spans.last_mut()
            && let Some(came) = &mut span.came_ms
            && span.end == start
            && end.since(span.start) <= MAX_SPAN_BYTES
            && at_ms.saturating_sub(came.last) <= self.pause_ms
        {
            span.end = end;
            came.last = at_ms;
            return;
        }
        self.spans.push(TimelineSpan {
            start,
            end,
            came_ms: Some(CameMs {
                first: at_ms,
                last: at_ms,
            }),
        });
    }

    /// Adds output of which no times are known, without the gaps in it.
    fn add_untimed(&mut self, (from, to): (Offset, Offset), gaps: &[Gap]) {
        let mut at = from;
        for gap in gaps.iter().filter(|gap| gap.start < to && gap.end > from) {
            self.push_untimed(at, gap.start.min(to));
            at = at.max(gap.end);
        }
        self.push_untimed(at, to);
    }

    fn push_untimed(&mut self, start: Offset, end: Offset) {
        if start >= end {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.end == start && last.came_ms.is_none() => last.end = end,
            _ => self.spans.push(TimelineSpan {
                start,
                end,
                came_ms: None,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::terminal::GapCause;

    use super::*;
    use crate::store::ArrivalClock;

    fn arrival(end: u64, at_ms: u64) -> Arrival {
        Arrival {
            end: Offset(end),
            at_ms,
            clock: ArrivalClock::Read,
        }
    }

    /// Start, end, and when it began and ended.
    type SpanNumbers = (u64, u64, Option<(i64, i64)>);

    fn spans(spans: &Spans) -> Vec<SpanNumbers> {
        let each = spans.spans.iter();
        each.map(|span| {
            let came = span.came_ms.map(|came| (came.first, came.last));
            (span.start.0, span.end.0, came)
        })
        .collect()
    }

    #[test]
    fn pauses_lengths_and_what_is_not_known_end_a_span() {
        let mut made = Spans {
            started_at_ms: 1_000,
            pause_ms: 100,
            spans: Vec::new(),
        };
        let gap = |start, end| Gap {
            start: Offset(start),
            end: Offset(end),
            cause: GapCause::TotalQuota,
        };
        made.add_untimed((Offset(0), Offset(50)), &[gap(10, 20), gap(45, 60)]);
        made.add(
            Offset(60),
            &[arrival(70, 0), arrival(80, 100), arrival(90, 201)],
        );
        made.add(Offset(90), &[arrival(90 + MAX_SPAN_BYTES, 202)]);
        made.add_untimed((Offset(2 << 20), Offset(3 << 20)), &[]);
        made.add_untimed((Offset(3 << 20), Offset(4 << 20)), &[]);
        assert_eq!(
            spans(&made),
            [
                (0, 10, None),
                (20, 45, None),
                (60, 80, Some((1_000, 1_100))),
                (80, 90, Some((1_201, 1_201))),
                (90, 90 + MAX_SPAN_BYTES, Some((1_202, 1_202))),
                (2 << 20, 4 << 20, None),
            ]
        );
    }
}
