//! Which byte of a transcript came from which pipe: a bit for each byte, by offset.
//!
//! Bytes of both pipes lie in one spool, in the order in which they were read. The stream of bytes is
//! declared before they are moved to the spool, in a memfd that the keeper holds too. So the stream
//! of every byte in the spool is known whenever a server dies. A declaration whose bytes never came
//! is overwritten with that of the bytes that come in their place. Holes are standard output: a
//! command that writes no errors takes no memory here.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use termd_proto::Offset;
use termd_proto::terminal::OutputStream;

/// Bytes of output for each byte of the map.
const BITS: u64 = 8;
/// Punching costs a system call: it must free at least this many bytes of the map.
const PUNCH_GRAIN_BYTES: u64 = 32 << 10;
const PAGE_BYTES: u64 = 4_096;

/// The stream of each byte. Anyone may read; only the terminal's task declares.
#[derive(Debug)]
pub struct StreamMap {
    file: OwnedFd,
    /// No byte from this offset on was ever declared standard error.
    marked: AtomicU64,
    /// Bytes of the file before this were punched out.
    punched: AtomicU64,
}

impl StreamMap {
    /// Takes over the keeper's memfd.
    pub fn adopt(file: OwnedFd) -> io::Result<Self> {
        let size = u64::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
        Ok(Self {
            file,
            marked: AtomicU64::new(size.saturating_mul(BITS)),
            punched: AtomicU64::new(0),
        })
    }

    /// Declares the stream of the bytes from `from` up to `to`, before they are in the spool. Earlier
    /// declarations from `from` on are void.
    pub fn declare(&self, stream: OutputStream, from: Offset, to: Offset) -> io::Result<()> {
        let marked = self.marked.load(Ordering::Acquire);
        let (fill, to) = match stream {
            OutputStream::Stdout => (0x00, to.0.min(marked)),
            OutputStream::Stderr => (0xff, to.0),
        };
        if from.0 >= to {
            return Ok(());
        }
        let first = from.0 / BITS;
        let length = usize::try_from(to.div_ceil(BITS) - first).unwrap_or(usize::MAX);
        let mut bits = vec![fill; length];
        let before = low_bits(from.0 % BITS);
        if before != 0
            && let Some(shared) = bits.first_mut()
        {
            let mut known = [0];
            read_at(&self.file, &mut known, first)?;
            *shared = (known[0] & before) | (fill & !before);
        }
        write_at(&self.file, &bits, first)?;
        if stream == OutputStream::Stderr {
            let end = (first + length as u64) * BITS;
            self.marked.store(marked.max(end), Ordering::Release);
        }
        Ok(())
    }

    /// The streams of `length` bytes from `from` on. Where the spool's bytes were punched out, the
    /// answer means nothing.
    pub fn read(&self, from: Offset, length: usize) -> io::Result<StreamBits> {
        let first = from.0 / BITS;
        let end = (from + length as u64).0.div_ceil(BITS);
        let end = end.min(self.marked.load(Ordering::Acquire).div_ceil(BITS));
        let mut bits = vec![0; usize::try_from(end.saturating_sub(first)).unwrap_or(0)];
        let read = read_at(&self.file, &mut bits, first)?;
        bits.truncate(read);
        Ok(StreamBits { first, bits })
    }

    /// Punches out the map of the bytes before this, when it is worth a system call. Only the
    /// terminal's task does.
    pub fn punch_before(&self, offset: Offset) -> io::Result<()> {
        let from = self.punched.load(Ordering::Acquire);
        let to = offset.0 / BITS / PAGE_BYTES * PAGE_BYTES;
        if to.saturating_sub(from) < PUNCH_GRAIN_BYTES {
            return Ok(());
        }
        self.punched.store(to, Ordering::Release);
        punch(&self.file, from, to)
    }

    /// Gives back all memory.
    pub fn discard(&self) -> io::Result<()> {
        punch(&self.file, 0, self.marked.load(Ordering::Acquire) / BITS)
    }
}

fn punch(file: &OwnedFd, from: u64, to: u64) -> io::Result<()> {
    if from >= to {
        return Ok(());
    }
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, how, from, to - from)?)
}

/// Reads as much as there is.
fn read_at(file: &OwnedFd, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(file.as_fd(), rest, at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

fn write_at(file: &OwnedFd, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pwrite(file.as_fd(), rest, at + written as u64) {
            Ok(more) => written += more,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The lowest `count` bits of a byte; fewer than 8.
fn low_bits(count: u64) -> u8 {
    (1_u8 << (count % BITS)) - 1
}

/// A part of a [`StreamMap`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamBits {
    /// The index in the whole map: the offset divided by 8.
    first: u64,
    /// A bit for each byte, the lowest first, set for standard error. Absent bits are standard
    /// output.
    bits: Vec<u8>,
}

/// Consecutive bytes of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRun {
    pub stream: OutputStream,
    pub start: Offset,
    /// The offset after the last byte.
    pub end: Offset,
}

impl StreamBits {
    /// Joins the maps of stored blocks, each with its block's offset, in order. Offsets are multiples
    /// of 8.
    pub fn of_blocks(from: Offset, blocks: Vec<(Offset, Vec<u8>)>) -> Self {
        let first = from.0 / BITS;
        let mut bits = Vec::new();
        for (start, block) in blocks {
            let at = start.0 / BITS;
            // A block may begin before `from`.
            let known = usize::try_from(first.saturating_sub(at)).unwrap_or(usize::MAX);
            let place = usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX);
            bits.resize(place.max(bits.len()), 0);
            bits.extend_from_slice(block.get(known..).unwrap_or_default());
        }
        Self { first, bits }
    }

    /// The stored form for a block of `length` bytes that begins where this map does; `None` where all
    /// of it is standard output.
    pub fn into_block(mut self, length: usize) -> Option<Vec<u8>> {
        let whole = length.div_ceil(8);
        self.bits.resize(whole, 0);
        if let Some(last) = self.bits.last_mut()
            && !length.is_multiple_of(8)
        {
            *last &= low_bits(length as u64 % BITS);
        }
        self.bits.iter().any(|bits| *bits != 0).then_some(self.bits)
    }

    fn byte_at(&self, offset: u64) -> u8 {
        let place = (offset / BITS).checked_sub(self.first);
        let place = place.and_then(|place| usize::try_from(place).ok());
        place
            .and_then(|place| self.bits.get(place))
            .copied()
            .unwrap_or(0)
    }

    fn stream_at(&self, offset: u64) -> OutputStream {
        if self.byte_at(offset) >> (offset % BITS) & 1 == 1 {
            OutputStream::Stderr
        } else {
            OutputStream::Stdout
        }
    }

    /// The runs of the bytes from `from` up to `to`, in order.
    pub fn runs(&self, from: Offset, to: Offset) -> impl Iterator<Item = StreamRun> {
        let mut at = from.0;
        std::iter::from_fn(move || {
            if at >= to.0 {
                return None;
            }
            let (start, stream) = (at, self.stream_at(at));
            let whole = match stream {
                OutputStream::Stdout => 0x00,
                OutputStream::Stderr => 0xff,
            };
            while at < to.0 && self.stream_at(at) == stream {
                let steps = at.is_multiple_of(BITS) && self.byte_at(at) == whole;
                at += if steps { BITS } else { 1 };
            }
            at = at.min(to.0);
            Some(StreamRun {
                stream,
                start: Offset(start),
                end: Offset(at),
            })
        })
    }
}

#[cfg(test)]
mod tests;
