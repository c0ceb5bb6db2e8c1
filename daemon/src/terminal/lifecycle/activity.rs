//! When something last happened in a terminal and who is there now: what its idle timeout counts.
//!
//! Promises: as long as somebody is there nothing is overdue; and every touch, arrival and leaving
//! begins the time anew. Pure: it is told what time it is. Must not know what an activity is, nor
//! who closes a terminal that has had none.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use termd_proto::terminal::MAX_IDLE_TIMEOUT_MS;

use crate::clock::Moment;
use crate::terminal::error::TerminalError;

/// Shortest idle timeout, in milliseconds: a shorter one would end what somebody is about to use.
pub const MIN_IDLE_TIMEOUT_MS: u64 = 1_000;

/// After so many milliseconds without activity a terminal is closed: [`MIN_IDLE_TIMEOUT_MS`] to
/// [`MAX_IDLE_TIMEOUT_MS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdleTimeout(u64);

impl IdleTimeout {
    /// One within the bounds, or which param is not.
    pub fn checked(ms: u64) -> Result<Self, TerminalError> {
        if (MIN_IDLE_TIMEOUT_MS..=MAX_IDLE_TIMEOUT_MS).contains(&ms) {
            return Ok(Self(ms));
        }
        Err(TerminalError::Invalid {
            field: "idle_timeout_ms",
            problem: format!("must be {MIN_IDLE_TIMEOUT_MS} to {MAX_IDLE_TIMEOUT_MS} (a year)"),
        })
    }

    /// As the database has it.
    pub fn stored(ms: u64) -> Self {
        Self(ms)
    }

    /// In milliseconds.
    pub fn ms(self) -> u64 {
        self.0
    }

    /// As a duration.
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

/// The activity in one terminal.
#[derive(Debug)]
pub struct Activity {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: Moment,
    /// How many are there: waits that are pending, clients that are attached.
    present: usize,
    /// It was to be closed: not again before this.
    not_before: Option<Instant>,
}

impl Activity {
    /// That begins now, with nobody there.
    pub fn new(now: Moment) -> Self {
        let state = State {
            last: now,
            present: 0,
            not_before: None,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened.
    pub fn touch(&self, now: Moment) {
        self.lock().last = now;
    }

    /// Somebody came, and stays until they [`leave`](Self::leave).
    pub fn arrive(&self, now: Moment) {
        let mut state = self.lock();
        state.last = now;
        state.present += 1;
    }

    /// Somebody who came went.
    pub fn leave(&self, now: Moment) {
        let mut state = self.lock();
        state.last = now;
        state.present = state.present.saturating_sub(1);
    }

    /// It was last active at this time of day, in milliseconds since the epoch, before there was a
    /// server that could see it. An idle timeout still counts from now.
    pub fn was_last_at(&self, ms: i64) {
        self.lock().last.ms = ms;
    }

    /// When something last happened, in milliseconds since the epoch: now, if somebody is there.
    pub fn last_ms(&self, now: Moment) -> i64 {
        let state = self.lock();
        if state.present > 0 {
            now.ms
        } else {
            state.last.ms
        }
    }

    /// When it is to be closed, if nothing happens until then. While somebody is there that is never
    /// sooner than a whole timeout from now.
    pub fn overdue_at(&self, timeout: IdleTimeout, now: Instant) -> Instant {
        let state = self.lock();
        let since = if state.present > 0 {
            now
        } else {
            state.last.at
        };
        let due = since + timeout.duration();
        state.not_before.map_or(due, |earliest| due.max(earliest))
    }

    /// It is being closed: should that fail, it is not to be tried again before this.
    pub fn put_off(&self, until: Instant) {
        self.lock().not_before = Some(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: IdleTimeout = IdleTimeout(10_000);

    fn after(start: Instant, seconds: u64) -> Moment {
        Moment {
            at: start + Duration::from_secs(seconds),
            ms: i64::try_from(seconds).unwrap() * 1_000,
        }
    }

    #[test]
    fn every_activity_begins_the_time_anew_and_presence_stops_it() {
        let start = Instant::now();
        let activity = Activity::new(after(start, 0));
        let overdue =
            |at: u64| (activity.overdue_at(TIMEOUT, after(start, at).at) - start).as_secs();
        assert_eq!(overdue(0), 10);
        assert_eq!(overdue(9), 10);
        activity.touch(after(start, 4));
        assert_eq!(overdue(5), 14);

        activity.arrive(after(start, 6));
        activity.arrive(after(start, 7));
        assert_eq!(overdue(100), 110);
        assert_eq!(activity.last_ms(after(start, 100)), 100_000);
        activity.leave(after(start, 101));
        assert_eq!(overdue(150), 160, "one of two is still there");
        activity.leave(after(start, 200));
        assert_eq!(overdue(205), 210);
        assert_eq!(activity.last_ms(after(start, 205)), 200_000);
    }

    #[test]
    fn what_could_not_be_closed_is_left_alone_for_a_while() {
        let start = Instant::now();
        let activity = Activity::new(after(start, 0));
        activity.put_off(after(start, 60).at);
        let overdue = activity.overdue_at(TIMEOUT, after(start, 11).at);
        assert_eq!((overdue - start).as_secs(), 60);
        activity.touch(after(start, 59));
        let overdue = activity.overdue_at(TIMEOUT, after(start, 60).at);
        assert_eq!((overdue - start).as_secs(), 69);
    }

    #[test]
    fn timeouts_have_bounds() {
        for (ms, fits) in [
            (0, false),
            (999, false),
            (1_000, true),
            (1_800_000, true),
            (31_536_000_000, true),
            (31_536_000_001, false),
            (u64::MAX, false),
        ] {
            assert_eq!(IdleTimeout::checked(ms).is_ok(), fits, "{ms}");
        }
    }
}
