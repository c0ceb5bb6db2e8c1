//! Staying awake for a moment after a message: who is spoken to often answers at once, and to be
//! woken for that takes longer than to pass it on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How long after a short message: about what being woken takes, so that looking never costs more
/// than twice as much.
const LOOKING: Duration = Duration::from_micros(50);
/// How long after a longer one: whoever got it has to read it before it answers.
const LOOKING_LONGER: Duration = Duration::from_micros(200);

/// Longest message that is a short one, in bytes.
const SHORT: usize = 16 << 10;
/// Longest message after which it is done at all, in bytes. After a longer one, whoever got it has
/// more to do than to wait for us, and may need the processor.
const LONGEST: usize = 256 << 10;

/// Keeps this process's one thread from sleeping right after a message.
#[derive(Debug, Default)]
pub(super) struct Awake {
    passed: Notify,
    /// Microseconds; after the message that was passed last.
    looking: AtomicU64,
}

impl Awake {
    /// A message of so many bytes was passed on.
    pub(super) fn stir(&self, length: usize) {
        if length > LONGEST {
            return;
        }
        let looking = if length > SHORT {
            LOOKING_LONGER
        } else {
            LOOKING
        };
        let looking = u64::try_from(looking.as_micros()).unwrap_or_default();
        self.looking.store(looking, Ordering::Relaxed);
        self.passed.notify_one();
    }

    /// Looks for what comes next after each message. For ever: run it in a task.
    pub(super) async fn keep(&self) {
        loop {
            self.passed.notified().await;
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_micros(self.looking.load(Ordering::Relaxed)) {
                // Whatever is ready is done before this goes on.
                tokio::task::yield_now().await;
            }
        }
    }
}
