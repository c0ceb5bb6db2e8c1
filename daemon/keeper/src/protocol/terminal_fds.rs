//! The descriptors of a terminal, which keeper and server share.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use termd_proto::terminal::Stdio;

/// The descriptors of a terminal, in the order in which they are sent.
#[derive(Debug)]
pub enum TerminalFds {
    /// Of a terminal with a PTY.
    Pty {
        /// The PTY's master side, non-blocking.
        master: OwnedFd,
        /// The spool: a memfd whose file offset is the transcript offset.
        spool: OwnedFd,
        /// The pipe that bytes pass on the way from `master` to `spool`, read end, non-blocking.
        pipe_reader: OwnedFd,
        /// The same pipe's write end, non-blocking.
        pipe_writer: OwnedFd,
    },
    /// Of a command on pipes.
    Pipes {
        /// Its standard output's read end, non-blocking.
        stdout: OwnedFd,
        /// The spool, as above.
        spool: OwnedFd,
        /// Its standard error's read end, non-blocking.
        stderr: OwnedFd,
        /// Which bytes of the spool came from which pipe: a memfd that only servers read and write.
        origins: OwnedFd,
        /// Its standard input, where it reads a pipe and that is still open.
        stdin: Option<StdinFds>,
    },
}

/// The server's end of a command's standard input.
#[derive(Debug)]
pub struct StdinFds {
    /// The pipe's write end, non-blocking.
    pub pipe: OwnedFd,
    /// What was sent to the command: a memfd whose file offset is the number of bytes that are in the
    /// pipe. It is sealed against growing at the end of the input.
    pub queue: OwnedFd,
}

impl TerminalFds {
    /// The inverse of [`to_send`](Self::to_send); `None` if the number of descriptors differs.
    pub fn from_sent(stdio: Stdio, sent: Vec<OwnedFd>) -> Option<Self> {
        let mut sent = sent.into_iter();
        let (first, spool) = (sent.next()?, sent.next()?);
        let (third, fourth) = (sent.next()?, sent.next()?);
        let stdin = match (stdio, sent.next(), sent.next(), sent.next()) {
            (_, None, ..) => None,
            (Stdio::Pipes, Some(pipe), Some(queue), None) => Some(StdinFds { pipe, queue }),
            _ => return None,
        };
        Some(match stdio {
            Stdio::Pty => Self::Pty {
                master: first,
                spool,
                pipe_reader: third,
                pipe_writer: fourth,
            },
            Stdio::Pipes => Self::Pipes {
                stdout: first,
                spool,
                stderr: third,
                origins: fourth,
                stdin,
            },
        })
    }

    /// The descriptors in the order in which they are sent.
    pub fn to_send(&self) -> Vec<BorrowedFd<'_>> {
        let mut fds = match self {
            Self::Pty {
                master,
                spool,
                pipe_reader,
                pipe_writer,
            } => vec![master, spool, pipe_reader, pipe_writer],
            Self::Pipes {
                stdout,
                spool,
                stderr,
                origins,
                ..
            } => vec![stdout, spool, stderr, origins],
        };
        let stdin = self.stdin().into_iter();
        fds.extend(stdin.flat_map(|stdin| [&stdin.pipe, &stdin.queue]));
        fds.into_iter().map(AsFd::as_fd).collect()
    }

    /// The server's end of its standard input, where that is an open pipe.
    pub fn stdin(&self) -> Option<&StdinFds> {
        match self {
            Self::Pty { .. } => None,
            Self::Pipes { stdin, .. } => stdin.as_ref(),
        }
    }

    /// The kind of its standard input, output and error.
    pub fn stdio(&self) -> Stdio {
        match self {
            Self::Pty { .. } => Stdio::Pty,
            Self::Pipes { .. } => Stdio::Pipes,
        }
    }

    /// Its spool.
    pub fn spool(&self) -> &OwnedFd {
        match self {
            Self::Pty { spool, .. } | Self::Pipes { spool, .. } => spool,
        }
    }
}
