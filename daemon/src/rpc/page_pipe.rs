//! The pipe of a client into which a page of output is written ([0172]).
//!
//! Promises: nothing here waits, whatever the client does with its pipe.
//!
//! [0172]: ../../../docs/decisions/0172-pages-by-pipe.md

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fstat, open};
use rustix::io::{Errno, ioctl_fionread};
use rustix::pipe::fcntl_getpipe_size;
use termd_proto::terminal::ReadResult;

use super::error::{RpcError, RpcResult};
use crate::terminal::read::DEFAULT_READ_BYTES;
use crate::terminal::read::page::Page;

/// The write end of an empty pipe.
#[derive(Debug)]
pub(super) struct PagePipe {
    file: File,
    /// What it holds, which is certain only of an empty one: a write takes a whole page of memory or more.
    capacity: u64,
}

impl TryFrom<Vec<OwnedFd>> for PagePipe {
    type Error = RpcError;

    /// Takes the descriptor that came beside the request.
    fn try_from(fds: Vec<OwnedFd>) -> RpcResult<Self> {
        let [fd]: [OwnedFd; 1] = fds.try_into().map_err(|fds: Vec<_>| {
            invalid(&format!(
                "takes one descriptor beside the request, and {} came",
                fds.len()
            ))
        })?;
        let pipe = Self::open(&fd);
        let pipe = pipe.map_err(|errno| invalid(&format!("cannot open the pipe: {errno}")))?;
        pipe.ok_or_else(|| {
            invalid("takes the write end of an empty pipe, and the descriptor is none")
        })
    }
}

impl PagePipe {
    /// Opens it by a description of its own. The client shares the other one, and may let it block.
    fn open(fd: &OwnedFd) -> Result<Option<Self>, Errno> {
        let is_pipe = FileType::from_raw_mode(fstat(fd)?.st_mode) == FileType::Fifo;
        let access = fcntl_getfl(fd)? & OFlags::ACCMODE;
        if !is_pipe || access == OFlags::RDONLY || ioctl_fionread(fd)? > 0 {
            return Ok(None);
        }
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Some(Self {
            file: open(path, flags, Mode::empty())?.into(),
            capacity: fcntl_getpipe_size(fd)?.try_into().unwrap_or_default(),
        }))
    }

    /// The longest page, where this one was requested.
    pub(super) fn bound(&self, max_bytes: Option<u64>) -> u64 {
        max_bytes.unwrap_or(DEFAULT_READ_BYTES).min(self.capacity)
    }

    /// Writes the page's bytes: the answer to its read.
    pub(super) fn answer(mut self, page: Page) -> RpcResult<ReadResult> {
        let bytes = page.exact.unwrap_or_default();
        self.file
            .write_all(&bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => {
                    invalid("takes an empty pipe, and it was written to meanwhile")
                }
                _ => invalid(&format!("cannot write into the pipe: {error}")),
            })?;
        Ok(ReadResult {
            written: Some(bytes.len() as u64),
            ..page.answer
        })
    }
}

fn invalid(problem: &str) -> RpcError {
    RpcError::invalid_params("encoding", &format!("`pipe` {problem}"))
}
