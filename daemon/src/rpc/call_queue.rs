//! A connection without its input: lines are taken in, calls run, answers are queued and sent.
//!
//! Promises: every request gets one answer, or the connection ends; nothing here waits; while more
//! than [`ANSWERS_HIGH_WATER_BYTES`] wait for the peer, no further call begins.
//! Must not know: phases, reading, why a connection is to end from outside.

use std::io;
use std::sync::Arc;

use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use serde_json::value::RawValue;
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::answer::Answer;
use super::backlog::Level;
use super::call::{Calls, Ended, HowEnded};
use super::context::ConnectionContext;
use super::dispatch::{Begin, Dispatched, Dispatcher, settle};
use super::error::RpcError;
use super::limits::{
    ANSWERS_HIGH_WATER_BYTES, EVENTS_HIGH_WATER_BYTES, EVENTS_HIGH_WATER_MESSAGES,
    MAX_CALL_BYTES_IN_FLIGHT, MAX_CALLS_IN_FLIGHT, MAX_OUT_QUEUE_BYTES,
};
use super::outbox::{Outbox, Queued};
use super::request::{CANCEL_METHOD, Incoming, Params, cancelled_id};
use super::secret_filter::SecretFilter;

/// Why a connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The peer has closed it, or everything it asked for is answered.
    PeerClosed,
    /// Reading or writing failed.
    Failed(io::ErrorKind),
    /// The peer went on asking and took no answers.
    PeerNotReading,
    /// The server stops.
    Stopped,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::PeerClosed,
            kind => Self::Failed(kind),
        }
    }
}

/// The connection without its input, so that a line can be borrowed while it is worked on.
pub(super) struct CallQueue {
    pub(super) context: Arc<ConnectionContext>,
    dispatcher: Dispatcher,
    pub(super) calls: Calls,
    outbox: Outbox,
    secrets: SecretFilter,
}

impl CallQueue {
    pub(super) fn new(context: Arc<ConnectionContext>, dispatcher: Dispatcher) -> Self {
        Self {
            secrets: dispatcher.secret_filter(),
            context,
            dispatcher,
            calls: Calls::default(),
            outbox: Outbox::default(),
        }
    }

    /// Takes one line.
    pub(super) fn line(&mut self, line: &[u8], stream: &UnixStream) -> Result<(), End> {
        self.context.counters.count_request();
        match Incoming::parse(line) {
            Incoming::Invalid { id, why } => self.answer(id, RpcError::invalid(why).into()),
            Incoming::Notification { method, params } => {
                if method == CANCEL_METHOD
                    && let Some(id) = cancelled_id(params)
                {
                    self.calls.cancel(id);
                }
                Ok(())
            }
            Incoming::Request { id, method, params } if method == CANCEL_METHOD => {
                let answer = match cancelled_id(params) {
                    Some(id) => {
                        self.calls.cancel(id);
                        Answer::null()
                    }
                    None => RpcError::invalid_params("requestId", "missing").into(),
                };
                self.answer(id, answer)
            }
            Incoming::Request { id, method, params } => {
                if self.is_full() {
                    self.flush(stream)?;
                    if self.is_full() {
                        return self.answer(id, RpcError::too_many_calls().into());
                    }
                }
                self.request(id, &method, params, line.len())
            }
        }
    }

    fn request(
        &mut self,
        id: &str,
        method: &str,
        params: Params<'_>,
        line_bytes: usize,
    ) -> Result<(), End> {
        if self.calls.line_bytes() + line_bytes > MAX_CALL_BYTES_IN_FLIGHT {
            let error = RpcError::overloaded("call_bytes_in_flight", MAX_CALL_BYTES_IN_FLIGHT);
            return self.answer(id, error.into());
        }
        let permit = match self.context.quota.begin(line_bytes) {
            Ok(permit) => permit,
            Err(limit) => return self.answer(id, RpcError::from(limit).into()),
        };
        let begin = match self.context.backlog.level() {
            Level::Low => Begin::Now,
            Level::High => Begin::Later,
        };
        match self.dispatcher.dispatch(method, params, begin) {
            Dispatched::Answered(answer) => self.answer(id, answer),
            Dispatched::Waiting(call) => {
                self.calls.push(id, line_bytes, permit, call);
                Ok(())
            }
        }
    }

    /// Whether as many calls are in flight as may be: an answer that the peer has not taken is
    /// still in flight.
    fn is_full(&self) -> bool {
        self.calls.len() + self.outbox.messages() >= MAX_CALLS_IN_FLIGHT
    }

    pub(super) fn call_ended(&mut self, ended: Ended) -> Result<(), End> {
        let answer = match ended.how {
            HowEnded::Finished(outcome) => settle(outcome),
            HowEnded::Cancelled => RpcError::cancelled().into(),
        };
        self.answer(&ended.id, answer)
    }

    /// Queues an answer, or in place of one that is too much the error that says so.
    pub(super) fn answer(&mut self, id: &str, answer: Answer) -> Result<(), End> {
        if answer.is_error() {
            self.context.counters.count_error();
        }
        let head = Answer::head(id);
        match self.push(&head, self.secrets.hide(answer.into_body())) {
            Queued::Yes => Ok(()),
            Queued::TooManyMessages => Err(End::PeerNotReading),
            Queued::TooManyBytes => {
                self.context.counters.count_error();
                let error = RpcError::overloaded("out_queue_bytes", MAX_OUT_QUEUE_BYTES);
                match self.push(&head, Answer::from(error).into_body()) {
                    Queued::Yes => Ok(()),
                    Queued::TooManyBytes | Queued::TooManyMessages => Err(End::PeerNotReading),
                }
            }
        }
    }

    /// Whether an event may be taken from the channel.
    pub(super) fn has_room_for_events(&self) -> bool {
        self.outbox.bytes() < EVENTS_HIGH_WATER_BYTES
            && self.outbox.messages() < EVENTS_HIGH_WATER_MESSAGES
    }

    /// Queues an event, which is never dropped: it was taken only where there was room.
    pub(super) fn event(&mut self, event: Box<RawValue>) -> Result<(), End> {
        let text = String::from(Box::<str>::from(event));
        match self.push("", self.secrets.hide(text.into_bytes())) {
            Queued::Yes => Ok(()),
            Queued::TooManyBytes | Queued::TooManyMessages => Err(End::PeerNotReading),
        }
    }

    /// Whether the peer has taken everything.
    pub(super) fn is_flushed(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Writes until the peer's buffer is full or nothing is left.
    pub(super) fn flush(&mut self, stream: &UnixStream) -> Result<(), End> {
        let flushed = flush(stream, &mut self.outbox);
        self.measure();
        flushed
    }

    fn push(&mut self, head: &str, body: Vec<u8>) -> Queued {
        let queued = self.outbox.push(head, body);
        self.measure();
        queued
    }

    /// To be called whenever the queue has changed.
    fn measure(&self) {
        let level = if self.outbox.bytes() > ANSWERS_HIGH_WATER_BYTES {
            Level::High
        } else {
            Level::Low
        };
        self.context.backlog.set(level);
    }
}

fn flush(stream: &UnixStream, outbox: &mut Outbox) -> Result<(), End> {
    while !outbox.is_empty() {
        // Past tokio's notion of readiness first: `on_ready` clears it while nothing is queued.
        // Only where the kernel says that the buffer is full is tokio's waker to be armed.
        let sent = match send(stream, outbox) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                stream.try_io(Interest::WRITABLE, || send(stream, outbox))
            }
            sent => sent,
        };
        match sent {
            Ok(written) => outbox.advance(written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// One sendmsg(2) of what comes next.
fn send(stream: &UnixStream, outbox: &Outbox) -> io::Result<usize> {
    let mut nothing_else = SendAncillaryBuffer::default();
    Ok(sendmsg(
        stream,
        &outbox.slices(),
        &mut nothing_else,
        SendFlags::NOSIGNAL,
    )?)
}
