//! A stream of the command's output on its way to a descriptor of this process.
//!
//! Other processes have the descriptors too, so that they stay as they are. Of a pipe this process opens
//! another description, which does not block.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::page_pipe::PagePipe;

/// What a pipe that is ready takes without blocking (`PIPE_BUF`, pipe(7)).
const PIPE_BYTES: usize = 4096;

/// How much can be written at once without waiting for a reader.
#[derive(Debug)]
enum Kind {
    /// All of it.
    File,
    /// All of it, or an error.
    Socket,
    /// As much as there is space for, by this description.
    Pipe(OwnedFd),
    /// [`PIPE_BYTES`].
    Other,
}

/// One stream.
#[derive(Debug)]
pub(crate) struct Output {
    fd: BorrowedFd<'static>,
    kind: Kind,
    pending: Vec<u8>,
    /// How much of `pending` is written.
    written: usize,
}

impl Output {
    pub(crate) fn to(fd: BorrowedFd<'static>) -> Self {
        let file_type = fstat(fd).map(|file| FileType::from_raw_mode(file.st_mode));
        let kind = match file_type {
            Ok(FileType::RegularFile) => Kind::File,
            Ok(FileType::Socket) => Kind::Socket,
            Ok(FileType::Fifo) => without_blocking(fd).map_or(Kind::Other, Kind::Pipe),
            _ => Kind::Other,
        };
        Self {
            fd,
            kind,
            pending: Vec::new(),
            written: 0,
        }
    }

    /// Takes a page of output as text.
    pub(crate) fn push_text(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
    }

    /// Takes a page of exact output, which is this long.
    pub(crate) fn push_page(&mut self, pipe: &mut PagePipe, bytes: u64) -> io::Result<()> {
        pipe.take(bytes, &mut self.pending)
    }

    pub(crate) fn is_flushed(&self) -> bool {
        self.pending.is_empty()
    }

    /// Drops what is not written.
    pub(crate) fn discard(&mut self) {
        self.pending.clear();
        self.written = 0;
    }

    /// What to wait for before [`write`](Self::write): space, or, where all is written, that the reader
    /// has gone.
    pub(crate) fn poll_fd(&self) -> PollFd<'_> {
        let space = if self.is_flushed() {
            PollFlags::empty()
        } else {
            PollFlags::OUT
        };
        match &self.kind {
            Kind::Pipe(own) => PollFd::from_borrowed_fd(own.as_fd(), space),
            Kind::File | Kind::Socket | Kind::Other => PollFd::from_borrowed_fd(self.fd, space),
        }
    }

    /// Writes once, after the descriptor was found ready.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        if self.is_flushed() {
            return Err(Errno::PIPE.into());
        }
        let rest = self.pending.get(self.written..).unwrap_or_default();
        let written = match &self.kind {
            Kind::File => rustix::io::write(self.fd, rest),
            Kind::Socket => rustix::net::send(self.fd, rest, SendFlags::DONTWAIT),
            Kind::Pipe(own) => rustix::io::write(own, rest),
            Kind::Other => rustix::io::write(self.fd, &rest[..rest.len().min(PIPE_BYTES)]),
        };
        match written {
            Ok(count) => self.written += count,
            // Somebody else's flag on the descriptor, or a reader that was faster.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        if self.written == self.pending.len() {
            self.discard();
        }
        Ok(())
    }
}

/// Another description of a pipe's end, which does not block. `None`: it is another user's pipe.
fn without_blocking(pipe: BorrowedFd<'_>) -> Option<OwnedFd> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(path, flags, Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_pipe_that_is_ready_does_not_block() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let fd = crate::sys::inherited_fd(writer.as_fd().as_raw_fd());
        let mut output = Output::to(fd);
        let bytes = "x".repeat(300_000);
        output.push_text(&bytes);
        let mut read = Vec::new();
        while !output.is_flushed() {
            let mut fds = [output.poll_fd()];
            let now = rustix::event::Timespec::default();
            if rustix::event::poll(&mut fds, Some(&now)).unwrap() > 0 {
                output.write().unwrap();
            } else {
                let mut chunk = [0; 8192];
                let count = reader.read(&mut chunk).unwrap();
                read.extend_from_slice(&chunk[..count]);
            }
        }
        drop((output, writer));
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes.as_bytes());
    }
}
