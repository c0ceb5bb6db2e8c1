//! Waiting with a deadline: for file descriptors by poll(2), and for the few conditions that have
//! no event by asking again.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long anything may take that should take milliseconds: two cores may be building beside us.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// How long to wait between two looks at a condition without an event.
const LOOK_AGAIN: Duration = Duration::from_millis(4);

/// A point in time after which waiting is a failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// This long from now.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// What is left; zero when it has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    pub(crate) fn passed(self) -> bool {
        self.left().is_zero()
    }
}

/// Waits until the descriptor is readable or hung up; false: the deadline came first.
pub(crate) fn wait_readable(fd: impl AsFd, deadline: Deadline) -> bool {
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

/// Asks again and again until it is so; panics with `what` at the deadline.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Deadline::after(DEADLINE);
    while !is_so() {
        assert!(!deadline.passed(), "never happened: {what}");
        std::thread::park_timeout(LOOK_AGAIN);
    }
}
