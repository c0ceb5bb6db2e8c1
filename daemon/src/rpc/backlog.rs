//! What keeps answers from being made for a peer that does not take them.
//!
//! Promises: while too much waits for the peer, no call begins, and no long answer; a call that
//! has begun goes on, for it may hold what others wait for, such as a reader of the database.
//! Must not know: what is queued, what a call is.

use tokio::sync::{Semaphore, SemaphorePermit, watch};

use super::limits::LONG_ANSWER_BYTES;

/// How much waits for the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Little enough to make more.
    Low,
    /// Too much.
    High,
}

/// One connection's.
#[derive(Debug)]
pub(super) struct Backlog {
    level: watch::Sender<Level>,
    /// Held by the one long answer that is being made.
    long_answer: Semaphore,
}

/// The turn of a call, held until its answer is made.
#[derive(Debug)]
pub struct Turn<'a> {
    _permit: Option<SemaphorePermit<'a>>,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            level: watch::Sender::new(Level::Low),
            long_answer: Semaphore::new(1),
        }
    }
}

impl Backlog {
    pub(super) fn level(&self) -> Level {
        *self.level.borrow()
    }

    pub(super) fn set(&self, level: Level) {
        self.level.send_if_modified(|now| {
            let before = std::mem::replace(now, level);
            before != level
        });
    }

    /// Waits until little waits for the peer. At once where that is so.
    pub(super) async fn low(&self) {
        // Fails only without a sender, which is here.
        let _ = self
            .level
            .subscribe()
            .wait_for(|level| *level == Level::Low)
            .await;
    }

    /// Waits until an answer about this many bytes of output may be made.
    pub(super) async fn turn(&self, output_bytes: u64) -> Turn<'_> {
        if output_bytes <= LONG_ANSWER_BYTES {
            return Turn { _permit: None };
        }
        // Fails only once the semaphore is closed, and it never is.
        let permit = self.long_answer.acquire().await.ok();
        self.low().await;
        Turn { _permit: permit }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn long_answers_take_turns_and_wait_for_the_peer() {
        let backlog = Backlog::default();
        let long = LONG_ANSWER_BYTES + 1;
        let first = backlog.turn(long).now_or_never();
        assert!(first.is_some());
        assert!(backlog.turn(long).now_or_never().is_none());
        assert!(backlog.turn(LONG_ANSWER_BYTES).now_or_never().is_some());
        drop(first);

        backlog.set(Level::High);
        let mut second = Box::pin(backlog.turn(long));
        assert!((&mut second).now_or_never().is_none());
        assert!(backlog.turn(LONG_ANSWER_BYTES).now_or_never().is_some());
        backlog.set(Level::Low);
        assert!(second.now_or_never().is_some());
    }
}
