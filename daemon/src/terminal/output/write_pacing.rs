//! How fast output comes, and so whether it is stored as it comes or held for a moment. Pure.
//!
//! Storing a block takes about as much processor time as reading it. A program that prints as fast as
//! it is read loses that time; a moment later it waits for something else, or has ended. So a burst
//! stays in the spool, and is stored when it pauses. The keeper holds the spool: only a failure of the
//! machine loses what is held.

use std::time::{Duration, Instant};

use termd_proto::Offset;

/// This many bytes in [`MEASURED_TIME`] make a burst: 16 MiB a second. Compilers, tests and downloads are
/// slower; `cat` of a log is three times as fast on the slowest machine tried.
const MEASURED_BYTES: u64 = 1 << 20;
const MEASURED_TIME: Duration = Duration::from_micros(62_500);
/// How long without output ends a burst: longer than a program waits for a processor.
const PAUSE: Duration = Duration::from_millis(25);
/// How long a burst is held: a failure of the machine loses the output of no more time. A longer burst
/// is stored while it comes.
pub(crate) const MAX_HOLD: Duration = Duration::from_secs(2);

/// How fast output comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritePacing {
    /// Slowly, or not at all.
    Calm(Measure),
    /// As fast as it is read. The output is held meanwhile.
    Burst {
        since: Instant,
        /// When output came last.
        grew_at: Instant,
    },
    /// As fast, for longer than [`MAX_HOLD`].
    Flood(Measure),
}

/// The beginning of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    from: Offset,
    at: Instant,
}

impl WritePacing {
    pub(crate) fn new(end: Offset, now: Instant) -> Self {
        Self::Calm(Measure { from: end, at: now })
    }

    /// The output has grown to `end`.
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
            Self::Burst { since, .. } if now >= since + MAX_HOLD => Self::Flood(anew),
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

    /// Until when the output is held, if no more comes.
    pub(crate) fn held_until(self) -> Option<Instant> {
        match self {
            Self::Burst { since, grew_at } => Some((grew_at + PAUSE).min(since + MAX_HOLD)),
            Self::Calm(_) | Self::Flood(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A number of MiB, one per interval in milliseconds, after what was there.
    fn print(
        pacing: &mut WritePacing,
        end: &mut Offset,
        now: &mut Instant,
        mib: u64,
        every_ms: u64,
    ) {
        for _ in 0..mib {
            *now += Duration::from_millis(every_ms);
            *end = *end + MIB;
            *pacing = pacing.grew(*end, *now);
        }
    }

    #[test]
    fn what_comes_slowly_is_never_held() {
        let (mut end, mut now) = (Offset(0), Instant::now());
        let mut pacing = WritePacing::new(end, now);
        print(&mut pacing, &mut end, &mut now, 100, 70);
        assert_eq!(pacing.held_until(), None);
    }

    #[test]
    fn a_burst_is_held_until_it_pauses() {
        let (mut end, mut now) = (Offset(0), Instant::now());
        let mut pacing = WritePacing::new(end, now);
        print(&mut pacing, &mut end, &mut now, 64, 15);
        assert_eq!(pacing.held_until(), Some(now + PAUSE));
        now += PAUSE;
        pacing = pacing.grew(end + 1, now);
        assert_eq!(pacing.held_until(), None);
    }

    #[test]
    fn a_long_one_is_stored_as_it_comes_until_it_is_slow_again() {
        let (mut end, mut now) = (Offset(0), Instant::now());
        let begun = now;
        let mut pacing = WritePacing::new(end, now);
        print(&mut pacing, &mut end, &mut now, 132, 15);
        assert_eq!(pacing.held_until(), Some(begun + MAX_HOLD));
        print(&mut pacing, &mut end, &mut now, 20, 15);
        assert!(matches!(pacing, WritePacing::Flood(_)), "{pacing:?}");
        print(&mut pacing, &mut end, &mut now, 1_000, 15);
        assert_eq!(pacing.held_until(), None);
        for _ in 0..2 {
            now += MEASURED_TIME * 2;
            pacing = pacing.grew(end + 1, now);
        }
        assert!(matches!(pacing, WritePacing::Calm(_)), "{pacing:?}");
        print(&mut pacing, &mut end, &mut now, 2, 15);
        assert_eq!(
            pacing.held_until(),
            Some(now + PAUSE),
            "the next one is held again"
        );
    }
}
