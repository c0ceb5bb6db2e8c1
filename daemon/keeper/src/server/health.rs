//! When to ping a server, when to give it up, and how long to wait before the next. Pure, all times
//! given.

use std::time::{Duration, Instant};

/// The interval of pings.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// A server that has not answered for this long is stuck.
const PING_TIMEOUT: Duration = Duration::from_secs(30);
/// A server that has sent no hello after this long is stuck.
const HELLO_TIMEOUT: Duration = Duration::from_mins(1);
/// For this long after a server's last message the keeper answers systemd's watchdog: the time to
/// find a server stuck and start the next one.
const VOUCH: Duration = Duration::from_secs(90);

/// The back-off's first wait.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The back-off's longest wait.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// A server that lived this long did not die of its start, so the next one starts soon. Backing off
/// is for one that dies of its first request.
const STABLE: Duration = Duration::from_secs(1);

/// What is due for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing until then.
    Nothing(Instant),
    /// A ping.
    Ping,
    /// Its end: it is stuck.
    Kill,
}

/// When a server was last heard of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Health {
    /// It was started and has sent nothing yet.
    Silent { since: Instant },
    /// It has sent something; the next ping is due then.
    Well { next_ping: Instant },
    /// It was pinged then and has not answered.
    Pinged { at: Instant },
}

impl Health {
    /// A server that starts now.
    pub(crate) fn new(now: Instant) -> Self {
        Self::Silent { since: now }
    }

    /// It has sent something.
    pub(crate) fn heard(&mut self, now: Instant) {
        *self = Self::Well {
            next_ping: now + PING_INTERVAL,
        };
    }

    /// It was pinged.
    pub(crate) fn pinged(&mut self, now: Instant) {
        *self = Self::Pinged { at: now };
    }

    /// What is due now.
    pub(crate) fn due(&self, now: Instant) -> Due {
        let (at, due) = match *self {
            Self::Silent { since } => (since + HELLO_TIMEOUT, Due::Kill),
            Self::Well { next_ping } => (next_ping, Due::Ping),
            Self::Pinged { at } => (at + PING_TIMEOUT, Due::Kill),
        };
        if now >= at { due } else { Due::Nothing(at) }
    }
}

/// Whether the keeper may answer systemd's watchdog.
pub(crate) fn may_vouch(last_sign_of_life: Instant, now: Instant) -> bool {
    now.duration_since(last_sign_of_life) < VOUCH
}

/// How long to wait before the next server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackOff {
    next: Duration,
}

impl BackOff {
    /// No server has died yet.
    pub(crate) fn new() -> Self {
        Self { next: FIRST_WAIT }
    }

    /// A server died after this time: how long the next one waits.
    pub(crate) fn after(&mut self, up: Duration) -> Duration {
        let wait = if up >= STABLE { FIRST_WAIT } else { self.next };
        self.next = (wait * 2).min(MAX_WAIT);
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
    fn a_server_is_pinged_every_ten_seconds_and_given_up_after_thirty() {
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
        health.pinged(start + seconds(10));
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
            last + PING_INTERVAL + PING_TIMEOUT + MAX_WAIT
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
