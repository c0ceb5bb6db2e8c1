//! Holding a child between fork and exec: a pipe of which the keeper has the writing end.
//!
//! A byte lets the child go; the end of the pipe, which is also what the keeper's death and its giving
//! up are, ends it. The child bounds its wait by itself, so the keeper needs no clock for it. Between
//! fork and exec there are only system calls.

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::libc;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::child::ABOVE_CHILDS_FDS;
use super::sys;
use crate::protocol::message::{Hold, SpawnFailure, SpawnStep};

/// What the keeper has of a child's hold.
#[derive(Debug)]
pub(super) enum Gate {
    /// It is not held, or no more.
    Open,
    /// It waits at the other end. Dropping this ends it.
    Shut(OwnedFd),
}

impl Gate {
    /// The keeper's side, and the child's where there is something to wait at.
    pub(super) fn of(hold: Hold) -> Result<(Self, Option<OwnedFd>), SpawnFailure> {
        match hold {
            Hold::No => Ok((Self::Open, None)),
            Hold::BeforeWalls | Hold::BeforeExec => {
                let (gate, reader) = Self::shut()?;
                Ok((gate, Some(reader)))
            }
        }
    }

    /// Both sides of one that is shut.
    pub(super) fn shut() -> Result<(Self, OwnedFd), SpawnFailure> {
        let pipe = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK);
        let failed = |errno: Errno| SpawnFailure {
            step: SpawnStep::Pipe,
            errno: errno.raw_os_error(),
        };
        let (reader, writer) = pipe.map_err(failed)?;
        // Not where the child places another one before it.
        let reader = rustix::io::fcntl_dupfd_cloexec(reader, ABOVE_CHILDS_FDS);
        Ok((Self::Shut(writer), reader.map_err(failed)?))
    }

    /// Lets the child go.
    pub(super) fn open(&mut self) {
        if let Self::Shut(writer) = std::mem::replace(self, Self::Open) {
            // An empty pipe has room. A child that is gone already says so on its error pipe.
            let _ = rustix::io::write(writer, &[1]);
        }
    }

    /// Gives the child up.
    pub(super) fn give_up(&mut self) {
        *self = Self::Open;
    }
}

/// Waits, in the child, until it is let go, this long; else why not. The descriptor is closed after
/// it.
pub(super) fn wait_at(gate: RawFd, longest: Duration) -> Result<(), i32> {
    let gate = sys::adopt_fd(gate).map_err(|error| error.raw_os_error().unwrap_or(libc::EBADF))?;
    let longest = Timespec {
        tv_sec: longest.as_secs().cast_signed(),
        tv_nsec: longest.subsec_nanos().into(),
    };
    let mut waited = [PollFd::from_borrowed_fd(gate.as_fd(), PollFlags::IN)];
    loop {
        match poll(&mut waited, Some(&longest)) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.raw_os_error()),
            Ok(0) => return Err(libc::ETIMEDOUT),
            Ok(_) => break,
        }
    }
    match rustix::io::read(&gate, &mut [0; 1]) {
        Ok(1) => Ok(()),
        Ok(_) => Err(libc::ECANCELED),
        Err(errno) => Err(errno.raw_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;

    use super::*;

    #[test]
    fn a_byte_lets_go_and_the_end_gives_up() {
        let (mut gate, reader) = Gate::of(Hold::BeforeExec).unwrap();
        gate.open();
        let reader = reader.unwrap().into_raw_fd();
        assert_eq!(wait_at(reader, Duration::from_mins(1)), Ok(()));
        let (mut gate, reader) = Gate::of(Hold::BeforeExec).unwrap();
        gate.give_up();
        let reader = reader.unwrap().into_raw_fd();
        assert_eq!(
            wait_at(reader, Duration::from_mins(1)),
            Err(libc::ECANCELED)
        );
        let (gate, reader) = Gate::of(Hold::No).unwrap();
        assert!(matches!(gate, Gate::Open) && reader.is_none());
    }

    #[test]
    fn without_a_word_it_ends() {
        let (_gate, reader) = Gate::of(Hold::BeforeExec).unwrap();
        let reader = reader.unwrap().into_raw_fd();
        assert_eq!(
            wait_at(reader, Duration::from_millis(1)),
            Err(libc::ETIMEDOUT)
        );
    }
}
