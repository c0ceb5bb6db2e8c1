//! Input on its way to a terminal's task: queued within a bound, and what became of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{SendResult, TerminalState};
use tokio::sync::oneshot;

use super::input_audit::WriteFacts;
use super::queue::{Care, Input, MAX_QUEUED_BYTES, Outcome, PipePosition};
use super::typing::CANONICAL_LINE_BYTES;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::request::Request;

/// Input that was queued.
#[derive(Debug)]
pub(crate) struct QueuedInput {
    /// The end of the output when the input was queued.
    offset: Offset,
    length: u64,
    pub(crate) taken: Arc<AtomicU64>,
    pub(crate) facts: Arc<WriteFacts>,
    outcome: oneshot::Receiver<Outcome>,
}

/// Queues bytes for the terminal's task, which checks `care` before it types them.
pub(crate) async fn queue_input(
    terminal: &Terminal,
    bytes: Vec<u8>,
    care: Care,
    position: PipePosition,
) -> Result<QueuedInput, TerminalError> {
    terminal.takes_input()?;
    terminal.touch();
    let offset = terminal.end();
    let length = bytes.len();
    if terminal.state() != TerminalState::Running {
        return Err(terminal.takes_no_input());
    }
    if !terminal.input_budget.reserve(length) {
        return Err(TerminalError::InputQueueFull {
            id: terminal.id().clone(),
            limit: MAX_QUEUED_BYTES,
        });
    }
    let taken = Arc::<AtomicU64>::default();
    let facts = Arc::<WriteFacts>::default();
    let (done, outcome) = oneshot::channel();
    let input = Input {
        bytes,
        offset,
        taken: Arc::clone(&taken),
        facts: Arc::clone(&facts),
        care,
        position,
        done,
    };
    if !terminal.request(Request::Input(input)).await {
        terminal.input_budget.release(length);
        return Err(terminal.takes_no_input());
    }
    Ok(QueuedInput {
        offset,
        length: length as u64,
        taken,
        facts,
        outcome,
    })
}

/// Waits until the tty has taken the input, at most `timeout`.
pub(crate) async fn wait_until_taken(
    terminal: &Terminal,
    queued: QueuedInput,
    timeout: Duration,
) -> Result<SendResult, TerminalError> {
    let sent = |sent: u64| SendResult {
        sent,
        queued: queued.length - sent,
        offset: queued.offset,
    };
    match tokio::time::timeout(timeout, queued.outcome).await {
        Ok(Ok(Outcome::Taken)) => Ok(sent(queued.length)),
        Ok(Ok(Outcome::LineTooLong)) => Err(TerminalError::CanonicalLimit {
            id: terminal.id().clone(),
            limit: CANONICAL_LINE_BYTES,
        }),
        Ok(Ok(Outcome::NoSecretAwaited)) => {
            Err(TerminalError::NoSecretAwaited(terminal.id().clone()))
        }
        Ok(Ok(Outcome::NotAtPrompt(state))) => {
            let id = terminal.id().clone();
            Err(TerminalError::NotAtPrompt { id, state })
        }
        Ok(Ok(Outcome::InputEnded)) => Err(terminal.input_has_ended()),
        Ok(Ok(Outcome::BeyondInput { end })) => Err(TerminalError::Invalid {
            field: "input_offset",
            problem: format!("may be {end} at the most: that is how many bytes were sent"),
        }),
        Ok(Ok(Outcome::NoMemory)) => Err(io::Error::from(io::ErrorKind::OutOfMemory).into()),
        Ok(Err(_)) => Err(terminal.takes_no_input()),
        Err(_) => Ok(sent(queued.taken.load(Ordering::Acquire))),
    }
}
