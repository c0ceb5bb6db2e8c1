//! One connection, from its accept to its end: one task, which reads, runs the calls and writes.
//!
//! Promises: reading never waits for calls or for the peer to take answers; when this ends, the
//! calls under way end with it; a peer that shut down only its writing side is still answered.
//! Must not know: who may connect, what a method means.
//!
//! **Invariant:** nothing said on a connection reaches the log: not lines, params nor answers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::value::RawValue;
use tokio::io::{Interest, Ready};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::backlog::Level;
use super::call::Ended;
use super::call_queue::{CallQueue, End};
use super::context::ConnectionContext;
use super::dispatch::Dispatcher;
use super::error::RpcError;
use super::framing::{Frame, LineBuffer};
use super::limits::{
    EVENT_CHANNEL_MESSAGES, MAX_LINE_BYTES, SHUTDOWN_CALL_GRACE, SHUTDOWN_FLUSH_GRACE,
};
use super::receive::receive;

/// After a request, how long to look for the next one before falling asleep: a client that asks again at
/// once would wait longer for us to wake up than for the answer.
const LINGER: Duration = Duration::from_micros(50);

/// Where a connection is in its life. It only ever goes down this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Requests are taken.
    Serving,
    /// The peer has said all it will say; what it asked for is still answered.
    PeerFinished,
    /// The server stops: no new requests; calls under way may end until then.
    Stopping { calls_until: Instant },
    /// Every call is answered; the peer may take the answers until then.
    Flushing { until: Instant },
}

impl Phase {
    fn deadline(self) -> Option<Instant> {
        match self {
            Self::Serving | Self::PeerFinished => None,
            Self::Stopping { calls_until: until } | Self::Flushing { until } => Some(until),
        }
    }
}

/// What happens next on a connection.
enum Step {
    Ready(io::Result<Ready>),
    CallEnded(Ended),
    Event(Box<RawValue>),
    Shutdown,
    Deadline,
}

/// Cancels `closed` however the task ends.
struct CloseOnDrop(Arc<ConnectionContext>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.closed.cancel();
    }
}

/// Serves one admitted connection until it ends.
pub(super) async fn serve_connection(
    stream: UnixStream,
    context: Arc<ConnectionContext>,
    api: Arc<Api>,
    shutdown: CancellationToken,
) -> End {
    let _close_on_drop = CloseOnDrop(Arc::clone(&context));
    let (events_in, events) = mpsc::channel(EVENT_CHANNEL_MESSAGES);
    let dispatcher = Dispatcher::new(api, &context, events_in);
    let queue = CallQueue::new(context, dispatcher);
    let input = LineBuffer::new(MAX_LINE_BYTES);
    let mut connection = Connection {
        stream,
        input,
        queue,
        events,
        held_event: None,
        phase: Phase::Serving,
        linger_until: None,
        has_read_lines: false,
        shutdown,
    };
    loop {
        if let Err(end) = connection.step().await {
            return end;
        }
        if std::mem::take(&mut connection.has_read_lines) {
            // Everybody else comes first: tokio itself would let 128 reads pass.
            yield_now().await;
        }
    }
}

struct Connection {
    stream: UnixStream,
    input: LineBuffer,
    queue: CallQueue,
    events: mpsc::Receiver<Box<RawValue>>,
    /// Taken from the channel, and then big answers went before it. No other is taken until it is
    /// gone.
    held_event: Option<Box<RawValue>>,
    phase: Phase,
    /// Set after a read: until then the next request is looked for without falling asleep.
    linger_until: Option<Instant>,
    /// In the step that has just ended.
    has_read_lines: bool,
    shutdown: CancellationToken,
}

impl Connection {
    /// Writes what can be written, then waits for one thing and deals with it.
    async fn step(&mut self) -> Result<(), End> {
        self.begin_before_answering()?;
        self.queue.flush(&self.stream)?;
        self.end_if_finished()?;
        let interest = self.interest();
        let events_wanted = self.phase == Phase::Serving && self.queue.has_room_for_events();
        if events_wanted && let Some(event) = self.held_event.take() {
            return self.on_event(event);
        }
        if self.is_lingering() {
            // Everybody else comes first, and the sockets are looked at.
            yield_now().await;
            return match self.stream.ready(interest).now_or_never() {
                Some(ready) => self.on_ready(ready?),
                None => Ok(()),
            };
        }
        let deadline = self.phase.deadline();
        let step = tokio::select! {
            ready = self.stream.ready(interest) => Step::Ready(ready),
            Some(ended) = self.queue.calls.next(), if !self.queue.calls.is_empty() => {
                Step::CallEnded(ended)
            }
            Some(event) = self.events.recv(), if events_wanted => Step::Event(event),
            () = self.shutdown.cancelled(), if deadline.is_none() => Step::Shutdown,
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                Step::Deadline
            }
        };
        match step {
            Step::Ready(ready) => self.on_ready(ready?),
            Step::CallEnded(ended) => {
                self.linger_until = Some(Instant::now() + LINGER);
                self.queue.call_ended(ended)
            }
            Step::Event(event) => self.on_event(event),
            Step::Shutdown => {
                self.phase = Phase::Stopping {
                    calls_until: Instant::now() + SHUTDOWN_CALL_GRACE,
                };
                Ok(())
            }
            Step::Deadline => self.on_deadline(),
        }
    }

    /// Where answers are to be sent and calls wait too, these are begun first: a peer that an answer
    /// wakes runs on this processor as a rule, and what it asked for in the same breath would wait.
    fn begin_before_answering(&mut self) -> Result<(), End> {
        if !self.queue.is_flushed()
            && let Some(Some(ended)) = self.queue.calls.next().now_or_never()
        {
            self.queue.call_ended(ended)?;
        }
        Ok(())
    }

    /// Whether the peer may be about to ask again, and nothing else is to be waited for.
    fn is_lingering(&mut self) -> bool {
        let Some(until) = self.linger_until else {
            return false;
        };
        let quiet =
            self.queue.calls.is_empty() && self.queue.is_flushed() && self.events.is_empty();
        if quiet && self.phase == Phase::Serving && Instant::now() < until {
            return true;
        }
        self.linger_until = None;
        false
    }

    /// What to wait for. After the peer's last word only a hang-up can come, which is told to
    /// writers (`EPOLLHUP`), not to readers.
    fn interest(&self) -> Interest {
        match self.phase {
            Phase::Serving if self.queue.is_flushed() => Interest::READABLE,
            Phase::Serving => Interest::READABLE | Interest::WRITABLE,
            Phase::PeerFinished | Phase::Stopping { .. } | Phase::Flushing { .. } => {
                Interest::WRITABLE
            }
        }
    }

    /// Ends, or goes on to flushing, when nothing is left to be done in this phase.
    fn end_if_finished(&mut self) -> Result<(), End> {
        let answered = self.queue.calls.is_empty();
        let flushed = self.queue.is_flushed();
        match self.phase {
            Phase::PeerFinished if answered && flushed => Err(End::PeerClosed),
            Phase::Stopping { .. } | Phase::Flushing { .. } if answered && flushed => {
                Err(End::Stopped)
            }
            Phase::Stopping { .. } if answered => {
                self.phase = Phase::Flushing {
                    until: Instant::now() + SHUTDOWN_FLUSH_GRACE,
                };
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn on_ready(&mut self, ready: Ready) -> Result<(), End> {
        if self.phase == Phase::Serving {
            return if ready.is_readable() || ready.is_read_closed() {
                self.read()
            } else {
                Ok(())
            };
        }
        if ready.is_write_closed() {
            return Err(End::PeerClosed);
        }
        if self.queue.is_flushed() {
            // A socket is writable all the time: wait for the next change instead.
            let blocked: io::Result<()> = self
                .stream
                .try_io(Interest::WRITABLE, || Err(io::ErrorKind::WouldBlock.into()));
            debug_assert!(blocked.is_err());
        }
        Ok(())
    }

    /// Reads once, and takes the lines that have come.
    fn read(&mut self) -> Result<(), End> {
        let (read, fds) = match receive(&self.stream, self.input.space()) {
            Ok(received) => received,
            Err(error) if is_transient(&error) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.input.fill(read);
        if !fds.is_empty() {
            self.queue.context.add_fds(fds);
        }
        self.linger_until = Some(Instant::now() + LINGER);
        while let Some(frame) = self.input.next_frame() {
            self.has_read_lines = true;
            match frame {
                Frame::Line(line) => self.queue.line(line, &self.stream)?,
                Frame::TooLong => {
                    self.queue.context.counters.count_request();
                    self.queue
                        .answer("null", RpcError::line_too_long().into())?;
                }
            }
        }
        if read == 0 {
            if let Some(line) = self.input.last_line() {
                self.queue.line(line, &self.stream)?;
            }
            self.phase = Phase::PeerFinished;
        }
        self.input.compact();
        Ok(())
    }

    /// An event goes out after the answer to its subscribe call, which is ready by now if the
    /// event is there.
    fn on_event(&mut self, event: Box<RawValue>) -> Result<(), End> {
        while let Some(Some(ended)) = self.queue.calls.next().now_or_never() {
            self.queue.call_ended(ended)?;
        }
        match self.queue.context.backlog.level() {
            Level::Low => self.queue.event(event),
            Level::High => {
                self.held_event = Some(event);
                Ok(())
            }
        }
    }

    fn on_deadline(&mut self) -> Result<(), End> {
        match self.phase {
            Phase::Serving | Phase::PeerFinished => Ok(()),
            Phase::Stopping { .. } => {
                for id in self.queue.calls.abandon() {
                    self.queue.answer(&id, RpcError::unavailable().into())?;
                }
                Ok(())
            }
            Phase::Flushing { .. } => Err(End::Stopped),
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
