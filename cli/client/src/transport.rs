//! A transport for jsonrpsee's client: a Unix socket with one JSON-RPC message a line. The transport
//! does not read the messages.

use std::io;

use jsonrpsee::core::client::{ReceivedMessage, TransportReceiverT, TransportSenderT};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The longest answer. `terminal/output` may hold 64 MiB, each byte of which may take 6 bytes of JSON
/// (`\u0000`); the rest is a margin.
pub(crate) const MAX_LINE_BYTES: usize = 512 * 1024 * 1024;
/// The buffer of one read(2): an ordinary answer fits.
const READ_BYTES: usize = 64 * 1024;

/// Why a connection cannot be used any more.
#[derive(Debug, Error)]
pub(crate) enum TransportError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the daemon closed the connection")]
    Closed,
    #[error("the daemon sent a line over {0} bytes")]
    LineTooLong(usize),
}

/// The sending half. The first line waits for the second and goes out with it: a connection begins
/// with a greeting and a call, and the daemon wakes once for both.
#[derive(Debug)]
pub(crate) struct LineSender<W> {
    to: W,
    greeting: Greeting,
}

/// The state of the first line.
#[derive(Debug)]
enum Greeting {
    Awaited,
    Held(String),
    Sent,
}

impl<W> LineSender<W> {
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            greeting: Greeting::Awaited,
        }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> TransportSenderT for LineSender<W> {
    type Error = TransportError;

    async fn send(&mut self, mut message: String) -> Result<(), TransportError> {
        // One write(2), so that the daemon wakes once.
        message.push('\n');
        match std::mem::replace(&mut self.greeting, Greeting::Sent) {
            Greeting::Awaited => {
                self.greeting = Greeting::Held(message);
                return Ok(());
            }
            Greeting::Held(greeting) => message.insert_str(0, &greeting),
            Greeting::Sent => {}
        }
        Ok(self.to.write_all(message.as_bytes()).await?)
    }

    async fn close(&mut self) -> Result<(), TransportError> {
        Ok(self.to.shutdown().await?)
    }
}

/// The receiving half. The bytes of an unfinished line survive a dropped future.
#[derive(Debug)]
pub(crate) struct LineReceiver<R> {
    from: R,
    /// Bytes received and not yet returned.
    buffer: Vec<u8>,
    /// How many bytes of the buffer hold no newline, so that a long line is searched once.
    searched: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> LineReceiver<R> {
    /// Reads lines up to `limit` bytes.
    pub(crate) fn new(from: R, limit: usize) -> Self {
        Self {
            from,
            buffer: Vec::new(),
            searched: 0,
            limit,
        }
    }

    /// Takes the first whole line out of the buffer, without its newline.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let unsearched = self.buffer.get(self.searched..)?;
        let Some(position) = unsearched.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(self.searched + position + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.pop();
        self.searched = 0;
        Some(line)
    }

    /// The next line that is not empty. Cancel safe.
    async fn next_line(&mut self) -> Result<Vec<u8>, TransportError> {
        loop {
            while let Some(line) = self.take_line() {
                if !line.is_empty() {
                    return Ok(line);
                }
            }
            if self.buffer.len() > self.limit {
                return Err(TransportError::LineTooLong(self.limit));
            }
            self.buffer.reserve(READ_BYTES);
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Err(TransportError::Closed);
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> TransportReceiverT for LineReceiver<R> {
    type Error = TransportError;

    async fn receive(&mut self) -> Result<ReceivedMessage, TransportError> {
        Ok(ReceivedMessage::Bytes(self.next_line().await?))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    async fn lines(writes: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, TransportError) {
        let (mut peer, ours) = duplex(7);
        let mut receiver = LineReceiver::new(ours, limit);
        let send = async move {
            for bytes in writes {
                // The receiver stops at its limit and drops its end.
                if peer.write_all(bytes).await.is_err() {
                    break;
                }
            }
        };
        let receive = async move {
            let mut got = Vec::new();
            loop {
                match receiver.next_line().await {
                    Ok(line) => got.push(line),
                    Err(error) => return (got, error),
                }
            }
        };
        tokio::join!(send, receive).1
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_were_cut() {
        type Case<'a> = (&'a [&'a [u8]], &'a [&'a [u8]]);
        let table: [Case<'_>; 5] = [
            (&[b"one\ntwo\n"], &[b"one", b"two"]),
            (&[b"o", b"n", b"e\nt", b"wo", b"\n"], &[b"one", b"two"]),
            (&[b"\n\n", b"one\n\n"], &[b"one"]),
            (&[b"half a li"], &[]),
            (&[], &[]),
        ];
        for (writes, want) in table {
            let (got, error) = lines(writes, 100).await;
            assert_eq!(got, want, "{writes:?}");
            assert!(matches!(error, TransportError::Closed), "{error}");
        }
    }

    #[tokio::test]
    async fn a_huge_line_passes_and_one_over_the_limit_does_not() {
        let huge = vec![b'x'; 300_000];
        let (got, error) = lines(&[&huge, b"\nnext\n"], 300_000).await;
        assert_eq!(got.len(), 2);
        assert!(matches!(error, TransportError::Closed), "{error}");
        let (got, error) = lines(&[b"ok\n", &huge, b"\n"], 10_000).await;
        assert_eq!(got, [b"ok"]);
        assert!(
            matches!(error, TransportError::LineTooLong(10_000)),
            "{error}"
        );
    }

    #[tokio::test]
    async fn the_greeting_goes_out_with_the_first_call() {
        let (ours, mut peer) = duplex(64);
        let mut sender = LineSender::new(ours);
        let mut got = [0; 64];
        for (line, want) in [("hello", ""), ("call", "hello\ncall\n"), ("next", "next\n")] {
            sender.send(line.to_owned()).await.unwrap();
            let length = tokio::select! {
                biased;
                read = peer.read(&mut got) => read.unwrap(),
                () = std::future::ready(()) => 0,
            };
            assert_eq!(&got[..length], want.as_bytes(), "after {line}");
        }
    }

    #[tokio::test]
    async fn a_receive_given_up_loses_nothing() {
        let (mut peer, ours) = duplex(64);
        let mut receiver = LineReceiver::new(ours, 100);
        peer.write_all(b"hel").await.unwrap();
        tokio::select! {
            biased;
            line = receiver.next_line() => panic!("{line:?}"),
            () = std::future::ready(()) => {}
        }
        peer.write_all(b"lo\n").await.unwrap();
        assert_eq!(receiver.next_line().await.unwrap(), b"hello");
    }
}
