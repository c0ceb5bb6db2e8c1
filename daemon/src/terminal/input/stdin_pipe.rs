//! The pipe that a command reads, and what waits for it.
//!
//! What is sent stands in a memfd that the keeper holds as well, and goes from there into the pipe by
//! splice(2). The memfd's own file offset counts what has gone: a server that is killed loses nothing
//! and repeats nothing. A seal against growing says that the input has ended.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use rustix::fs::{FallocateFlags, SealFlags};
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;
use termd_keeper::protocol::message::StdinFds;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::queue::{Input, Outcome};
use crate::terminal::output::async_fd;

/// Bytes moved before the terminal's output has its turn.
const TURN_BYTES: u64 = 256 << 10;
/// Punching costs a system call: it must free at least this much.
const PUNCH_GRAIN_BYTES: u64 = 256 << 10;
const PAGE_BYTES: u64 = 4_096;

/// What a turn of writing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Bytes went into the pipe.
    Moved,
    /// All input is in the pipe, and there will be no more.
    Ended,
    /// No process reads the pipe any more.
    NoReader,
}

/// A piece of input, some of which is not in the pipe yet.
#[derive(Debug)]
struct Piece {
    input: Input,
    /// Where it begins in the whole input. A piece that repeats something begins before the end.
    start: u64,
    end: u64,
}

/// The pipe, and what waits for it.
#[derive(Debug)]
pub(crate) struct StdinPipe {
    pipe: AsyncFd<OwnedFd>,
    queue: OwnedFd,
    /// How many bytes were sent.
    end: u64,
    /// How many of them are in the pipe, or have been read.
    moved: u64,
    punched: u64,
    has_ended: bool,
    waiting: VecDeque<Piece>,
}

impl StdinPipe {
    /// Takes over the keeper's descriptors. Must be called inside the runtime.
    pub(crate) fn adopt(fds: StdinFds) -> io::Result<Self> {
        let StdinFds { pipe, queue } = fds;
        let moved = rustix::fs::tell(&queue)?;
        Ok(Self {
            pipe: async_fd::register_writable(pipe)?,
            end: u64::try_from(rustix::fs::fstat(&queue)?.st_size).unwrap_or(0),
            moved,
            punched: moved / PAGE_BYTES * PAGE_BYTES,
            has_ended: rustix::fs::fcntl_get_seals(&queue)?.contains(SealFlags::GROW),
            queue,
            waiting: VecDeque::new(),
        })
    }

    /// The inode of the pipe, by which its readers are known.
    pub(crate) fn inode(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(self.pipe.get_ref())?.st_ino)
    }

    /// Bytes that were sent and are not in the pipe.
    pub(crate) fn queued(&self) -> usize {
        usize::try_from(self.end - self.moved).unwrap_or(usize::MAX)
    }

    /// Adds a piece of input, or refuses it. Returns how many of its bytes are not queued.
    pub(crate) fn push(&mut self, input: Input) -> usize {
        let (length, before) = (input.bytes.len() as u64, self.end);
        let start = input.position.offset.unwrap_or(self.end);
        let repeated = self.end.saturating_sub(start).min(length);
        let new = input.bytes.get(index(repeated)..).unwrap_or_default();
        let refusal = if start > self.end {
            Some(Outcome::BeyondInput { end: self.end })
        } else if self.has_ended && !(new.is_empty() && input.position.is_last) {
            Some(Outcome::InputEnded)
        } else {
            self.append(new, input.position.is_last).err()
        };
        if let Some(outcome) = refusal {
            let left = length - (self.end - before);
            input.refuse(outcome);
            return index(left);
        }
        // Nothing shows what goes into a pipe.
        input.facts.written(false, false);
        let end = start + length;
        self.waiting.push_back(Piece { input, start, end });
        self.settle();
        index(repeated)
    }

    fn append(&mut self, mut bytes: &[u8], is_last: bool) -> Result<(), Outcome> {
        while !bytes.is_empty() {
            match rustix::io::pwrite(&self.queue, bytes, self.end) {
                Ok(0) => return Err(Outcome::NoMemory),
                Ok(written) => {
                    self.end += written as u64;
                    bytes = bytes.get(written..).unwrap_or_default();
                }
                Err(Errno::INTR) => {}
                Err(_) => return Err(Outcome::NoMemory),
            }
        }
        if is_last {
            let sealed = rustix::fs::fcntl_add_seals(&self.queue, SealFlags::GROW);
            self.has_ended = sealed.is_ok();
            return sealed.map_err(|_| Outcome::NoMemory);
        }
        Ok(())
    }

    /// Resolves when the pipe takes something that waits for it, or when the end is to be told.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        if self.moved < self.end {
            // The pipe stays ready until a move finds it full.
            self.pipe.writable().await.map(drop)
        } else if self.has_ended {
            Ok(())
        } else {
            std::future::pending().await
        }
    }

    /// Moves into the pipe what it takes, at most a turn. Returns also how many bytes that were.
    pub(crate) fn pump(&mut self) -> (Progress, usize) {
        let before = self.moved;
        let mut progress = Progress::Moved;
        while self.moved < self.end && self.moved - before < TURN_BYTES {
            let wanted = index(self.end - self.moved);
            let moved = self.pipe.try_io(Interest::WRITABLE, |pipe| {
                let flags = SpliceFlags::NONBLOCK;
                Ok(rustix::pipe::splice(
                    &self.queue,
                    None,
                    pipe,
                    None,
                    wanted,
                    flags,
                )?)
            });
            match moved {
                Ok(0) => break,
                Ok(moved) => self.moved += moved as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    progress = Progress::NoReader;
                    break;
                }
            }
        }
        self.settle();
        self.punch();
        if progress == Progress::Moved && self.has_ended && self.moved == self.end {
            progress = Progress::Ended;
        }
        (progress, index(self.moved - before))
    }

    /// Tells senders what has gone into the pipe.
    fn settle(&mut self) {
        while let Some(piece) = self.waiting.front() {
            let taken = self.moved.clamp(piece.start, piece.end) - piece.start;
            piece.input.taken.store(taken, Ordering::Release);
            if self.moved < piece.end {
                return;
            }
            if let Some(piece) = self.waiting.pop_front() {
                let _ = piece.input.done.send(Outcome::Taken);
            }
        }
    }

    /// Gives back the memory of what was read. Bytes in the pipe are the memfd's own pages, which stay.
    fn punch(&mut self) {
        let unread = rustix::io::ioctl_fionread(self.pipe.get_ref()).unwrap_or(self.moved);
        let to = self.moved.saturating_sub(unread) / PAGE_BYTES * PAGE_BYTES;
        if to.saturating_sub(self.punched) < PUNCH_GRAIN_BYTES {
            return;
        }
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if rustix::fs::fallocate(&self.queue, how, self.punched, to - self.punched).is_ok() {
            self.punched = to;
        }
    }

    /// Refuses what waits: no process reads it. Returns how many bytes were not in the pipe.
    pub(crate) fn close(self) -> usize {
        let queued = self.queued();
        for piece in self.waiting {
            piece.input.refuse(Outcome::InputEnded);
        }
        queued
    }
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
