//! When a terminal's output came: what no finished block of the database has yet. Pure.

use std::collections::VecDeque;

use termd_proto::Offset;

use crate::store::{Arrival, ArrivalClock};

/// Output that comes within this time of other output, in milliseconds, counts as coming with it: less
/// than a frame of a screen.
const GRAIN_MS: u64 = 10;
/// Most arrivals that are remembered, 1.5 MiB: ten minutes of output without a pause and a disk that
/// takes none of it. What comes then counts as coming with the last.
const MAX_ARRIVALS: usize = 64 << 10;

/// What is read this soon after a server took over, in milliseconds, had come before: it waited in the
/// PTY or the pipes.
const TAKEOVER_MS: u64 = 100;

/// The arrivals of the newest output.
#[derive(Debug, Default)]
pub(crate) struct ArrivalLog {
    /// The offset of the first byte that the log knows of.
    start: Offset,
    arrivals: VecDeque<Arrival>,
    /// When this server took the terminal over, until it reads something.
    taken_over_at_ms: Option<u64>,
}

impl ArrivalLog {
    /// Of output that the database has for good.
    pub(crate) fn stored() -> Self {
        Self {
            start: Offset(u64::MAX),
            ..Self::default()
        }
    }

    /// A server takes over `at_ms` milliseconds after the terminal's start, and finds output up to `end`.
    /// The database has all before `start` for good, and these arrivals of what comes then.
    pub(crate) fn take_over(
        (start, end): (Offset, Offset),
        stored: Vec<Arrival>,
        at_ms: u64,
    ) -> Self {
        let mut log = Self {
            start,
            arrivals: stored.into(),
            taken_over_at_ms: Some(at_ms),
        };
        log.push(end, at_ms, ArrivalClock::TakenOver);
        log
    }

    /// The offset of the first byte that the log knows of.
    pub(crate) fn start(&self) -> Offset {
        self.start
    }

    fn end(&self) -> Offset {
        self.arrivals.back().map_or(self.start, |last| last.end)
    }

    /// The output has grown to `end`, `at_ms` milliseconds after the terminal's start.
    pub(crate) fn grew(&mut self, end: Offset, at_ms: u64) {
        let taken_over = self.taken_over_at_ms.take();
        let clock = match taken_over {
            Some(taken_over) if at_ms < taken_over + TAKEOVER_MS => ArrivalClock::TakenOver,
            Some(_) | None => ArrivalClock::Read,
        };
        self.push(end, at_ms, clock);
    }

    fn push(&mut self, end: Offset, at_ms: u64, clock: ArrivalClock) {
        if end <= self.end() {
            return;
        }
        let is_full = self.arrivals.len() >= MAX_ARRIVALS;
        match self.arrivals.back_mut() {
            Some(last) if is_full || (last.clock == clock && at_ms < last.at_ms + GRAIN_MS) => {
                last.end = end;
            }
            last => {
                let at_ms = last.map_or(at_ms, |last| at_ms.max(last.at_ms));
                self.arrivals.push_back(Arrival { end, at_ms, clock });
            }
        }
    }

    /// The database has all before this, and it does not change there any more.
    pub(crate) fn forget_before(&mut self, offset: Offset) {
        while self
            .arrivals
            .pop_front_if(|first| first.end <= offset)
            .is_some()
        {}
        self.start = self.start.max(offset);
    }

    /// The arrivals of the output in a range that the log knows of, cut to it.
    pub(crate) fn between(&self, from: Offset, to: Offset) -> Vec<Arrival> {
        cut(self.arrivals.iter().copied(), from.max(self.start), to)
    }
}

/// Arrivals in order, cut to a range.
pub(crate) fn cut(
    arrivals: impl Iterator<Item = Arrival>,
    from: Offset,
    to: Offset,
) -> Vec<Arrival> {
    let mut at = from;
    let mut within = Vec::new();
    for arrival in arrivals.skip_while(|arrival| arrival.end <= from) {
        if at >= to {
            break;
        }
        at = arrival.end.min(to);
        within.push(Arrival { end: at, ..arrival });
    }
    within
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(log: &mut ArrivalLog, end: u64, at_ms: u64) {
        log.grew(Offset(end), at_ms);
    }

    fn times(arrivals: &[Arrival]) -> Vec<(u64, u64)> {
        let pairs = arrivals.iter();
        pairs
            .map(|arrival| (arrival.end.0, arrival.at_ms))
            .collect()
    }

    #[test]
    fn what_comes_within_a_frame_comes_together() {
        let mut log = ArrivalLog::default();
        for (end, at_ms) in [(5, 3), (9, 12), (9, 30), (20, 13), (21, 12), (22, 400)] {
            read(&mut log, end, at_ms);
        }
        let all = log.between(Offset::ZERO, Offset(100));
        assert_eq!(times(&all), [(9, 3), (21, 13), (22, 400)]);
        for (from, to, expected) in [
            (0, 9, vec![(9, 3)]),
            (3, 10, vec![(9, 3), (10, 13)]),
            (9, 21, vec![(21, 13)]),
            (22, 30, vec![]),
            (4, 4, vec![]),
        ] {
            assert_eq!(times(&log.between(Offset(from), Offset(to))), expected);
        }
    }

    #[test]
    fn the_clock_never_goes_back() {
        let stored = Arrival {
            end: Offset(1),
            at_ms: 500,
            clock: ArrivalClock::Read,
        };
        let range = (Offset::ZERO, Offset(2));
        let mut log = ArrivalLog::take_over(range, vec![stored], 100);
        read(&mut log, 3, 400);
        let all = log.between(Offset::ZERO, Offset(3));
        assert_eq!(times(&all), [(1, 500), (2, 500), (3, 500)]);
    }

    #[test]
    fn what_was_there_before_a_server_says_so() {
        let clocks = |log: &ArrivalLog| {
            let all = log.between(Offset::ZERO, Offset(100));
            let clocks = all.iter();
            clocks
                .map(|arrival| (arrival.end.0, arrival.clock == ArrivalClock::Read))
                .collect::<Vec<_>>()
        };
        let range = (Offset(5), Offset(9));
        let mut log = ArrivalLog::take_over(range, Vec::new(), 1_000);
        for (end, at_ms) in [(12, 1_050), (13, 1_070), (14, 2_000)] {
            read(&mut log, end, at_ms);
        }
        assert_eq!(
            clocks(&log),
            [(9, false), (12, false), (13, true), (14, true)]
        );
        let mut log = ArrivalLog::take_over(range, Vec::new(), 1_000);
        read(&mut log, 12, 1_500);
        assert_eq!(clocks(&log), [(9, false), (12, true)]);
    }

    #[test]
    fn what_is_stored_for_good_is_forgotten() {
        let mut log = ArrivalLog::default();
        for second in 1..=10 {
            read(&mut log, second * 10, second * 1_000);
        }
        log.forget_before(Offset(35));
        assert_eq!(log.start(), Offset(35));
        let left = log.between(Offset::ZERO, Offset(50));
        assert_eq!(times(&left), [(40, 4_000), (50, 5_000)]);
    }

    #[test]
    fn a_trickle_is_bounded() {
        let mut log = ArrivalLog::default();
        for moment in 1..=MAX_ARRIVALS as u64 + 10 {
            read(&mut log, moment, moment * 20);
        }
        assert_eq!(log.arrivals.len(), MAX_ARRIVALS);
        assert_eq!(log.end(), Offset(MAX_ARRIVALS as u64 + 10));
    }
}
