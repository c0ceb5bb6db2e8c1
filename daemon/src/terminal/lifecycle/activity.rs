//! When something last happened in a terminal, and how many are present: what an idle timeout counts.
//!
//! A terminal with somebody present is never overdue. Every touch, arrival and departure restarts the
//! idle time. Pure: the caller passes the time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::idle_timeout::IdleTimeout;
use crate::clock::Moment;

/// The activity in one terminal.
#[derive(Debug)]
pub struct Activity {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: Moment,
    /// Pending waits and attached clients.
    present: usize,
    /// A close that failed is not tried again before this.
    not_before: Option<Instant>,
}

impl Activity {
    /// Starts the idle time now, with no client present.
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

    pub fn touch(&self, now: Moment) {
        self.lock().last = now;
    }

    /// Counts somebody as present until they [`leave`](Self::leave).
    pub fn arrive(&self, now: Moment) {
        let mut state = self.lock();
        state.last = now;
        state.present += 1;
    }

    pub fn leave(&self, now: Moment) {
        let mut state = self.lock();
        state.last = now;
        state.present = state.present.saturating_sub(1);
    }

    /// Sets the time of the last activity under an earlier server, in milliseconds since the epoch.
    /// An idle timeout still counts from now.
    pub fn was_last_at(&self, ms: i64) {
        self.lock().last.ms = ms;
    }

    /// The time of the last activity, in milliseconds since the epoch; now, while somebody is
    /// present.
    pub fn last_ms(&self, now: Moment) -> i64 {
        let state = self.lock();
        if state.present > 0 {
            now.ms
        } else {
            state.last.ms
        }
    }

    /// When the terminal is to be closed if nothing happens until then. While somebody is present,
    /// that is a whole timeout from now.
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

    /// Sets the time before which a close that fails is not tried again.
    pub fn put_off(&self, until: Instant) {
        self.lock().not_before = Some(until);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const TIMEOUT: IdleTimeout = IdleTimeout::stored(10_000);

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
}
