//! The events of one terminal.

use std::time::{Duration, Instant};

use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{EndCause, ExitStatus, ReachedLimit};
use termd_proto::{Offset, TerminalId};
use tokio::sync::broadcast;

use crate::terminal::output::disk;
use crate::terminal::screen::size::Size;

/// The shortest time between two events of output.
const OUTPUT_EVENT_PAUSE: Duration = Duration::from_millis(50);

/// Sends a terminal's events. An event without a subscriber is dropped.
#[derive(Debug)]
pub(super) struct TaskEvents {
    id: TerminalId,
    sender: broadcast::Sender<TerminalEvent>,
    next_output_at: Instant,
}

impl TaskEvents {
    pub(super) fn new(id: TerminalId, sender: broadcast::Sender<TerminalEvent>) -> Self {
        Self {
            id,
            sender,
            next_output_at: Instant::now(),
        }
    }

    fn send(&self, event: impl FnOnce(TerminalId) -> TerminalEvent) {
        let _ = self.sender.send(event(self.id.clone()));
    }

    pub(super) fn output(&mut self, end: Offset, now: Instant) {
        if now >= self.next_output_at && self.sender.receiver_count() > 0 {
            self.next_output_at = now + OUTPUT_EVENT_PAUSE;
            self.send(|id| TerminalEvent::Output { id, end });
        }
    }

    pub(super) fn resized(&self, Size { cols, rows }: Size) {
        self.send(|id| TerminalEvent::Resized { id, cols, rows });
    }

    pub(super) fn exited(&self, exit_status: ExitStatus, end: Offset) {
        self.send(|id| TerminalEvent::Exited {
            id,
            exit_status,
            end,
        });
    }

    /// Announces a limit that the kernel held a process to by itself.
    pub(super) fn process_limit(&self, limit: EndCause, value: u64) {
        tracing::info!(terminal = %self.id, limit = limit.as_str(), value, "a limit is reached");
        let limit = ReachedLimit::Ends(limit);
        self.send(|id| TerminalEvent::LimitReached { id, limit, value });
    }

    /// Announces that output is not kept.
    pub(super) fn disk_limit(&self, disk::ReachedLimit { limit, value }: disk::ReachedLimit) {
        tracing::info!(terminal = %self.id, limit = limit.as_str(), value, "output is not kept");
        let limit = ReachedLimit::Disk(limit);
        self.send(|id| TerminalEvent::LimitReached { id, limit, value });
    }
}
