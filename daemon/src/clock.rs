//! The time of day, as records carry it.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// Milliseconds since the Unix epoch; 0 for a clock set before it.
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
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
    pub fn now() -> Self {
        Self {
            at: Instant::now(),
            ms: now_ms(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
