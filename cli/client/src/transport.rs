//! A transport for jsonrpsee's client: a Unix socket with one JSON-RPC message a line. The transport
//! does not read the messages.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// The connection broke, and what was sent was never read.
    #[error("the daemon has not read what was sent")]
    Unread,
    #[error("the daemon sent a line over {0} bytes")]
    LineTooLong(usize),
}

/// How many messages were begun to be sent on a connection. Both halves share it.
pub(crate) type Sent = Arc<AtomicUsize>;

/// The sending half. The first line waits for the second and goes out with it: a connection begins
/// with a greeting and a call, and the daemon wakes once for both.
#[derive(Debug)]
pub(crate) struct LineSender<W> {
    to: W,
    greeting: Greeting,
    sent: Sent,
}

/// The state of the first line.
#[derive(Debug)]
enum Greeting {
    Awaited,
    Held(String),
    Sent,
}

impl<W> LineSender<W> {
    pub(crate) fn new(to: W, sent: Sent) -> Self {
        Self {
            to,
            greeting: Greeting::Awaited,
            sent,
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
        let is_first = self.sent.fetch_add(1, Ordering::SeqCst) == 0;
        match self.to.write_all(message.as_bytes()).await {
            Err(_) if is_first => Err(TransportError::Unread),
            written => Ok(written?),
        }
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
    has_received: bool,
    sent: Sent,
}

impl<R: AsyncRead + Unpin> LineReceiver<R> {
    /// Reads lines up to `limit` bytes.
    pub(crate) fn new(from: R, limit: usize, sent: Sent) -> Self {
        Self {
            from,
            buffer: Vec::new(),
            searched: 0,
            limit,
            has_received: false,
            sent,
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
            match self.from.read_buf(&mut self.buffer).await {
                Ok(1..) => self.has_received = true,
                ended if self.is_unread(&ended) => return Err(TransportError::Unread),
                Ok(0) => return Err(TransportError::Closed),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the daemon has read nothing of the only message. A Unix socket reports a reset where its
    /// peer was closed with something unread. Of several messages the first may have been read.
    fn is_unread(&self, ended: &io::Result<usize>) -> bool {
        let sent = self.sent.load(Ordering::SeqCst);
        let is_reset =
            (ended.as_ref()).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset);
        !self.has_received && (sent == 0 || sent == 1 && is_reset)
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

    fn sent_one() -> Sent {
        Arc::new(AtomicUsize::new(1))
    }

    async fn lines(writes: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, TransportError) {
        let (mut peer, ours) = duplex(7);
        let mut receiver = LineReceiver::new(ours, limit, sent_one());
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
        let mut sender = LineSender::new(ours, Sent::default());
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
        let mut receiver = LineReceiver::new(ours, 100, sent_one());
        peer.write_all(b"hel").await.unwrap();
        tokio::select! {
            biased;
            line = receiver.next_line() => panic!("{line:?}"),
            () = std::future::ready(()) => {}
        }
        peer.write_all(b"lo\n").await.unwrap();
        assert_eq!(receiver.next_line().await.unwrap(), b"hello");
    }

    /// Sends these messages to a peer that reads `read` bytes of them and closes the connection.
    async fn ends_after(messages: &[&str], read: usize) -> TransportError {
        let (ours, peer) = tokio::net::UnixStream::pair().unwrap();
        let (from, to) = ours.into_split();
        let sent = Sent::default();
        let mut sender = LineSender::new(to, Arc::clone(&sent));
        for message in messages {
            sender.send((*message).to_owned()).await.unwrap();
        }
        let mut peer = peer;
        peer.read_exact(&mut vec![0; read]).await.unwrap();
        drop(peer);
        LineReceiver::new(from, 100, sent)
            .next_line()
            .await
            .unwrap_err()
    }

    #[tokio::test]
    async fn a_message_that_was_not_read_is_told_apart() {
        for (messages, read, is_unread) in [
            (&["hello"][..], 0, true),
            (&["hello", "call"], 0, true),
            (&["hello", "call"], 4, true),
            (&["hello", "call"], 11, false),
            (&["hello", "call", "call"], 0, false),
        ] {
            let error = ends_after(messages, read).await;
            let is_so = matches!(error, TransportError::Unread);
            assert_eq!(is_so, is_unread, "{messages:?}, {read}: {error}");
        }
    }
}
