//! Standard input and output, without a blocking thread where the kind of file allows it.
//!
//! Other processes share these files: a client may use one pipe for both, or share one with its own
//! standard error. `O_NONBLOCK` belongs to the shared open file description (open(2)) and is never
//! set here. A FIFO is opened again, a socket is read and written with `MSG_DONTWAIT`, and anything
//! else is left to tokio's blocking threads.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{FileType, fstat};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Stdin, Stdout};
use tokio::net::unix::pipe;

/// Most that one call reads from a socket. The buffer is zeroed first.
const CHUNK_BYTES: usize = 64 << 10;

/// Standard input.
#[derive(Debug)]
pub(crate) enum Input {
    Pipe(pipe::Receiver),
    /// Node starts its children with sockets.
    Socket(Socket),
    /// A file, a terminal, or a pipe that cannot be opened again.
    Blocking(Stdin),
}

/// Standard output.
#[derive(Debug)]
pub(crate) enum Output {
    Pipe(pipe::Sender),
    Socket(Socket),
    /// A file, a terminal, or a pipe that cannot be opened again.
    Blocking(Stdout),
}

/// Opens standard input and output.
pub(crate) fn stdio() -> (Input, Output) {
    let input = match kind(io::stdin()) {
        Some(FileType::Fifo) => pipe::OpenOptions::new()
            .open_receiver("/proc/self/fd/0")
            .ok()
            .map(Input::Pipe),
        Some(FileType::Socket) => Socket::new(io::stdin(), Interest::READABLE).map(Input::Socket),
        _ => None,
    };
    let output = match kind(io::stdout()) {
        Some(FileType::Fifo) => pipe::OpenOptions::new()
            .open_sender("/proc/self/fd/1")
            .ok()
            .map(Output::Pipe),
        Some(FileType::Socket) => Socket::new(io::stdout(), Interest::WRITABLE).map(Output::Socket),
        _ => None,
    };
    (
        input.unwrap_or_else(|| Input::Blocking(tokio::io::stdin())),
        output.unwrap_or_else(|| Output::Blocking(tokio::io::stdout())),
    )
}

fn kind(end: impl AsFd) -> Option<FileType> {
    let stat = fstat(end).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

/// A stream socket that other processes share and expect to block.
#[derive(Debug)]
pub(crate) struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    // The successor of `with_interest` is `unsafe`, for descriptors that may be closed while they are
    // registered. `AsyncFd` owns this one.
    #[allow(deprecated)]
    fn new(end: impl AsFd, interest: Interest) -> Option<Self> {
        let own = end.as_fd().try_clone_to_owned().ok()?;
        AsyncFd::with_interest(own, interest).ok().map(Self)
    }

    fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            let room = buf.remaining().min(CHUNK_BYTES);
            let received = guard.try_io(|fd| {
                let chunk = buf.initialize_unfilled_to(room);
                let (_, length) = recv(fd, chunk, RecvFlags::DONTWAIT)?;
                Ok(length)
            });
            match received {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(result) => {
                    buf.advance(result?.min(room));
                    return Poll::Ready(Ok(()));
                }
                Err(_would_block) => {}
            }
        }
    }

    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(cx))?;
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match guard.try_io(|fd| Ok(send(fd, bytes, flags)?)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(result) => return Poll::Ready(result),
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Self::Socket(socket) => socket.poll_recv(cx, buf),
            Self::Blocking(stdin) => Pin::new(stdin).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Self::Socket(socket) => socket.poll_send(cx, bytes),
            Self::Blocking(stdout) => Pin::new(stdout).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(_) | Self::Socket(_) => Poll::Ready(Ok(())),
            Self::Blocking(stdout) => Pin::new(stdout).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The kernel closes it at the end of this process.
        self.poll_flush(cx)
    }
}
