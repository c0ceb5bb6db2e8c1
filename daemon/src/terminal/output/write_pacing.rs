//! How fast output comes, and so whether it is stored as it comes or held for a moment: pure.
//!
//! Storing a block takes about as much of a processor as reading it. While a program prints as
//! fast as it is read, that is time in which it does not get on; a moment later, the program waits
//! for something else, or has ended. So a burst stays in the spool, and is stored when it pauses.
//! The spool is the keeper's: only a failure of the machine could take what is held.
//!
//! It must not know the store, nor how much memory there is.

use std::time::{Duration, Instant};

use termd_proto::Offset;

/// Faster than so many bytes in [`MEASURED_TIME`] is a burst: 16 MiB a second. Compilers, tests and
/// downloads are slower; `cat` of a log, on the slowest machine tried, is three times as fast.
const MEASURED_BYTES: u64 = 1 << 20;
/// Over which the pace is measured.
const MEASURED_TIME: Duration = Duration::from_micros(62_500);
/// So long without output ends a burst: longer than the program waits for a processor in between.
const PAUSE: Duration = Duration::from_millis(25);
/// A burst is held so long at the most: a failure of the machine costs no more output than of so
/// much time. What goes on for longer is stored while it comes.
pub(crate) const LONGEST_HOLD: Duration = Duration::from_secs(2);

/// How fast it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It does not, or not fast.
    Calm(Measure),
    /// As fast as it is read; it is held meanwhile.
    Burst {
        /// Since then.
        since: Instant,
        /// When there was some last.
        grew_at: Instant,
    },
    /// As fast, for longer than it is held.
    Flood(Measure),
}

/// From where it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    from: Offset,
    at: Instant,
}

impl Pace {
    /// Of output that is this long.
    pub(crate) fn new(end: Offset, now: Instant) -> Self {
        Self::Calm(Measure { from: end, at: now })
    }

    /// The output is this long now.
    pub(crate) fn grew(self, end: Offset, now: Instant) -> Self {
        let anew = Measure { from: end, at: now };
        match self {
            Self::Calm(measure) if now.duration_since(measure.at) > MEASURED_TIME => {
                Self::Calm(anew)
            }
            Self::Calm(measure) if end.since(measure.from) >= MEASURED_BYTES => Self::Burst {
                since: measure.at,
                grew_at: now,
            },
            Self::Burst { grew_at, .. } if now >= grew_at + PAUSE => Self::Calm(anew),
            Self::Burst { since, .. } if now >= since + LONGEST_HOLD => Self::Flood(anew),
            Self::Burst { since, .. } => Self::Burst {
                since,
                grew_at: now,
            },
            Self::Flood(measure) if now.duration_since(measure.at) > MEASURED_TIME => {
                if end.since(measure.from) >= MEASURED_BYTES {
                    Self::Flood(anew)
                } else {
                    Self::Calm(anew)
                }
            }
            Self::Calm(_) | Self::Flood(_) => self,
        }
    }

    /// Until when output is held, if no more comes.
    pub(crate) fn held_until(self) -> Option<Instant> {
        match self {
            Self::Burst { since, grew_at } => Some((grew_at + PAUSE).min(since + LONGEST_HOLD)),
            Self::Calm(_) | Self::Flood(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// So many MiB, one each so many milliseconds, after what was there.
    fn print(pace: &mut Pace, end: &mut Offset, now: &mut Instant, mib: u64, every_ms: u64) {
        for _ in 0..mib {
            *now += Duration::from_millis(every_ms);
            *end = *end + MIB;
            *pace = pace.grew(*end, *now);
        }
    }

    #[test]
    fn what_comes_slowly_is_never_held() {
        let (mut end, mut now) = (Offset(0), Instant::now());
        let mut pace = Pace::new(end, now);
        print(&mut pace, &mut end, &mut now, 100, 70);
        assert_eq!(pace.held_until(), None);
    }

    #[test]
    fn a_burst_is_held_until_it_pauses() {
        let (mut end, mut now) = (Offset(0), Instant::now());
        let mut pace = Pace::new(end, now);
        print(&mut pace, &mut end, &mut now, 64, 15);
        assert_eq!(pace.held_until(), Some(now + PAUSE));
        now += PAUSE;
        pace = pace.grew(end + 1, now);
        assert_eq!(pace.held_until(), None);
    }

    #[test]
    fn a_long_one_is_stored_as_it_comes_until_it_is_slow_again() {
        let (mut end, mut now) = (Offset(0), Instant::now());
        let begun = now;
        let mut pace = Pace::new(end, now);
        print(&mut pace, &mut end, &mut now, 132, 15);
        assert_eq!(pace.held_until(), Some(begun + LONGEST_HOLD));
        print(&mut pace, &mut end, &mut now, 20, 15);
        assert!(matches!(pace, Pace::Flood(_)), "{pace:?}");
        print(&mut pace, &mut end, &mut now, 1_000, 15);
        assert_eq!(pace.held_until(), None);
        for _ in 0..2 {
            now += MEASURED_TIME * 2;
            pace = pace.grew(end + 1, now);
        }
        assert!(matches!(pace, Pace::Calm(_)), "{pace:?}");
        print(&mut pace, &mut end, &mut now, 2, 15);
        assert_eq!(
            pace.held_until(),
            Some(now + PAUSE),
            "the next one is held again"
        );
    }
}
