//! One connection to the daemon: lines of JSON-RPC, and descriptors beside them.

use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, sendmsg, socket_with,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use termd_proto::Method;
use termd_proto::terminal::MAX_INHERITED_FDS;
use thiserror::Error;

use crate::refusal::Refusal;

/// How long a connect may take. It takes longer only where the backlog of the socket is full.
const CONNECT: Duration = Duration::from_millis(200);
/// What is read at once: more than the socket holds.
const READ_BYTES: usize = 256 << 10;

/// Why a call has no result.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    /// The connection is of no use any more.
    #[error("the connection is gone: {0}")]
    Disconnected(#[from] io::Error),
    #[error("no answer in time")]
    Timeout,
    /// The daemon's error.
    #[error("{0}")]
    Refused(Refusal),
}

/// A request, as JSON-RPC has it.
#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: &'a P,
}

/// An answer whose result is not looked at yet.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refusal>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) id: u64,
    /// The result as JSON.
    pub(crate) result: Result<Box<RawValue>, Refusal>,
}

impl Answer {
    /// The result as the method has it.
    pub(crate) fn read<M: Method>(self) -> Result<M::Answer, CallError> {
        let result = self.result.map_err(CallError::Refused)?;
        let read = serde_json::from_str(result.get());
        read.map_err(|error| CallError::Disconnected(error.into()))
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    /// What has come of lines that are not taken.
    input: Vec<u8>,
    /// No line ends before here.
    scanned: usize,
    last_id: u64,
}

impl Connection {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(CONNECT))?;
        connect(&socket, &SocketAddrUnix::new(path)?)?;
        set_socket_timeout(&socket, Timeout::Send, None)?;
        Ok(Self {
            stream: socket.into(),
            input: Vec::new(),
            scanned: 0,
            last_id: 0,
        })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Sends a request: its id.
    pub(crate) fn send<M: Method>(&mut self, params: &M) -> io::Result<u64> {
        self.send_with_fds(params, &[])
    }

    /// The same, with descriptors beside its first byte.
    pub(crate) fn send_with_fds<M: Method>(
        &mut self,
        params: &M,
        fds: &[BorrowedFd<'_>],
    ) -> io::Result<u64> {
        self.last_id += 1;
        let request = Request {
            jsonrpc: "2.0",
            id: self.last_id,
            method: M::NAME,
            params,
        };
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        let sent = self.send_some(&line, fds)?;
        // The rest waits until the daemon takes it, which it always does.
        self.stream.write_all(&line[sent..])?;
        Ok(self.last_id)
    }

    fn send_some(&self, line: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_INHERITED_FDS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(Errno::INVAL.into());
        }
        let line = [IoSlice::new(line)];
        Ok(sendmsg(
            &self.stream,
            &line,
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )?)
    }

    /// Takes what has come, without waiting.
    pub(crate) fn receive(&mut self) -> io::Result<()> {
        self.input.reserve(READ_BYTES);
        let spare = rustix::buffer::spare_capacity(&mut self.input);
        match recv(&self.stream, spare, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The next answer of which all has come.
    pub(crate) fn next_answer(&mut self) -> io::Result<Option<Answer>> {
        while let Some(line) = self.next_line() {
            let envelope: Envelope<'_> = serde_json::from_slice(&line)?;
            // What has no id is a notification.
            let Some(id) = envelope.id else { continue };
            let result = match (envelope.error, envelope.result) {
                (Some(refusal), _) => Err(refusal),
                (None, Some(result)) => Ok(result.to_owned()),
                (None, None) => Ok(RawValue::NULL.to_owned()),
            };
            return Ok(Some(Answer { id, result }));
        }
        Ok(None)
    }

    fn next_line(&mut self) -> Option<Vec<u8>> {
        let unscanned = self.input.get(self.scanned..)?;
        let Some(end) = memchr::memchr(b'\n', unscanned) else {
            self.scanned = self.input.len();
            return None;
        };
        let rest = self.input.split_off(self.scanned + end + 1);
        self.scanned = 0;
        Some(std::mem::replace(&mut self.input, rest))
    }

    /// Makes a call and waits for its answer, which may come at `deadline` at the latest. Other answers
    /// are dropped.
    pub(crate) fn call<M: Method>(
        &mut self,
        params: &M,
        deadline: Instant,
    ) -> Result<M::Answer, CallError> {
        let id = self.send(params)?;
        loop {
            match self.next_answer()? {
                Some(answer) if answer.id == id => return answer.read::<M>(),
                Some(_) => continue,
                None => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).unwrap_or_default();
            let mut fds = [PollFd::new(&self.stream, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) => return Err(CallError::Timeout),
                Ok(_) => self.receive()?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(CallError::Disconnected(errno.into())),
            }
        }
    }
}
