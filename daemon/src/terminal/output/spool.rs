//! The spool: a terminal's output by offset, in a memfd that the keeper keeps alive.
//!
//! The file offset is the transcript offset. What is stored and behind the window is released, and
//! punched out in steps, so memory is bounded by the window and the backlog.

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
    /// Nothing before this is read here, whether or not it is punched out yet.
    start: AtomicU64,
    /// Bytes before this are punched out, and would read as zeros.
    punched: AtomicU64,
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
            punched: AtomicU64::new(start),
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

    /// Bytes in memory.
    pub fn held(&self) -> u64 {
        let end = self.end.load(Ordering::Acquire);
        end.saturating_sub(self.punched.load(Ordering::Relaxed))
    }

    /// Reads up to `max` bytes at `since`; `None` if those are released. Fewer bytes mean that there are
    /// no more.
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
        // Bytes that were released meanwhile may have been read as zeros.
        Ok((since >= self.start()).then_some(filled))
    }

    /// Releases the bytes before `offset`, which must be stored or given up. Their memory is given back
    /// when it is worth a system call. Only the terminal's task does.
    pub fn release_before(&self, offset: Offset) -> io::Result<()> {
        let offset = offset.min(self.end());
        if offset <= self.start() {
            return Ok(());
        }
        self.start.store(offset.0, Ordering::Release);
        let from = self.punched.load(Ordering::Relaxed);
        let to = offset.0 / PAGE_BYTES * PAGE_BYTES;
        if to.saturating_sub(from) < PUNCH_GRAIN_BYTES {
            return Ok(());
        }
        self.punch(from / PAGE_BYTES * PAGE_BYTES, to)
    }

    /// Gives back all memory: from now on everything is read from the database.
    pub fn discard(&self) -> io::Result<()> {
        let end = self.end().0;
        self.start.store(end, Ordering::Release);
        self.punch(0, end)
    }

    fn punch(&self, from: u64, to: u64) -> io::Result<()> {
        if from == to {
            return Ok(());
        }
        self.punched.store(to, Ordering::Relaxed);
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.file, how, from, to - from)?)
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::MemfdFlags;

    use super::*;

    #[test]
    fn released_bytes_are_never_read_and_their_memory_is_given_back_in_steps() {
        let file = rustix::fs::memfd_create("spool", MemfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&file, &vec![7; 1 << 20]).unwrap();
        let keepers_file = file.try_clone().unwrap();
        let spool = Spool::adopt(file).unwrap();
        let bytes_in_memory = || {
            let blocks = rustix::fs::fstat(&keepers_file).unwrap().st_blocks;
            u64::try_from(blocks).unwrap() * 512
        };
        let after_one_step = (1 << 20) - 146 * PAGE_BYTES;
        for (offset, in_memory) in [
            (100_000, 1 << 20),
            (600_000, after_one_step),
            (700_000, after_one_step),
        ] {
            spool.release_before(Offset(offset)).unwrap();
            assert_eq!(spool.start(), Offset(offset));
            assert_eq!(spool.read(Offset(offset - 1), 1).unwrap(), None);
            assert_eq!(spool.read(Offset(offset), 1).unwrap().unwrap(), [7]);
            assert_eq!((bytes_in_memory(), spool.held()), (in_memory, in_memory));
        }
        spool.release_before(Offset(650_000)).unwrap();
        assert_eq!(spool.start(), Offset(700_000), "what is released stays so");
        drop(spool);
        let next = Spool::adopt(keepers_file.try_clone().unwrap()).unwrap();
        assert_eq!(
            (next.start(), next.end()),
            (Offset(146 * PAGE_BYTES), Offset(1 << 20))
        );
        next.discard().unwrap();
        assert_eq!(next.read(Offset((1 << 20) - 1), 1).unwrap(), None);
        assert_eq!((bytes_in_memory(), next.held()), (0, 0));
    }
}
