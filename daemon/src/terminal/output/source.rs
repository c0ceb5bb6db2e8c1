//! What a terminal's output comes from: a PTY, or two pipes. Of a command on pipes also what it reads.
//!
//! **Invariant:** a byte of a pipe is in the pipe or in the spool and nowhere else, so a server that is
//! killed loses none. Its stream is declared before it is moved ([`StreamMap`]).

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use termd_proto::terminal::{OutputStream, Stdio};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

use super::async_fd;
use super::spool::Spool;
use super::spool_writer::{PumpStop, SpoolWriter};
use super::stream_map::StreamMap;
use crate::terminal::input::stdin_pipe::StdinPipe;
use crate::terminal::input::{Input, Outcome};
use termd_keeper::protocol::message::TerminalFds;

/// Bytes taken from one pipe before the other's turn: as many as a pipe holds. Shorter turns would cut
/// the output of a program that writes to both into smaller pieces without being truer.
const TURN_BYTES: u64 = 64 << 10;

/// What the keeper holds of a terminal, taken over.
#[derive(Debug)]
pub(crate) struct Opened {
    pub source: Source,
    /// A PTY's way into the spool.
    pub writer: Option<SpoolWriter>,
    pub spool: Spool,
    /// A map for two pipes.
    pub streams: Option<StreamMap>,
}

impl Opened {
    /// Takes over the descriptors. Must be called inside the runtime.
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
                    writer: Some(SpoolWriter::adopt(pipe_reader, pipe_writer, &spool)?),
                    spool,
                    source: Source::Pty(async_fd::register(master)?),
                    streams: None,
                })
            }
            TerminalFds::Pipes {
                stdout,
                spool,
                stderr,
                origins,
                stdin,
            } => Ok(Self {
                writer: None,
                spool: Spool::adopt(spool)?,
                source: Source::Pipes(Pipes {
                    stdout: Some(async_fd::register_readable(stdout)?),
                    stderr: Some(async_fd::register_readable(stderr)?),
                    stdin: stdin.map(StdinPipe::adopt).transpose()?,
                }),
                streams: Some(StreamMap::adopt(origins)?),
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

    /// Resolves when there is something to read: of a PTY with its readiness, of pipes without.
    pub(crate) async fn readable(&self) -> io::Result<Option<AsyncFdReadyGuard<'_, OwnedFd>>> {
        match self {
            Self::Pty(master) => master.readable().await.map(Some),
            Self::Pipes(pipes) => tokio::select! {
                ready = readable(pipes.stdout.as_ref()) => ready.map(|()| None),
                ready = readable(pipes.stderr.as_ref()) => ready.map(|()| None),
            },
        }
    }

    /// Resolves when a PTY can be written to; never for pipes.
    pub(crate) async fn pty_writable(&self) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
        match self {
            Self::Pty(master) => master.writable().await,
            Self::Pipes(_) => pending().await,
        }
    }

    /// How many bytes wait in the pipes; 0 for a PTY.
    pub(crate) fn waiting_in_pipes(&self) -> u64 {
        let Self::Pipes(pipes) = self else {
            return 0;
        };
        let open = [&pipes.stdout, &pipes.stderr].into_iter().flatten();
        let waiting = open.filter_map(|pipe| rustix::io::ioctl_fionread(pipe.get_ref()).ok());
        waiting.sum()
    }

    /// The pipe that the command reads, while it is open.
    pub(crate) fn stdin(&self) -> Option<&StdinPipe> {
        match self {
            Self::Pty(_) => None,
            Self::Pipes(pipes) => pipes.stdin.as_ref(),
        }
    }

    pub(crate) fn stdin_mut(&mut self) -> Option<&mut StdinPipe> {
        match self {
            Self::Pty(_) => None,
            Self::Pipes(pipes) => pipes.stdin.as_mut(),
        }
    }

    /// Takes the pipe that the command reads, to close it.
    pub(crate) fn take_stdin(&mut self) -> Option<StdinPipe> {
        match self {
            Self::Pty(_) => None,
            Self::Pipes(pipes) => pipes.stdin.take(),
        }
    }

    /// Resolves when the pipe that the command reads is to be served; never where there is none.
    pub(crate) async fn stdin_ready(&self) -> io::Result<()> {
        match self.stdin() {
            Some(stdin) => stdin.ready().await,
            None => pending().await,
        }
    }

    /// Registers the PTY anew, under a new descriptor of the same open file.
    ///
    /// The runtime takes a side that was once closed for closed, and so for ready, for ever. The other
    /// side of a PTY can be opened again, and a PTY that is always ready makes a busy loop. A failure
    /// leaves the old registration.
    pub(crate) fn renew_pty(&mut self) -> io::Result<()> {
        if let Self::Pty(registered) = self {
            let again = rustix::io::fcntl_dupfd_cloexec(registered.get_ref(), 0)?;
            *registered = async_fd::register(again)?;
        }
        Ok(())
    }
}

async fn readable(pipe: Option<&AsyncFd<OwnedFd>>) -> io::Result<()> {
    match pipe {
        // The pipe stays ready until a move finds it empty.
        Some(pipe) => pipe.readable().await.map(drop),
        None => pending().await,
    }
}

/// The read ends of a command's standard output and error, and the write end of its standard input.
/// Each is dropped at its end.
#[derive(Debug)]
pub struct Pipes {
    stdout: Option<AsyncFd<OwnedFd>>,
    stderr: Option<AsyncFd<OwnedFd>>,
    stdin: Option<StdinPipe>,
}

/// How one pipe's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Empty,
    More,
    Ended,
}

/// What one move found.
enum Move {
    Moved(u64),
    Ended,
}

impl Pipes {
    /// Sends input into the pipe that the command reads. Returns how many bytes are not queued.
    pub(crate) fn send(&mut self, input: Input) -> usize {
        if let Some(stdin) = &mut self.stdin {
            return stdin.push(input);
        }
        let bytes = input.bytes.len();
        input.refuse(Outcome::InputEnded);
        bytes
    }

    /// Moves what the pipes have, at most a turn of each.
    pub(crate) fn pump(&mut self, spool: &Spool, streams: &StreamMap) -> io::Result<PumpStop> {
        let mut more = false;
        for (stream, place) in [
            (OutputStream::Stdout, &mut self.stdout),
            (OutputStream::Stderr, &mut self.stderr),
        ] {
            let Some(pipe) = place else { continue };
            match take_turn(pipe, stream, spool, streams)? {
                Turn::Empty => {}
                Turn::More => more = true,
                // No process has the other end any more, nor can one get it.
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
    streams: &StreamMap,
) -> io::Result<Turn> {
    let mut taken = 0;
    while taken < TURN_BYTES {
        let step = |pipe: &OwnedFd| move_some(pipe, stream, TURN_BYTES - taken, spool, streams);
        // The readiness is cleared when the pipe is found empty.
        match pipe.try_io(Interest::READABLE, step) {
            Ok(Move::Moved(bytes)) => taken += bytes,
            Ok(Move::Ended) => return Ok(Turn::Ended),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Turn::Empty),
            Err(error) => return Err(error),
        }
    }
    Ok(Turn::More)
}

/// Declares the stream of what the pipe holds, and moves just that.
fn move_some(
    pipe: &OwnedFd,
    stream: OutputStream,
    most: u64,
    spool: &Spool,
    streams: &StreamMap,
) -> io::Result<Move> {
    let mut held = rustix::io::ioctl_fionread(pipe)?;
    if held == 0 {
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&Timespec::default())) {
            Ok(0) | Err(Errno::INTR) => return Err(io::ErrorKind::WouldBlock.into()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // Something has come since, or the poll has seen the end.
        held = rustix::io::ioctl_fionread(pipe)?;
        if held == 0 {
            return Ok(Move::Ended);
        }
    }
    let length = held.min(most);
    let start = spool.end();
    streams.declare(stream, start, start + length)?;
    spool.take(pipe, length)?;
    Ok(Move::Moved(length))
}

#[cfg(test)]
mod tests;
