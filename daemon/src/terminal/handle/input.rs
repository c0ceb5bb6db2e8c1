//! Input on its way to a terminal's task: queued within a bound, and what became of it.
//!
//! It must not know how bytes are written to a tty.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{SendResult, Stdio, TerminalState};
use tokio::sync::oneshot;

use super::{Command, Terminal};
use crate::terminal::error::TerminalError;
use crate::terminal::input::input_audit::Seen;
use crate::terminal::input::queue::{Care, Input, MAX_QUEUED_BYTES, Outcome};
use crate::terminal::input::typing::CANONICAL_LINE_BYTES;

/// Input on its way to the tty.
#[derive(Debug)]
pub(crate) struct QueuedInput {
    /// The end of the output when it was queued.
    offset: Offset,
    length: u64,
    pub(crate) taken: Arc<AtomicU64>,
    pub(crate) seen: Arc<Seen>,
    told: oneshot::Receiver<Outcome>,
}

impl Terminal {
    /// Whether anything can be typed into it: not where its command runs on pipes.
    pub fn takes_input(&self) -> Result<(), TerminalError> {
        match self.record.stdio {
            Stdio::Pty => Ok(()),
            Stdio::Pipes => Err(TerminalError::NoInput(self.id().clone())),
        }
    }

    /// Queues bytes for its task, which types them with care.
    pub(crate) async fn queue_input(
        &self,
        bytes: Vec<u8>,
        care: Care,
    ) -> Result<QueuedInput, TerminalError> {
        self.takes_input()?;
        self.touch();
        let offset = self.end();
        let length = bytes.len();
        self.reserve_input(length)?;
        let taken = Arc::new(AtomicU64::new(0));
        let seen = Arc::<Seen>::default();
        let (done, told) = oneshot::channel();
        let input = Input {
            bytes,
            taken: Arc::clone(&taken),
            seen: Arc::clone(&seen),
            care,
            done,
        };
        if self.commands.send(Command::Input(input)).await.is_err() {
            self.input_left(length);
            return Err(self.takes_no_input());
        }
        Ok(QueuedInput {
            offset,
            length: length as u64,
            taken,
            seen,
            told,
        })
    }

    /// Waits until what was queued is taken, `longest` at the longest.
    pub(crate) async fn wait_until_taken(
        &self,
        queued: QueuedInput,
        longest: Duration,
    ) -> Result<SendResult, TerminalError> {
        let QueuedInput {
            offset,
            length,
            taken,
            seen: _,
            told,
        } = queued;
        let sent = |sent: u64| SendResult {
            sent,
            queued: length - sent,
            offset,
        };
        match tokio::time::timeout(longest, told).await {
            Ok(Ok(Outcome::Taken)) => Ok(sent(length)),
            Ok(Ok(Outcome::LineTooLong)) => Err(TerminalError::CanonicalLimit {
                id: self.id().clone(),
                limit: CANONICAL_LINE_BYTES,
            }),
            Ok(Ok(Outcome::NoSecretAwaited)) => {
                Err(TerminalError::NoSecretAwaited(self.id().clone()))
            }
            Ok(Err(_)) => Err(self.takes_no_input()),
            Err(_) => Ok(sent(taken.load(Ordering::Acquire))),
        }
    }

    fn reserve_input(&self, length: usize) -> Result<(), TerminalError> {
        if self.state() != TerminalState::Running {
            return Err(self.takes_no_input());
        }
        let fits = |queued: usize| Some(queued + length).filter(|sum| *sum <= MAX_QUEUED_BYTES);
        self.input_queued
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, fits)
            .map(|_| ())
            .map_err(|_| TerminalError::InputQueueFull {
                id: self.id().clone(),
                limit: MAX_QUEUED_BYTES,
            })
    }

    /// Why nothing can be typed into it any more.
    pub fn takes_no_input(&self) -> TerminalError {
        let id = self.id().clone();
        match self.progress.borrow().close_cause {
            Some(cause) => TerminalError::Closed {
                id,
                cause,
                idle_timeout: self.record.idle_timeout,
            },
            None => TerminalError::Exited(id),
        }
    }

    /// The terminal's own answer to a query waits too.
    pub(crate) fn answer_queued(&self, bytes: usize) {
        self.input_queued.fetch_add(bytes, Ordering::AcqRel);
    }

    /// This many bytes of input are queued no more.
    pub(crate) fn input_left(&self, bytes: usize) {
        self.input_queued.fetch_sub(bytes, Ordering::AcqRel);
    }
}
