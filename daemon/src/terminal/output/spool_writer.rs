//! The way of a PTY's output into the spool, by splice(2) through a pipe that the keeper holds.
//!
//! There is no moment at which only this process has a byte. Killed between the two steps, it leaves
//! the bytes in the pipe, and the next server moves them on first.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;
use termd_proto::Offset;

use super::spool::Spool;

/// A tty gives at most 4,095 bytes a read. A longer splice allocates pages only to free them.
const TTY_READ_BYTES: usize = 4_096;
/// Bytes that one read of a tty gives when it has more.
const FULL_TTY_READ_BYTES: usize = 4_095;
/// Reads into the pipe before one move to the file: as many as the pipe's 16 KiB hold.
const READS_PER_MOVE: usize = 4;
/// This many bytes in one pump mean that the program prints as fast as it is read. Then it pays to
/// poll again: falling asleep and being woken for each 4 KiB takes longer than moving them.
const FLOOD_BYTES: u64 = FULL_TTY_READ_BYTES as u64;
/// Polls before falling asleep: some 20 µs on an idle machine.
const PATIENCE: u32 = 16;
/// A yield that takes longer has let another process run: the processors are wanted.
const LONG_YIELD: Duration = Duration::from_micros(100);
/// Most bytes of one [`SpoolWriter::pump`], so that a flood does not starve the task's other duties.
pub const PUMP_BUDGET_BYTES: u64 = 128 << 10;

/// Why a pump stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PumpStop {
    /// There is nothing more for now.
    Drained,
    /// There is more, but the budget is spent.
    Budget,
    /// EOF: no process has the slave side open (EIO on the master).
    HungUp,
}

/// What the caller did while the PTY was empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    Worked,
    /// There was nothing to do.
    Idle,
}

/// The way into a spool. Only the terminal's task has it.
#[derive(Debug)]
pub struct SpoolWriter {
    pipe_reader: OwnedFd,
    pipe_writer: OwnedFd,
    /// Whether splice(2) from this tty works; before Linux 5.12 it did not.
    splices: bool,
}

impl SpoolWriter {
    /// Takes over the keeper's pipe, and moves on what a dead server left in it.
    pub fn adopt(pipe_reader: OwnedFd, pipe_writer: OwnedFd, spool: &Spool) -> io::Result<Self> {
        let left = rustix::io::ioctl_fionread(&pipe_reader)?;
        let writer = Self {
            pipe_reader,
            pipe_writer,
            splices: true,
        };
        writer.move_on(spool, left)?;
        Ok(writer)
    }

    /// Moves what the PTY has, up to the budget. While a program prints as fast as it is read,
    /// `meanwhile` is called with the spool's new end whenever the PTY is empty, to do a little
    /// other work.
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
                    // A short read was all there was, and more output wakes the task again. Another
                    // call would only return EAGAIN, which costs as much as bytes.
                    if bytes < FULL_TTY_READ_BYTES {
                        return Ok((taken, Some(PumpStop::Drained)));
                    }
                }
                // The PTY is empty or the pipe is full. A full pipe is emptied and tried again.
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

    /// The same by read(2) and write(2), for old kernels. Bytes between the two calls are lost if this
    /// process is killed there.
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

/// Yields and polls until the PTY has more, or patience ends.
fn more_comes_soon(master: &OwnedFd, mut meanwhile: impl FnMut() -> Meanwhile) -> io::Result<bool> {
    let mut idle = 0;
    while idle < PATIENCE {
        if meanwhile() == Meanwhile::Idle {
            idle += 1;
            let begun = Instant::now();
            std::thread::yield_now();
            if begun.elapsed() > LONG_YIELD {
                return Ok(false);
            }
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

    fn adopt(parts: Parts) -> (Spool, SpoolWriter) {
        let spool = Spool::adopt(parts.file).unwrap();
        let writer = SpoolWriter::adopt(parts.reader, parts.writer, &spool).unwrap();
        (spool, writer)
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
        let (spool, mut spool_writer) = adopt(parts());
        let sent: Vec<u8> = (0..300_000u32).map(|i| i.to_le_bytes()[0] ^ 0x5a).collect();
        let copy = sent.clone();
        let writer = std::thread::spawn(move || slave.write_all(&copy).unwrap());
        loop {
            if spool_writer
                .pump(&master, &spool, |_| Meanwhile::Idle)
                .unwrap()
                == PumpStop::HungUp
            {
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
        let (spool, _writer) = adopt(parts);
        assert_eq!(spool.read(Offset(0), 99).unwrap().unwrap(), b"before after");
    }
}
