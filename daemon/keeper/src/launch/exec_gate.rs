//! A gate that a child waits at between fork and exec: a pipe of which the keeper has the writing
//! end.
//!
//! A byte releases the child. The end of the pipe cancels it, which is also what the keeper's death
//! is. The child limits its wait by itself, so the keeper needs no timer.

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::child_fds::FIRST_FREE;
use crate::protocol::message::{SpawnFailure, SpawnStep};
use crate::sys;

/// The keeper's side of a gate.
#[derive(Debug)]
pub(super) enum ExecGate {
    /// Nothing waits: there is no gate, or the child was released or cancelled.
    Open,
    /// A child waits at the other end. Dropping the descriptor cancels it.
    Closed(OwnedFd),
}

impl ExecGate {
    /// A closed gate and the child's side of it.
    pub(super) fn closed() -> Result<(Self, OwnedFd), SpawnFailure> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
            .map_err(|errno| SpawnStep::Pipe.failed(errno))?;
        let reader = rustix::io::fcntl_dupfd_cloexec(reader, FIRST_FREE)
            .map_err(|errno| SpawnStep::Pipe.failed(errno))?;
        Ok((Self::Closed(writer), reader))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// Lets the child continue.
    pub(super) fn release(&mut self) {
        if let Self::Closed(writer) = std::mem::replace(self, Self::Open) {
            // A write to an empty pipe does not block. A dead child reports on its error pipe.
            let _ = rustix::io::write(writer, &[1]);
        }
    }

    /// Makes the child exit.
    pub(super) fn cancel(&mut self) {
        *self = Self::Open;
    }
}

/// Waits, in the child, for its release, and closes the descriptor. ECANCELED: it was cancelled.
/// ETIMEDOUT: it was not released in time.
pub(super) fn wait_at(gate: RawFd, limit: Duration) -> Result<(), Errno> {
    let gate = sys::adopt_fd(gate)?;
    let limit = Timespec {
        tv_sec: limit.as_secs().cast_signed(),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let mut gates = [PollFd::from_borrowed_fd(gate.as_fd(), PollFlags::IN)];
    if rustix::io::retry_on_intr(|| poll(&mut gates, Some(&limit)))? == 0 {
        return Err(Errno::TIMEDOUT);
    }
    match rustix::io::read(&gate, &mut [0; 1])? {
        1 => Ok(()),
        _ => Err(Errno::CANCELED),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;

    use super::*;

    #[test]
    fn a_byte_releases_and_the_end_cancels() {
        let (mut gate, reader) = ExecGate::closed().unwrap();
        gate.release();
        let reader = reader.into_raw_fd();
        assert_eq!(wait_at(reader, Duration::from_mins(1)), Ok(()));
        assert!(!gate.is_closed());
        let (mut gate, reader) = ExecGate::closed().unwrap();
        gate.cancel();
        let reader = reader.into_raw_fd();
        assert_eq!(
            wait_at(reader, Duration::from_mins(1)),
            Err(Errno::CANCELED)
        );
        assert!(!gate.is_closed());
    }

    #[test]
    fn without_a_word_it_ends() {
        let (_gate, reader) = ExecGate::closed().unwrap();
        let reader = reader.into_raw_fd();
        assert_eq!(
            wait_at(reader, Duration::from_millis(1)),
            Err(Errno::TIMEDOUT)
        );
    }
}
