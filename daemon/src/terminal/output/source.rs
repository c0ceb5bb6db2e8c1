//! What a terminal's output comes from: a PTY, or two pipes.
//!
//! Promises of pipes: a byte is in its pipe or in the spool, and nowhere else, so a server that is
//! killed loses none; and what it is was declared before it was moved ([`Origins`]).

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use termd_proto::terminal::{OutputStream, Stdio};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

use super::async_fd;
use super::spool::{Intake, PumpStop, Spool};
use super::stream_map::Origins;
use termd_keeper::protocol::message::TerminalFds;

/// The most that is taken of one pipe before it is the other's turn: what a pipe holds. Less would
/// cut the output of a program that writes to both into smaller pieces, and show it no more truly.
const TURN_BYTES: u64 = 64 << 10;

/// What the keeper holds of a terminal, taken over.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What its output comes from.
    pub source: Source,
    /// The way from a PTY into the spool.
    pub intake: Option<Intake>,
    /// Its output.
    pub spool: Spool,
    /// Which byte of it came from which pipe.
    pub origins: Option<Origins>,
}

impl Opened {
    /// Takes over the descriptors; must be called inside the runtime.
    pub(crate) fn adopt(fds: TerminalFds) -> io::Result<Self> {
        match fds {
            TerminalFds::Pty {
                master,
                spool,
                pipe_reader,
                pipe_writer,
            } => {
                let spool = Spool::adopt(spool)?;
                Ok(Self {
                    intake: Some(Intake::adopt(pipe_reader, pipe_writer, &spool)?),
                    spool,
                    source: Source::Pty(async_fd::register(master)?),
                    origins: None,
                })
            }
            TerminalFds::Pipes {
                stdout,
                spool,
                stderr,
                origins,
            } => Ok(Self {
                intake: None,
                spool: Spool::adopt(spool)?,
                source: Source::Pipes(Pipes {
                    stdout: Some(async_fd::register_readable(stdout)?),
                    stderr: Some(async_fd::register_readable(stderr)?),
                }),
                origins: Some(Origins::adopt(origins)?),
            }),
        }
    }
}

/// What a terminal's output comes from.
#[derive(Debug)]
pub enum Source {
    /// The PTY's master side.
    Pty(AsyncFd<OwnedFd>),
    /// Standard output and error.
    Pipes(Pipes),
}

impl Source {
    /// Which of the two it is.
    pub(crate) fn stdio(&self) -> Stdio {
        match self {
            Self::Pty(_) => Stdio::Pty,
            Self::Pipes(_) => Stdio::Pipes,
        }
    }

    /// The PTY's master side, where there is one.
    pub(crate) fn pty(&self) -> Option<&OwnedFd> {
        match self {
            Self::Pty(master) => Some(master.get_ref()),
            Self::Pipes(_) => None,
        }
    }

    /// Resolves when a PTY can be read; never of pipes.
    pub(crate) async fn pty_readable(&self) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
        match self {
            Self::Pty(master) => master.readable().await,
            Self::Pipes(_) => pending().await,
        }
    }

    /// Resolves when a PTY can be written to; never of pipes.
    pub(crate) async fn pty_writable(&self) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
        match self {
            Self::Pty(master) => master.writable().await,
            Self::Pipes(_) => pending().await,
        }
    }

    /// Registers the PTY anew, under a new descriptor of the same open file.
    ///
    /// The runtime takes a side that was once closed for closed for ever, and so for ready: but the
    /// other side of a PTY can be opened again, and what never stops being ready is a loop without
    /// rest. A failure leaves the old registration.
    pub(crate) fn renew_pty(&mut self) -> io::Result<()> {
        if let Self::Pty(registered) = self {
            let again = rustix::io::fcntl_dupfd_cloexec(registered.get_ref(), 0)?;
            *registered = async_fd::register(again)?;
        }
        Ok(())
    }

    /// Resolves when one of the pipes can be read; never of a PTY.
    pub(crate) async fn pipes_readable(&self) -> io::Result<()> {
        match self {
            Self::Pty(_) => pending().await,
            Self::Pipes(pipes) => tokio::select! {
                ready = readable(pipes.stdout.as_ref()) => ready,
                ready = readable(pipes.stderr.as_ref()) => ready,
            },
        }
    }
}

async fn readable(pipe: Option<&AsyncFd<OwnedFd>>) -> io::Result<()> {
    match pipe {
        // What is there stays there until a move finds the pipe empty.
        Some(pipe) => pipe.readable().await.map(drop),
        None => pending().await,
    }
}

/// The read ends of a command's standard output and error; each gone once it is at its end.
#[derive(Debug)]
pub struct Pipes {
    stdout: Option<AsyncFd<OwnedFd>>,
    stderr: Option<AsyncFd<OwnedFd>>,
}

/// How one pipe's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Empty,
    More,
    Ended,
}

/// What one step found.
enum Step {
    Moved(u64),
    Ended,
}

impl Pipes {
    /// Moves what the pipes have, a turn of each at the most.
    pub(crate) fn pump(&mut self, spool: &Spool, origins: &Origins) -> io::Result<PumpStop> {
        let mut more = false;
        for (stream, place) in [
            (OutputStream::Stdout, &mut self.stdout),
            (OutputStream::Stderr, &mut self.stderr),
        ] {
            let Some(pipe) = place else { continue };
            match take_turn(pipe, stream, spool, origins)? {
                Turn::Empty => {}
                Turn::More => more = true,
                // No process has its other end any more, nor can one get it.
                Turn::Ended => *place = None,
            }
        }
        Ok(match (more, &self.stdout, &self.stderr) {
            (_, None, None) => PumpStop::HungUp,
            (true, ..) => PumpStop::Budget,
            (false, ..) => PumpStop::Drained,
        })
    }
}

fn take_turn(
    pipe: &AsyncFd<OwnedFd>,
    stream: OutputStream,
    spool: &Spool,
    origins: &Origins,
) -> io::Result<Turn> {
    let mut taken = 0;
    while taken < TURN_BYTES {
        let step = |pipe: &OwnedFd| move_some(pipe, stream, TURN_BYTES - taken, spool, origins);
        // Finding it empty is what takes its readiness back.
        match pipe.try_io(Interest::READABLE, step) {
            Ok(Step::Moved(bytes)) => taken += bytes,
            Ok(Step::Ended) => return Ok(Turn::Ended),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Turn::Empty),
            Err(error) => return Err(error),
        }
    }
    Ok(Turn::More)
}

/// Declares what the pipe holds, and moves just that.
fn move_some(
    pipe: &OwnedFd,
    stream: OutputStream,
    most: u64,
    spool: &Spool,
    origins: &Origins,
) -> io::Result<Step> {
    let mut held = rustix::io::ioctl_fionread(pipe)?;
    if held == 0 {
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&Timespec::default())) {
            Ok(0) | Err(Errno::INTR) => return Err(io::ErrorKind::WouldBlock.into()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // Something has come since, or else the poll has seen the end.
        held = rustix::io::ioctl_fionread(pipe)?;
        if held == 0 {
            return Ok(Step::Ended);
        }
    }
    let length = held.min(most);
    let start = spool.end();
    origins.declare(stream, start, start + length)?;
    spool.take(pipe, length)?;
    Ok(Step::Moved(length))
}

#[cfg(test)]
mod tests;
