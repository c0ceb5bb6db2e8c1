//! The time of day, as records carry it, and clocks that every process of the same boot can read.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since the Unix epoch; 0 for a clock set before it.
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}

/// `CLOCK_MONOTONIC` in milliseconds: time in which the machine ran.
pub(crate) fn monotonic_ms() -> u64 {
    read_ms(ClockId::Monotonic)
}

/// `CLOCK_BOOTTIME` in milliseconds: time since the boot, while the machine slept included.
pub(crate) fn boottime_ms() -> u64 {
    read_ms(ClockId::Boottime)
}

fn read_ms(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let milliseconds = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or(0);
    seconds * 1_000 + milliseconds
}

/// A time of day as people read it, `2026-03-01 12:00:00 UTC`; `ms` since the Unix epoch. A time
/// after the year 9999 is shown as the year's end.
pub fn utc(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    format!("{time:.0}").replace('T', " ").replace('Z', " UTC")
}

/// A point in time on both clocks: one to measure with, one to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// On the monotonic clock.
    pub at: Instant,
    /// Milliseconds since the Unix epoch.
    pub ms: i64,
}

impl Moment {
    /// The time of day at an earlier point, and not later than it was.
    pub(crate) fn ms_of(self, earlier: Instant) -> i64 {
        let ago = self.at.saturating_duration_since(earlier);
        let ago_ms = ago.as_micros().div_ceil(1_000);
        self.ms
            .saturating_sub(i64::try_from(ago_ms).unwrap_or(i64::MAX))
    }

    pub fn now() -> Self {
        // In this order, so that what is computed from both is not later than it was.
        let ms = now_ms();
        let at = Instant::now();
        Self { at, ms }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_earlier_point_is_told_no_later_than_it_was() {
        let now = Moment::now();
        for (ago_us, ms) in [(0, 0), (1, 1), (999, 1), (1_000, 1), (1_001, 2)] {
            let earlier = now.at.checked_sub(Duration::from_micros(ago_us)).unwrap();
            assert_eq!(now.ms_of(earlier), now.ms - ms, "{ago_us}");
        }
    }

    #[test]
    fn times_are_as_people_read_them() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_772_323_200_000, "2026-03-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(ms), text);
        }
    }
}
