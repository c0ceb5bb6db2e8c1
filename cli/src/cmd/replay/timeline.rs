//! When output is shown in a replay: its own times, with long pauses shortened. Pure.
//!
//! Play time counts from the first output, in milliseconds.

use termd_proto::Offset;
use termd_proto::recording::{CameMs, MAX_SPAN_BYTES, TimelineSpan};

/// How fast output is shown of which no times were noted, in bytes a second: about as fast as a person
/// reads over it.
const UNTIMED_BYTES_PER_SECOND: u64 = 8 << 10;

/// Output without a long pause, and when it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    span: TimelineSpan,
    play_ms: u64,
}

/// The play times of output.
#[derive(Debug)]
pub(super) struct Timeline {
    idle_ms: u64,
    entries: Vec<Entry>,
}

impl Entry {
    fn length_ms(&self) -> u64 {
        match self.span.came_ms {
            Some(came) => positive(came.last.saturating_sub(came.first)),
            None => untimed_ms(self.span.end.since(self.span.start)),
        }
    }

    fn end_ms(&self) -> u64 {
        self.play_ms + self.length_ms()
    }
}

fn positive(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}

fn untimed_ms(bytes: u64) -> u64 {
    bytes.saturating_mul(1_000) / UNTIMED_BYTES_PER_SECOND
}

impl Timeline {
    /// An empty one. Longer pauses than `idle_ms` are shortened to it.
    pub(super) fn new(idle_ms: u64) -> Self {
        Self {
            idle_ms,
            entries: Vec::new(),
        }
    }

    /// Adds output behind all before. What is known already is left out.
    pub(super) fn push(&mut self, mut span: TimelineSpan) {
        span.start = span.start.max(self.end());
        if span.start >= span.end {
            return;
        }
        let Some(last) = self.entries.last_mut() else {
            self.entries.push(Entry { span, play_ms: 0 });
            return;
        };
        let pause_ms = match (last.span.came_ms, span.came_ms) {
            (Some(before), Some(came)) => positive(came.first.saturating_sub(before.last)),
            _ => 0,
        };
        let is_one = last.span.end == span.start
            && last.span.came_ms.is_some() == span.came_ms.is_some()
            && pause_ms <= self.idle_ms
            && span.end.since(last.span.start) <= MAX_SPAN_BYTES;
        if is_one {
            last.span.end = span.end;
            if let (Some(before), Some(came)) = (&mut last.span.came_ms, span.came_ms) {
                before.last = before.last.max(came.last);
            }
            return;
        }
        let play_ms = last.end_ms() + pause_ms.min(self.idle_ms);
        self.entries.push(Entry { span, play_ms });
    }

    /// The offset after the last byte.
    pub(super) fn end(&self) -> Offset {
        self.entries
            .last()
            .map_or(Offset::ZERO, |last| last.span.end)
    }

    /// How long it all takes.
    pub(super) fn length_ms(&self) -> u64 {
        self.entries.last().map_or(0, Entry::end_ms)
    }

    /// When output at an offset is shown, which came at this time.
    pub(super) fn play_ms(&self, at: Offset, came_ms: Option<i64>) -> u64 {
        let Some(entry) = self.of_offset(at) else {
            return self.length_ms();
        };
        let later_ms = match (entry.span.came_ms, came_ms) {
            (Some(came), Some(came_ms)) => positive(came_ms.saturating_sub(came.first)),
            (Some(_), None) => {
                let length = entry.span.end.since(entry.span.start).max(1);
                let part = u128::from(at.since(entry.span.start)) * u128::from(entry.length_ms());
                u64::try_from(part / u128::from(length)).unwrap_or(0)
            }
            (None, _) => untimed_ms(at.since(entry.span.start)),
        };
        entry.play_ms + later_ms.min(entry.length_ms())
    }

    /// Where the output begins that is shown around a play time: all before it is shown by then.
    pub(super) fn shown_before(&self, play_ms: u64) -> Offset {
        self.of_play_ms(play_ms)
            .map_or(Offset::ZERO, |entry| entry.span.start)
    }

    /// What time it was, in milliseconds since the Unix epoch, when this was shown first.
    pub(super) fn clock_ms(&self, play_ms: u64) -> Option<i64> {
        let entry = self.of_play_ms(play_ms)?;
        let CameMs { first, last } = entry.span.came_ms?;
        let later_ms = i64::try_from(play_ms - entry.play_ms).unwrap_or(i64::MAX);
        Some(first.saturating_add(later_ms).min(last))
    }

    /// The play time of a time, in milliseconds since the Unix epoch. In a pause that is shortened it is before
    /// what came after the pause.
    pub(super) fn play_ms_of_clock(&self, clock_ms: i64) -> u64 {
        let mut play_ms = 0;
        let mut entries = self.entries.iter().peekable();
        while let Some(entry) = entries.next() {
            let Some(came) = entry.span.came_ms else {
                continue;
            };
            if came.first > clock_ms {
                break;
            }
            let of_output = entry.play_ms + positive(clock_ms.min(came.last) - came.first);
            let next_ms = entries.peek().map_or(0, |next| next.play_ms);
            let in_pause = entry.play_ms + positive(clock_ms.saturating_sub(came.first));
            play_ms = in_pause.min(next_ms.saturating_sub(1)).max(of_output);
        }
        play_ms
    }

    fn of_offset(&self, at: Offset) -> Option<&Entry> {
        let next = self.entries.partition_point(|entry| entry.span.end <= at);
        self.entries.get(next)
    }

    fn of_play_ms(&self, play_ms: u64) -> Option<&Entry> {
        let next = self
            .entries
            .partition_point(|entry| entry.play_ms <= play_ms);
        self.entries.get(next.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64, came: Option<(i64, i64)>) -> TimelineSpan {
        TimelineSpan {
            start: Offset(start),
            end: Offset(end),
            came_ms: came.map(|(first, last)| CameMs { first, last }),
        }
    }

    #[test]
    fn pauses_are_shortened_and_output_without_times_is_paced() {
        let mut timeline = Timeline::new(2_000);
        timeline.push(span(0, UNTIMED_BYTES_PER_SECOND, None));
        timeline.push(span(8_192, 8_292, Some((10_000, 11_000))));
        timeline.push(span(8_292, 8_392, Some((71_000, 72_000))));
        // Less than the pause that is kept, and some of it known already.
        timeline.push(span(8_300, 8_400, Some((73_000, 73_000))));
        assert_eq!(timeline.length_ms(), 1_000 + 1_000 + 2_000 + 2_000);
        assert_eq!(timeline.end(), Offset(8_400));
        let table = [
            (0, None, 0),
            (4_096, None, 500),
            (8_192, Some(10_000), 1_000),
            (8_200, Some(10_250), 1_250),
            (8_242, None, 1_500),
            (8_292, Some(71_000), 4_000),
            (8_395, Some(73_000), 6_000),
            (9_000, Some(99_000), 6_000),
        ];
        for (at, came_ms, play_ms) in table {
            let got = timeline.play_ms(Offset(at), came_ms);
            assert_eq!(got, play_ms, "{at} {came_ms:?}");
        }
        let table = [
            (0, 0, None),
            (1_000, 8_192, Some(10_000)),
            (1_999, 8_192, Some(10_999)),
            (3_999, 8_192, Some(11_000)),
            (4_500, 8_292, Some(71_500)),
        ];
        for (play_ms, before, clock_ms) in table {
            assert_eq!(timeline.shown_before(play_ms), Offset(before), "{play_ms}");
            assert_eq!(timeline.clock_ms(play_ms), clock_ms, "{play_ms}");
        }
        for (clock_ms, play_ms) in [
            (0, 0),
            (10_500, 1_500),
            (11_400, 2_400),
            (40_000, 3_999),
            (99_000, 6_000),
        ] {
            assert_eq!(timeline.play_ms_of_clock(clock_ms), play_ms, "{clock_ms}");
        }
    }

    #[test]
    fn nothing_takes_no_time() {
        let timeline = Timeline::new(2_000);
        assert_eq!((timeline.length_ms(), timeline.end()), (0, Offset::ZERO));
        assert_eq!(timeline.play_ms(Offset(5), Some(1)), 0);
        assert_eq!(timeline.shown_before(7), Offset::ZERO);
        assert_eq!(timeline.clock_ms(7), None);
    }
}
