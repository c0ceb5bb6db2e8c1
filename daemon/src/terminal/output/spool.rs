//! The spool: a terminal's output by offset, in a memfd that the keeper keeps alive.
//!
//! The file offset is the transcript offset. Bytes come from the PTY through a pipe by splice(2),
//! so that there is no moment at which only this process has them: killed between the two steps,
//! it leaves them in the pipe, which the keeper holds, and the next server moves them on first.
//! What is stored and past retention is punched out, so memory is bounded by the window and the
//! backlog.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{FallocateFlags, SeekFrom};
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;
use termd_proto::Offset;

/// A tty gives at most 4,095 bytes a read; a longer splice only allocates pages to free them.
const TTY_READ_BYTES: usize = 4_096;
/// What one read of a tty gives when it has more.
const FULL_TTY_READ_BYTES: usize = 4_095;
/// Reads into the pipe before one move to the file: as many as the pipe's 16 KiB hold.
const READS_PER_MOVE: usize = 4;
/// As many bytes in one go mean that the program is printing as fast as it is read. Then it pays to
/// let it go on for a moment and look again: falling asleep and being woken for each 4 KiB takes
/// longer than moving them.
const FLOOD_BYTES: u64 = FULL_TTY_READ_BYTES as u64;
/// How often to look again before falling asleep: some 20 µs on a machine with nothing else to do.
const PATIENCE: u32 = 16;
/// The most that one [`Intake::pump`] moves, so that a flood cannot starve its task's other duties.
pub const PUMP_BUDGET_BYTES: u64 = 128 << 10;
/// Punching costs a system call: not below this much to free.
const PUNCH_GRAIN_BYTES: u64 = 256 << 10;
const PAGE_BYTES: u64 = 4_096;

/// Why a pump stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PumpStop {
    /// The PTY has nothing more for now.
    Drained,
    /// There is more; the budget is spent.
    Budget,
    /// EOF: no process has the slave side open (EIO on the master).
    HungUp,
}

/// What was done in a moment in which the PTY was empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    /// Something.
    Worked,
    /// There was nothing to do.
    Idle,
}

/// A terminal's output by offset. Anyone may read; its [`Intake`] writes.
#[derive(Debug)]
pub struct Spool {
    file: OwnedFd,
    end: AtomicU64,
    /// Bytes before this may be punched out: nobody may trust what is read there.
    start: AtomicU64,
}

/// The way into a spool. Only the terminal's own task has it.
#[derive(Debug)]
pub struct Intake {
    pipe_reader: OwnedFd,
    pipe_writer: OwnedFd,
    /// Whether splice(2) from this tty works; before Linux 5.12 it did not.
    splices: bool,
}

impl Intake {
    /// Takes over the keeper's pipe, and moves on what a server that died left in it.
    pub fn adopt(pipe_reader: OwnedFd, pipe_writer: OwnedFd, spool: &Spool) -> io::Result<Self> {
        let left = rustix::io::ioctl_fionread(&pipe_reader)?;
        let intake = Self {
            pipe_reader,
            pipe_writer,
            splices: true,
        };
        intake.move_on(spool, left)?;
        Ok(intake)
    }

    /// Moves what the PTY has, up to the budget. While a program prints as fast as it is read, the
    /// moments in which the PTY is empty go to `meanwhile`, which does a little of something else
    /// with the spool's new end, and says whether it had anything to do.
    pub fn pump(
        &mut self,
        master: &OwnedFd,
        spool: &Spool,
        mut meanwhile: impl FnMut(Offset) -> Meanwhile,
    ) -> io::Result<PumpStop> {
        let first = spool.end();
        loop {
            let (taken, stop) = if self.splices {
                self.fill_pipe(master)?
            } else {
                self.copy_through_pipe(master)?
            };
            self.move_on(spool, taken)?;
            let moved = spool.end().since(first);
            match stop {
                Some(PumpStop::Drained)
                    if (FLOOD_BYTES..PUMP_BUDGET_BYTES).contains(&moved)
                        && more_comes_soon(master, || meanwhile(spool.end()))? => {}
                Some(stop) => return Ok(stop),
                None if moved >= PUMP_BUDGET_BYTES => return Ok(PumpStop::Budget),
                None => {}
            }
        }
    }

    fn fill_pipe(&mut self, master: &OwnedFd) -> io::Result<(u64, Option<PumpStop>)> {
        let mut taken = 0;
        for _ in 0..READS_PER_MOVE {
            let spliced = rustix::pipe::splice(
                master,
                None,
                &self.pipe_writer,
                None,
                TTY_READ_BYTES,
                SpliceFlags::NONBLOCK | SpliceFlags::MOVE,
            );
            match spliced {
                Ok(0) | Err(Errno::IO) => return Ok((taken, Some(PumpStop::HungUp))),
                Ok(bytes) => {
                    taken += bytes as u64;
                    // Less than a tty gives at once was all there was. What comes after it wakes
                    // us again, so there is no need to be told EAGAIN, which costs as much as bytes.
                    if bytes < FULL_TTY_READ_BYTES {
                        return Ok((taken, Some(PumpStop::Drained)));
                    }
                }
                // An empty PTY or a full pipe; a full pipe is emptied and tried again.
                Err(Errno::AGAIN) if taken > 0 => return Ok((taken, None)),
                Err(Errno::AGAIN) => return Ok((0, Some(PumpStop::Drained))),
                Err(Errno::INTR) => {}
                Err(Errno::INVAL) => {
                    self.splices = false;
                    return Ok((taken, None));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok((taken, None))
    }

    /// The same by read(2) and write(2): what an old kernel leaves us. Bytes between the two calls
    /// are lost if this process is killed there.
    fn copy_through_pipe(&self, master: &OwnedFd) -> io::Result<(u64, Option<PumpStop>)> {
        let mut buffer = [0; TTY_READ_BYTES];
        match rustix::io::read(master, &mut buffer) {
            Ok(0) | Err(Errno::IO) => Ok((0, Some(PumpStop::HungUp))),
            Ok(bytes) => {
                let mut rest = &buffer[..bytes];
                while !rest.is_empty() {
                    let written = rustix::io::write(&self.pipe_writer, rest)?;
                    rest = &rest[written..];
                }
                Ok((bytes as u64, None))
            }
            Err(Errno::AGAIN) => Ok((0, Some(PumpStop::Drained))),
            Err(Errno::INTR) => Ok((0, None)),
            Err(error) => Err(error.into()),
        }
    }

    fn move_on(&self, spool: &Spool, bytes: u64) -> io::Result<()> {
        spool.take(&self.pipe_reader, bytes)
    }
}

/// Lets others run for a moment, again and again, until the PTY has more or patience ends.
fn more_comes_soon(master: &OwnedFd, mut meanwhile: impl FnMut() -> Meanwhile) -> io::Result<bool> {
    let mut idle = 0;
    while idle < PATIENCE {
        if meanwhile() == Meanwhile::Idle {
            idle += 1;
            std::thread::yield_now();
        }
        let mut fds = [PollFd::new(master, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&Timespec::default())) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

impl Spool {
    /// Takes over what the keeper holds.
    pub fn adopt(file: OwnedFd) -> io::Result<Self> {
        let size = u64::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
        // The file's own position is used by nobody: every transfer names its offset.
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

    /// Moves so many bytes here that a pipe holds. Only the terminal's own task calls this.
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

    /// Bytes held, in memory.
    pub fn held(&self) -> u64 {
        self.end().since(self.start())
    }

    /// Reads up to `max` bytes at `since`; `None` if those are not here any more. Fewer bytes than
    /// asked for mean that there are no more.
    pub fn read(&self, since: Offset, max: usize) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        Ok(self.read_into(since, max, &mut bytes)?.then_some(bytes))
    }

    /// The same into memory that there is already; false if the bytes are not here any more.
    pub fn read_into(&self, since: Offset, max: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let available = usize::try_from(self.end().since(since)).unwrap_or(usize::MAX);
        bytes.resize(available.min(max), 0);
        let read = self.read_at(since, bytes)?;
        bytes.truncate(read.unwrap_or(0));
        Ok(read.is_some())
    }

    /// The same into a buffer: how many bytes of it were filled; `None` if those at `since` are not
    /// here any more.
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
        // Punched out while we read: what we have may be zeros.
        Ok((since >= self.start()).then_some(filled))
    }

    /// Gives back the memory of bytes before `offset`, when it is worth a system call. The caller
    /// has seen to it that they are stored. Only the terminal's own task calls this.
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

    /// Gives back all of its memory: from now on everything is read from the database.
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
    use std::io::Write;

    use rustix::fs::MemfdFlags;
    use rustix::pipe::PipeFlags;

    use super::*;

    struct Parts {
        file: OwnedFd,
        reader: OwnedFd,
        writer: OwnedFd,
    }

    fn parts() -> Parts {
        let file = rustix::fs::memfd_create("spool", MemfdFlags::CLOEXEC).unwrap();
        let (reader, writer) =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap();
        Parts {
            file,
            reader,
            writer,
        }
    }

    fn adopt(parts: Parts) -> (Spool, Intake) {
        let spool = Spool::adopt(parts.file).unwrap();
        let intake = Intake::adopt(parts.reader, parts.writer, &spool).unwrap();
        (spool, intake)
    }

    /// A raw PTY: the master non-blocking, the slave as a file to write to.
    fn pty() -> (OwnedFd, std::fs::File) {
        let pty = nix::pty::openpty(None, None).unwrap();
        let mut termios = rustix::termios::tcgetattr(&pty.slave).unwrap();
        termios.make_raw();
        rustix::termios::tcsetattr(&pty.slave, rustix::termios::OptionalActions::Now, &termios)
            .unwrap();
        rustix::io::ioctl_fionbio(&pty.master, true).unwrap();
        (pty.master, pty.slave.into())
    }

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let (master, mut slave) = pty();
        let (spool, mut intake) = adopt(parts());
        let sent: Vec<u8> = (0..300_000u32).map(|i| i.to_le_bytes()[0] ^ 0x5a).collect();
        let copy = sent.clone();
        let writer = std::thread::spawn(move || slave.write_all(&copy).unwrap());
        loop {
            if intake.pump(&master, &spool, |_| Meanwhile::Idle).unwrap() == PumpStop::HungUp {
                break;
            }
            let mut fds = [rustix::event::PollFd::new(
                &master,
                rustix::event::PollFlags::IN,
            )];
            rustix::event::poll(&mut fds, None).unwrap();
        }
        writer.join().unwrap();
        assert_eq!(spool.end(), Offset(300_000));
        assert_eq!(spool.read(Offset(0), usize::MAX).unwrap().unwrap(), sent);
        assert_eq!(
            spool.read(Offset(299_990), 5).unwrap().unwrap(),
            sent[299_990..299_995]
        );
        assert_eq!(spool.read(Offset(300_000), 5).unwrap().unwrap(), b"");
    }

    #[test]
    fn what_a_dead_server_left_in_the_pipe_is_moved_on_first() {
        let parts = parts();
        rustix::io::write(&parts.file, b"before ").unwrap();
        rustix::io::write(&parts.writer, b"after").unwrap();
        let (spool, _intake) = adopt(parts);
        assert_eq!(spool.read(Offset(0), 99).unwrap().unwrap(), b"before after");
    }

    #[test]
    fn punched_bytes_are_gone_and_never_read_as_zeros() {
        let parts = parts();
        rustix::io::write(&parts.file, &vec![7; 1 << 20]).unwrap();
        let keepers_file = parts.file.try_clone().unwrap();
        let (spool, _intake) = adopt(parts);
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
