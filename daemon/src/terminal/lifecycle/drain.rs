//! After a command's exit: how long its output is waited for.
//!
//! Where no other process has the PTY or the pipes open, their end says that all is read. A child that keeps
//! them may print for ever, so the exit is published once they are quiet, or after a while. What the
//! command itself has printed into pipes is in them when it exits, and is always read first.

use std::time::{Duration, Instant};

use termd_keeper::protocol::message::WaitStatus;
use termd_proto::Offset;

/// How long output is waited for that others may print.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrainTimes {
    /// How long there must be none.
    quiet: Duration,
    /// How long in all where there is always some.
    max: Duration,
}

impl DrainTimes {
    /// Of a terminal. A process that the command has started, such as the reader of a process
    /// substitution, may print its last a moment later.
    pub(super) const TERMINAL: Self = Self {
        quiet: Duration::from_millis(100),
        max: Duration::from_secs(2),
    };
    /// Of an agent's call, which is not held up by what it leaves in the background.
    pub(super) const CALL: Self = Self {
        quiet: Duration::from_millis(20),
        max: Duration::from_millis(60),
    };
}

/// What is to be done about a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DrainStep {
    /// Wait.
    Wait,
    /// Read: the time is over, and the command's own output is not read yet.
    Read,
    /// The exit is published.
    Publish,
}

/// What is known of the store when a step is chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoreState {
    /// Whether the store takes what is read now.
    pub(super) may_read: bool,
    /// Whether nothing reaches the disk.
    pub(super) is_stalled: bool,
}

/// A command that has exited, and whose output may not all be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drain {
    pub(super) status: WaitStatus,
    times: DrainTimes,
    quiet_until: Instant,
    until: Instant,
    /// The end of what the command itself has printed.
    own_end: Offset,
}

impl Drain {
    pub(super) fn new(
        status: WaitStatus,
        times: DrainTimes,
        own_end: Offset,
        now: Instant,
    ) -> Self {
        Self {
            status,
            times,
            quiet_until: now + times.quiet,
            until: now + times.max,
            own_end,
        }
    }

    /// Output has come.
    pub(super) fn grew(&mut self, now: Instant) {
        self.quiet_until = now + self.times.quiet;
    }

    /// When to look again. Output that may not be read yet is not quiet: the store has to catch up first.
    pub(super) fn wake_at(&self, now: Instant, may_read: bool) -> Instant {
        if may_read {
            self.quiet_until.min(self.until)
        } else {
            now + self.times.quiet
        }
    }

    /// What is to be done now, where this much is read.
    pub(super) fn step(&self, end: Offset, now: Instant, store: StoreState) -> DrainStep {
        let is_over = self.until <= now;
        let is_read = end >= self.own_end;
        match store.may_read {
            // What others print may wait for ever for a full disk. The exit does not.
            false if is_over && store.is_stalled => DrainStep::Publish,
            false => DrainStep::Wait,
            true if !is_over && self.quiet_until > now => DrainStep::Wait,
            true if is_read => DrainStep::Publish,
            true => DrainStep::Read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: StoreState = StoreState {
        may_read: true,
        is_stalled: false,
    };

    fn drain(now: Instant) -> Drain {
        let status = WaitStatus::Exited(0);
        Drain::new(status, DrainTimes::CALL, Offset(100), now)
    }

    #[test]
    fn quiet_output_is_drained_and_a_flood_is_waited_for_no_longer_than_that() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut drain = drain(start);
        assert_eq!(drain.step(Offset(100), after(19), STORE), DrainStep::Wait);
        assert_eq!(
            drain.step(Offset(100), after(20), STORE),
            DrainStep::Publish
        );
        drain.grew(after(50));
        assert_eq!(drain.step(Offset(900), after(59), STORE), DrainStep::Wait);
        assert_eq!(drain.wake_at(after(59), true), after(60));
        assert_eq!(
            drain.step(Offset(900), after(60), STORE),
            DrainStep::Publish
        );
    }

    #[test]
    fn what_the_command_has_printed_is_read_whatever_the_time() {
        let start = Instant::now();
        let late = start + Duration::from_secs(9);
        let step = |end, store| drain(start).step(Offset(end), late, store);
        assert_eq!(step(99, STORE), DrainStep::Read);
        assert_eq!(step(100, STORE), DrainStep::Publish);
        let busy = StoreState {
            may_read: false,
            ..STORE
        };
        assert_eq!(step(100, busy), DrainStep::Wait);
        let stalled = StoreState {
            is_stalled: true,
            ..busy
        };
        assert_eq!(step(0, stalled), DrainStep::Publish);
    }
}
