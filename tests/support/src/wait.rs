//! Waiting with a deadline: for file descriptors by poll(2), and for conditions that have no event
//! by asking again.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long a test waits for what should take milliseconds. Two cores may be building beside it.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The pause between two looks at a condition without an event.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// A point in time after which waiting is a failure.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// A deadline this long from now.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// The time that is left; zero when the deadline has passed.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether no time is left.
    pub fn passed(self) -> bool {
        self.left().is_zero()
    }
}

/// Waits until a descriptor is readable or hung up. `false` means that the deadline came first.
pub fn wait_readable(fd: impl AsFd, deadline: Deadline) -> bool {
    loop {
        let left = Timespec::try_from(deadline.left()).unwrap();
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        match poll(&mut fds, Some(&left)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("poll: {error}"),
        }
    }
}

/// Waits until a condition holds, at most [`DEADLINE`]. `what` names the condition in the failure.
#[track_caller]
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait_until_within(DEADLINE, what, holds);
}

/// The same for what takes its time.
#[track_caller]
pub fn wait_until_within(time: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Deadline::after(time);
    while !holds() {
        assert!(!deadline.passed(), "never happened: {what}");
        std::thread::park_timeout(POLL_INTERVAL);
    }
}
