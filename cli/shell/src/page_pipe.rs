//! The pipe through which the daemon gives pages of exact output.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::pipe::fcntl_setpipe_size;

/// The longest page. Beyond the default of 64 KiB a system may refuse it; pages are shorter then.
const PIPE_BYTES: usize = 256 << 10;

/// Both ends of the pipe.
#[derive(Debug)]
pub(crate) struct PagePipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl PagePipe {
    pub(crate) fn open() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let _ = fcntl_setpipe_size(&writer, PIPE_BYTES);
        Ok(Self { reader, writer })
    }

    /// What the daemon writes into.
    pub(crate) fn writer(&self) -> BorrowedFd<'_> {
        self.writer.as_fd()
    }

    /// Moves the bytes of a page, of which the daemon has said that they are there, behind `pending`.
    pub(crate) fn take(&mut self, count: u64, pending: &mut Vec<u8>) -> io::Result<()> {
        let start = pending.len();
        let count = usize::try_from(count).map_err(|_| io::ErrorKind::InvalidData)?;
        pending.resize(start + count, 0);
        self.reader.read_exact(&mut pending[start..])
    }
}
