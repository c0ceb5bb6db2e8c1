//! When to ask a server whether it is alive, when to give it up, and how long to wait before the
//! next: pure, all times given.

use std::time::{Duration, Instant};

/// How often a server is asked.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// A server that has not answered for this long is stuck.
const PING_TIMEOUT: Duration = Duration::from_secs(30);
/// A server that has not said hello after this long is stuck.
const HELLO_TIMEOUT: Duration = Duration::from_mins(1);
/// For this long after the last sign of a server the keeper vouches for the daemon: the time to
/// find a server stuck and have the next one up.
const VOUCH: Duration = Duration::from_secs(90);

/// The back-off's first wait.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The back-off's longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// A server that lived this long had served: it did not die of starting, so the next one need not
/// wait for it. One that dies of its first request in less than this is what backing off is for.
const STABLE: Duration = Duration::from_secs(1);

/// What is due for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing before this time.
    Nothing(Instant),
    /// Ask it.
    Ping,
    /// It is stuck: end it.
    Kill,
}

/// One server's signs of life.
#[derive(Debug, Clone, Copy)]
pub(super) enum Health {
    /// It has been started and said nothing yet.
    Silent { since: Instant },
    /// It answered; the next question is due then.
    Well { next_ping: Instant },
    /// It was asked then and has not answered.
    Asked { at: Instant },
}

impl Health {
    /// A server that starts now.
    pub(super) fn new(now: Instant) -> Self {
        Self::Silent { since: now }
    }

    /// It said something.
    pub(super) fn heard(&mut self, now: Instant) {
        *self = Self::Well {
            next_ping: now + PING_INTERVAL,
        };
    }

    /// It was asked.
    pub(super) fn asked(&mut self, now: Instant) {
        *self = Self::Asked { at: now };
    }

    /// What to do about it.
    pub(super) fn due(&self, now: Instant) -> Due {
        let (at, due) = match *self {
            Self::Silent { since } => (since + HELLO_TIMEOUT, Due::Kill),
            Self::Well { next_ping } => (next_ping, Due::Ping),
            Self::Asked { at } => (at + PING_TIMEOUT, Due::Kill),
        };
        if now >= at { due } else { Due::Nothing(at) }
    }
}

/// Whether the keeper may tell systemd's watchdog that all is well.
pub(super) fn may_vouch(last_sign_of_life: Instant, now: Instant) -> bool {
    now.duration_since(last_sign_of_life) < VOUCH
}

/// How long to wait before the next server.
#[derive(Debug, Clone, Copy)]
pub(super) struct BackOff {
    next: Duration,
}

impl BackOff {
    /// No server has died yet.
    pub(super) fn new() -> Self {
        Self { next: FIRST_WAIT }
    }

    /// A server died after having been up for so long: how long the next one waits.
    pub(super) fn after(&mut self, up: Duration) -> Duration {
        let wait = if up >= STABLE { FIRST_WAIT } else { self.next };
        self.next = (wait * 2).min(LONGEST_WAIT);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn a_server_is_asked_every_ten_seconds_and_given_up_after_thirty() {
        let start = Instant::now();
        let mut health = Health::new(start);
        assert_eq!(health.due(start), Due::Nothing(start + seconds(60)));
        assert_eq!(health.due(start + seconds(60)), Due::Kill);
        health.heard(start);
        assert_eq!(
            health.due(start + seconds(9)),
            Due::Nothing(start + seconds(10))
        );
        assert_eq!(health.due(start + seconds(10)), Due::Ping);
        health.asked(start + seconds(10));
        assert_eq!(
            health.due(start + seconds(39)),
            Due::Nothing(start + seconds(40))
        );
        assert_eq!(health.due(start + seconds(40)), Due::Kill);
        health.heard(start + seconds(39));
        assert_eq!(health.due(start + seconds(49)), Due::Ping);
    }

    #[test]
    fn the_keeper_vouches_while_a_stuck_server_is_being_replaced_and_no_longer() {
        let last = Instant::now();
        assert!(may_vouch(
            last,
            last + PING_INTERVAL + PING_TIMEOUT + LONGEST_WAIT
        ));
        assert!(!may_vouch(last, last + VOUCH));
    }

    #[test]
    fn the_back_off_doubles_to_its_limit_and_forgets_after_a_stable_server() {
        let mut back_off = BackOff::new();
        let waits: Vec<u128> = (0..9)
            .map(|_| back_off.after(Duration::from_millis(999)).as_millis())
            .collect();
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(back_off.after(seconds(1)).as_millis(), 50);
        assert_eq!(back_off.after(seconds(0)).as_millis(), 100);
    }
}
