//! The spool: a terminal's output by offset, in a memfd that the keeper keeps alive.
//!
//! The file offset is the transcript offset. What is stored and past retention is punched out, so
//! memory is bounded by the window and the backlog.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, SeekFrom};
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;
use termd_proto::Offset;

/// Punching costs a system call: it must free at least this much.
const PUNCH_GRAIN_BYTES: u64 = 256 << 10;
const PAGE_BYTES: u64 = 4_096;

/// A terminal's output by offset. Anyone may read; only the terminal's task writes.
#[derive(Debug)]
pub struct Spool {
    file: OwnedFd,
    end: AtomicU64,
    /// Bytes before this may be punched out, and read as zeros.
    start: AtomicU64,
}

impl Spool {
    /// Takes over the keeper's memfd.
    pub fn adopt(file: OwnedFd) -> io::Result<Self> {
        let size = u64::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
        // Nothing uses the file's own position: every transfer names its offset.
        let start = match rustix::fs::seek(&file, SeekFrom::Data(0)) {
            Ok(offset) => offset,
            Err(Errno::NXIO) => size,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            file,
            end: AtomicU64::new(size),
            start: AtomicU64::new(start),
        })
    }

    /// Moves `bytes` bytes here that a pipe holds. Only the terminal's task does.
    pub(crate) fn take(&self, pipe: &OwnedFd, mut bytes: u64) -> io::Result<()> {
        let mut end = self.end.load(Ordering::Acquire);
        while bytes > 0 {
            let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
            let to = Some(&mut end);
            match rustix::pipe::splice(pipe, None, &self.file, to, wanted, SpliceFlags::MOVE) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(moved) => {
                    bytes -= moved as u64;
                    self.end.store(end, Ordering::Release);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The offset after the last byte.
    pub fn end(&self) -> Offset {
        Offset(self.end.load(Ordering::Acquire))
    }

    /// The first offset that can still be read here.
    pub fn start(&self) -> Offset {
        Offset(self.start.load(Ordering::Acquire))
    }

    /// Bytes held in memory.
    pub fn held(&self) -> u64 {
        self.end().since(self.start())
    }

    /// Reads up to `max` bytes at `since`; `None` if those are punched out. Fewer bytes mean that there
    /// are no more.
    pub fn read(&self, since: Offset, max: usize) -> io::Result<Option<Vec<u8>>> {
        let available = usize::try_from(self.end().since(since)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; available.min(max)];
        let read = self.read_at(since, &mut bytes)?;
        bytes.truncate(read.unwrap_or(0));
        Ok(read.map(|_| bytes))
    }

    /// [`read`](Self::read) into a buffer; returns how many bytes were filled.
    pub fn read_at(&self, since: Offset, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if since < self.start() {
            return Ok(None);
        }
        let available = usize::try_from(self.end().since(since)).unwrap_or(usize::MAX);
        let wanted = available.min(buffer.len());
        let mut filled = 0;
        while filled < wanted {
            match rustix::io::pread(
                self.file.as_fd(),
                &mut buffer[filled..wanted],
                since.0 + filled as u64,
            ) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // Bytes that were punched out meanwhile read as zeros.
        Ok((since >= self.start()).then_some(filled))
    }

    /// Punches out the bytes before `offset`, when it is worth a system call. They must be stored. Only
    /// the terminal's task does.
    pub fn punch_before(&self, offset: Offset) -> io::Result<()> {
        let start = self.start();
        let offset = Offset(offset.min(self.end()).0 / PAGE_BYTES * PAGE_BYTES);
        if offset.since(start) < PUNCH_GRAIN_BYTES {
            return Ok(());
        }
        self.start.store(offset.0, Ordering::Release);
        let from = start.0 / PAGE_BYTES * PAGE_BYTES;
        rustix::fs::fallocate(
            &self.file,
            FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            from,
            offset.0 - from,
        )?;
        Ok(())
    }

    /// Gives back all memory: from now on everything is read from the database.
    pub fn discard(&self) -> io::Result<()> {
        let end = self.end().0;
        self.start.store(end, Ordering::Release);
        if end > 0 {
            rustix::fs::fallocate(
                &self.file,
                FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
                0,
                end,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::MemfdFlags;

    use super::*;

    #[test]
    fn punched_bytes_are_gone_and_never_read_as_zeros() {
        let file = rustix::fs::memfd_create("spool", MemfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&file, &vec![7; 1 << 20]).unwrap();
        let keepers_file = file.try_clone().unwrap();
        let spool = Spool::adopt(file).unwrap();
        spool.punch_before(Offset(100_000)).unwrap();
        assert_eq!(spool.start(), Offset(0), "not worth it yet");
        spool.punch_before(Offset(600_000)).unwrap();
        assert_eq!(spool.start(), Offset(146 * 4096));
        assert_eq!(spool.read(Offset(0), 1).unwrap(), None);
        assert_eq!(spool.read(spool.start(), 1).unwrap().unwrap(), [7]);
        let held = rustix::fs::fstat(&keepers_file).unwrap().st_blocks * 512;
        assert_eq!(u64::try_from(held).unwrap(), spool.held());
        drop(spool);
        let next = Spool::adopt(keepers_file.try_clone().unwrap()).unwrap();
        assert_eq!(
            (next.start(), next.end()),
            (Offset(146 * 4096), Offset(1 << 20))
        );
        next.discard().unwrap();
        assert_eq!(next.read(Offset(600_000), 1).unwrap(), None);
        assert_eq!(next.held(), 0);
    }
}
