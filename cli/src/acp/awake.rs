//! Staying awake for a moment after a message: who is spoken to often answers at once, and to be
//! woken for that takes longer than to pass it on.

use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How long: about what being woken takes, so that looking never costs more than twice as much.
const LOOKING: Duration = Duration::from_micros(50);

/// Longest message after which it is done, in bytes. After a longer one, whoever got it has more to do
/// than to wait for us, and may need the processor.
const LONGEST: usize = 16 << 10;

/// Keeps this process's one thread from sleeping right after a message.
#[derive(Debug, Default)]
pub(super) struct Awake {
    passed: Notify,
}

impl Awake {
    /// A message of so many bytes was passed on.
    pub(super) fn stir(&self, length: usize) {
        if length <= LONGEST {
            self.passed.notify_one();
        }
    }

    /// Looks for what comes next, for [`LOOKING`] after each message. For ever: run it in a task.
    pub(super) async fn keep(&self) {
        loop {
            self.passed.notified().await;
            let begun = Instant::now();
            while begun.elapsed() < LOOKING {
                // Whatever is ready is done before this goes on.
                tokio::task::yield_now().await;
            }
        }
    }
}
