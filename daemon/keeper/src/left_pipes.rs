//! The output pipes of commands that have ended, to which processes that they left go on writing.
//!
//! The transcript has ended with the command, so what comes now goes nowhere. Without a reader such a process
//! would end at its next line (SIGPIPE); with one that does not read, it would wait for ever.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, splice};

use crate::poll::{Poller, Source, Token};

/// Bytes moved in one turn: what a pipe holds.
const TURN_BYTES: usize = 64 << 10;
/// The rest of a pipe that was full: what floods waits, and takes no processor's time.
const REST: Duration = Duration::from_millis(10);

/// The number of a pipe. Numbers are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipeNumber(u64);

/// The pipes: at most two a terminal.
#[derive(Debug, Default)]
pub(crate) struct LeftPipes {
    pipes: HashMap<PipeNumber, LeftPipe>,
    next: u64,
    /// `/dev/null`, once there is a pipe.
    null: Option<File>,
}

#[derive(Debug)]
struct LeftPipe {
    pipe: OwnedFd,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Watched(Token),
    Resting { until: Instant },
}

/// How a turn ended.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Empty,
    More,
    Ended,
}

impl LeftPipes {
    /// Takes over a pipe's end. Where there is no `/dev/null` it is closed: unread, it would be ready for ever.
    pub(crate) fn add(&mut self, pipe: OwnedFd, poller: &mut Poller) {
        if self.null.is_none() {
            self.null = File::options().write(true).open("/dev/null").ok();
        }
        if self.null.is_none() {
            return;
        }
        let number = PipeNumber(self.next);
        self.next += 1;
        if let Ok(token) = poller.watch(&pipe, Source::LeftPipe(number)) {
            let state = State::Watched(token);
            self.pipes.insert(number, LeftPipe { pipe, state });
        }
    }

    /// A pipe has something to read, or no writer any more.
    pub(crate) fn ready(&mut self, number: PipeNumber, poller: &mut Poller, now: Instant) {
        let (Some(left), Some(null)) = (self.pipes.get_mut(&number), &self.null) else {
            return;
        };
        let State::Watched(token) = left.state else {
            return;
        };
        match turn(&left.pipe, null) {
            Turn::Empty => {}
            Turn::More => {
                poller.unwatch(token, &left.pipe);
                let until = now + REST;
                left.state = State::Resting { until };
            }
            Turn::Ended => {
                poller.unwatch(token, &left.pipe);
                self.pipes.remove(&number);
            }
        }
    }

    /// When a rest is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let rests = self.pipes.values().filter_map(|left| match left.state {
            State::Resting { until } => Some(until),
            State::Watched(_) => None,
        });
        rests.min()
    }

    /// Watches again what has rested.
    pub(crate) fn progress(&mut self, poller: &mut Poller, now: Instant) {
        self.pipes.retain(|number, left| match left.state {
            State::Resting { until } if until <= now => {
                let token = poller.watch(&left.pipe, Source::LeftPipe(*number));
                token.is_ok_and(|token| {
                    left.state = State::Watched(token);
                    true
                })
            }
            State::Resting { .. } | State::Watched(_) => true,
        });
    }
}

fn turn(pipe: &OwnedFd, null: &File) -> Turn {
    match splice(pipe, None, null, None, TURN_BYTES, SpliceFlags::NONBLOCK) {
        Ok(0) => Turn::Ended,
        Ok(TURN_BYTES..) => Turn::More,
        Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Turn::Empty,
        Err(_) => Turn::Ended,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write as _, pipe};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn what_comes_goes_nowhere_and_a_flood_waits() {
        let mut poller = Poller::new().unwrap();
        let mut left = LeftPipes::default();
        let (reader, mut writer) = pipe().unwrap();
        left.add(reader.as_fd().try_clone_to_owned().unwrap(), &mut poller);
        drop(reader);
        let mut serve = |left: &mut LeftPipes, now: Instant| {
            left.progress(&mut poller, now);
            let ready = poller.wait(Some(Duration::ZERO));
            let numbers = ready
                .iter()
                .filter_map(|(token, _)| match poller.source(*token) {
                    Some(Source::LeftPipe(number)) => Some(number),
                    _ => None,
                });
            for number in numbers.collect::<Vec<_>>() {
                left.ready(number, &mut poller, now);
            }
        };
        let mut now = Instant::now();
        writer.write_all(b"tick\n").unwrap();
        serve(&mut left, now);
        assert_eq!(rustix::io::ioctl_fionread(&writer).unwrap(), 0);
        assert_eq!(left.deadline(), None);
        writer.write_all(&vec![0; TURN_BYTES]).unwrap();
        serve(&mut left, now);
        assert_eq!(left.deadline(), Some(now + REST));
        writer.write_all(b"waits").unwrap();
        serve(&mut left, now);
        assert_eq!(rustix::io::ioctl_fionread(&writer).unwrap(), 5);
        now += REST;
        serve(&mut left, now);
        assert_eq!(rustix::io::ioctl_fionread(&writer).unwrap(), 0);
        drop(writer);
        serve(&mut left, now);
        assert!(left.pipes.is_empty());
    }
}
