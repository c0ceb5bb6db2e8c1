//! Busy-polls briefly after forwarding a message. A reply usually follows at once, and waking a
//! sleeping thread costs more than the forwarding (decision 0034).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Poll after a short message: about as long as waking a thread takes.
const POLL: Duration = Duration::from_micros(50);
/// Poll after a longer message, which its receiver has to read before it replies.
const LONG_POLL: Duration = Duration::from_micros(200);
/// Longest short message, in bytes.
const MAX_SHORT_BYTES: usize = 16 << 10;
/// Longest message that is followed by a poll, in bytes. The receiver of a longer one is busy and may
/// need the processor.
const MAX_POLLED_BYTES: usize = 256 << 10;

/// Keeps the only thread of this process from sleeping right after a message.
#[derive(Debug, Default)]
pub(crate) struct BusyPoll {
    forwarded: Notify,
    /// Microseconds to poll after the last message.
    poll: AtomicU64,
}

impl BusyPoll {
    /// Requests a poll after a message of this length.
    pub(crate) fn after_message(&self, length: usize) {
        if length > MAX_POLLED_BYTES {
            return;
        }
        let poll = if length > MAX_SHORT_BYTES {
            LONG_POLL
        } else {
            POLL
        };
        let poll = u64::try_from(poll.as_micros()).unwrap_or_default();
        self.poll.store(poll, Ordering::Relaxed);
        self.forwarded.notify_one();
    }

    /// Polls after each message. Never ends: run it in a task.
    pub(crate) async fn run(&self) {
        loop {
            self.forwarded.notified().await;
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_micros(self.poll.load(Ordering::Relaxed)) {
                // Ready tasks run before this one continues.
                tokio::task::yield_now().await;
            }
        }
    }
}
