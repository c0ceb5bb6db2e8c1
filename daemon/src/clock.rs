//! The time of day, as records carry it.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch; 0 for a clock set before it.
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}

/// A point in time on both clocks: one to count from, one to tell people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// On the monotonic clock.
    pub at: Instant,
    /// Milliseconds since the Unix epoch.
    pub ms: i64,
}

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self {
            at: Instant::now(),
            ms: now_ms(),
        }
    }
}
