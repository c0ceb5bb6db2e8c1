//! A page of output as what a replay shows piece by piece: output with its time, and sizes. Pure.

use std::collections::VecDeque;

use termd_proto::Offset;
use termd_proto::recording::{CameMs, TimelineSpan};
use termd_proto::terminal::{Gap, OutputSize, OutputTime, TerminalState};

use super::timeline::Timeline;

/// Output of which no times were noted is shown in pieces of this length, in bytes: 16 a second.
const UNTIMED_PIECE_BYTES: u64 = 512;

/// Most output of one event, in bytes: a part of it is cut off for each look of a search.
const MAX_EVENT_BYTES: u64 = 32 << 10;

/// Output as it was read, with its times and its sizes.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cmd) struct Page {
    pub(in crate::cmd) start: Offset,
    pub(in crate::cmd) end: Offset,
    pub(in crate::cmd) bytes: Vec<u8>,
    /// The output before it that is not kept.
    pub(super) gap: Option<Gap>,
    pub(super) times: Vec<OutputTime>,
    pub(in crate::cmd) sizes: Vec<OutputSize>,
    pub(super) at_end: bool,
    pub(super) state: TerminalState,
}

/// Something that a replay shows at a play time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) play_ms: u64,
    pub(super) kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EventKind {
    Output {
        start: Offset,
        bytes: Vec<u8>,
        clock: OutputClock,
    },
    Resize {
        cols: u16,
        rows: u16,
    },
}

/// How the time of output is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum OutputClock {
    /// It came then.
    #[default]
    Noted,
    /// It came before: a server that was killed could not note when.
    FoundLate,
    /// No times were noted.
    Unknown,
}

impl Page {
    /// Leaves out what is behind the end of the range that is played.
    pub(in crate::cmd) fn end_at(&mut self, end: Offset) {
        let length = usize::try_from(end.since(self.start)).unwrap_or(usize::MAX);
        self.bytes.truncate(length);
        self.end = self.end.min(end);
        self.sizes.retain(|size| size.at <= end);
        self.times.retain(|time| time.start < end);
        for time in &mut self.times {
            time.end = time.end.min(end);
        }
    }

    /// Adds the times of output that came after the timeline was made.
    pub(super) fn add_to(&self, timeline: &mut Timeline) {
        for time in &self.times {
            timeline.push(TimelineSpan {
                start: time.start,
                end: time.end,
                came_ms: Some(CameMs {
                    first: time.at_ms,
                    last: time.at_ms,
                }),
            });
        }
    }

    /// The events, in order.
    pub(super) fn events(&self, timeline: &Timeline) -> VecDeque<Event> {
        let mut events = VecDeque::new();
        let mut sizes = self.sizes.iter().peekable();
        let mut times = self.times.iter().copied().peekable();
        let mut at = self.start;
        let mut shown_ms = 0;
        loop {
            while times.next_if(|time| time.end <= at).is_some() {}
            let time = times.peek().copied().filter(|time| time.start <= at);
            let play_ms = timeline.play_ms(at, time.map(|time| time.at_ms));
            while let Some(size) = sizes.next_if(|size| size.at <= at) {
                let (cols, rows) = (size.cols, size.rows);
                let kind = EventKind::Resize { cols, rows };
                // It was set between the output before it and the output after it.
                let set_ms = size.at_ms.map(|at_ms| timeline.play_ms_of_clock(at_ms));
                shown_ms = set_ms.unwrap_or(play_ms).min(play_ms).max(shown_ms);
                events.push_back(Event {
                    play_ms: shown_ms,
                    kind,
                });
            }
            shown_ms = play_ms.max(shown_ms);
            let next_time = match (time, times.peek()) {
                (Some(time), _) => time.end,
                (None, next) => {
                    let piece_end = at + UNTIMED_PIECE_BYTES;
                    next.map_or(piece_end, |next| next.start.min(piece_end))
                }
            };
            let next_size = sizes.peek().map_or(self.end, |size| size.at);
            let to = next_time
                .min(next_size)
                .min(self.end)
                .min(at + MAX_EVENT_BYTES);
            let Some(bytes) = self.between(at, to).filter(|bytes| !bytes.is_empty()) else {
                return events;
            };
            let clock = match time {
                None => OutputClock::Unknown,
                Some(time) if time.found_late => OutputClock::FoundLate,
                Some(_) => OutputClock::Noted,
            };
            let kind = EventKind::Output {
                start: at,
                bytes: bytes.to_vec(),
                clock,
            };
            events.push_back(Event { play_ms, kind });
            at = to;
        }
    }

    fn between(&self, from: Offset, to: Offset) -> Option<&[u8]> {
        let place = |offset: Offset| usize::try_from(offset.since(self.start)).ok();
        self.bytes.get(place(from)?..place(to)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_at_times_and_sizes() {
        let time = |start, end, at_ms, found_late| OutputTime {
            start: Offset(start),
            end: Offset(end),
            at_ms,
            found_late,
        };
        let size = |at, cols, at_ms| OutputSize {
            at: Offset(at),
            cols,
            rows: 24,
            at_ms,
        };
        let mut page = Page {
            start: Offset(100),
            end: Offset(111),
            bytes: b"aabbbb--cc!".to_vec(),
            gap: None,
            times: vec![
                time(100, 102, 5_000, false),
                time(102, 106, 6_000, true),
                time(108, 111, 7_000, false),
            ],
            sizes: vec![
                size(100, 80, None),
                size(102, 85, Some(5_300)),
                size(104, 90, None),
                size(111, 100, None),
            ],
            at_end: true,
            state: TerminalState::Running,
        };
        page.end_at(Offset(110));
        let mut timeline = Timeline::new(500);
        page.add_to(&mut timeline);
        let shown: Vec<_> = page
            .events(&timeline)
            .into_iter()
            .map(|event| match event.kind {
                EventKind::Resize { cols, .. } => (event.play_ms, cols.to_string()),
                EventKind::Output { bytes, clock, .. } => {
                    let text = String::from_utf8(bytes).unwrap();
                    (event.play_ms, format!("{text} {clock:?}"))
                }
            })
            .collect();
        let want = [
            (0, "80"),
            (0, "aa Noted"),
            (300, "85"),
            (500, "bb FoundLate"),
            (500, "90"),
            (500, "bb FoundLate"),
            (1_000, "-- Unknown"),
            (1_000, "cc Noted"),
        ];
        let want = want.map(|(play_ms, text)| (play_ms, text.to_owned()));
        assert_eq!(shown, want);
    }
}
