//! The clock of a replay: play time by the time of the machine, at a speed. Pure.

use std::time::{Duration, Instant};

/// The speeds that `+` and `-` go through.
const SPEEDS: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// A clock that can be set and stopped.
#[derive(Debug)]
pub(super) struct Clock {
    /// The play time at `since`, in milliseconds.
    at_ms: f64,
    since: Instant,
    speed: f64,
    runs: bool,
}

impl Clock {
    /// It runs from 0 on.
    pub(super) fn new(speed: f64, now: Instant) -> Self {
        Self {
            at_ms: 0.0,
            since: now,
            speed,
            runs: true,
        }
    }

    fn exact_ms(&self, now: Instant) -> f64 {
        if !self.runs {
            return self.at_ms;
        }
        let passed = now.saturating_duration_since(self.since);
        self.at_ms + passed.as_secs_f64() * 1_000.0 * self.speed
    }

    /// The play time in milliseconds.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates, and is never negative"
    )]
    pub(super) fn play_ms(&self, now: Instant) -> u64 {
        self.exact_ms(now) as u64
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "exact for hundreds of thousands of years"
    )]
    pub(super) fn set(&mut self, play_ms: u64, now: Instant) {
        self.at_ms = play_ms as f64;
        self.since = now;
    }

    pub(super) fn runs(&self) -> bool {
        self.runs
    }

    pub(super) fn speed(&self) -> f64 {
        self.speed
    }

    pub(super) fn stop(&mut self, now: Instant) {
        self.at_ms = self.exact_ms(now);
        self.runs = false;
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.at_ms = self.exact_ms(now);
        self.since = now;
        self.runs = true;
    }

    fn set_speed(&mut self, speed: f64, now: Instant) {
        self.at_ms = self.exact_ms(now);
        self.since = now;
        self.speed = speed;
    }

    pub(super) fn faster(&mut self, now: Instant) {
        let next = SPEEDS.into_iter().find(|speed| *speed > self.speed);
        self.set_speed(next.unwrap_or(self.speed), now);
    }

    pub(super) fn slower(&mut self, now: Instant) {
        let next = SPEEDS.into_iter().rev().find(|speed| *speed < self.speed);
        self.set_speed(next.unwrap_or(self.speed), now);
    }

    /// When this play time is reached; `None` while it stands.
    pub(super) fn reaches(&self, play_ms: u64, now: Instant) -> Option<Instant> {
        if !self.runs {
            return None;
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "exact for hundreds of thousands of years"
        )]
        let left = (play_ms as f64 - self.exact_ms(now)).max(0.0) / self.speed / 1_000.0;
        let left = Duration::try_from_secs_f64(left).ok()?;
        now.checked_add(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_at_its_speed_and_stands_while_stopped() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut clock = Clock::new(1.0, start);
        assert_eq!(clock.play_ms(at(500)), 500);
        clock.faster(at(500));
        assert_eq!((clock.speed(), clock.play_ms(at(1_000))), (2.0, 1_500));
        assert_eq!(clock.reaches(2_500, at(1_000)), Some(at(1_500)));
        assert_eq!(clock.reaches(100, at(1_000)), Some(at(1_000)));
        clock.stop(at(1_000));
        assert_eq!((clock.play_ms(at(9_000)), clock.runs()), (1_500, false));
        assert_eq!(clock.reaches(2_000, at(9_000)), None);
        clock.set(40, at(9_000));
        clock.start(at(10_000));
        assert_eq!(clock.play_ms(at(10_010)), 60);
        for _ in 0..20 {
            clock.slower(at(10_010));
        }
        assert_eq!((clock.speed(), clock.play_ms(at(10_410))), (0.25, 160));
    }
}
