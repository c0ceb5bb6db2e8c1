//! The rounds of a tool call: each time it embeds other content, the tasks that follow the content
//! before end.

use tokio::sync::watch;

/// Counts the rounds of a tool call.
#[derive(Debug, Default)]
pub(super) struct Rounds(watch::Sender<u64>);

/// One round: how long a task follows a terminal for a tool call.
#[derive(Debug, Clone)]
pub(super) struct Round {
    number: u64,
    current: watch::Receiver<u64>,
}

impl Rounds {
    /// Ends the current round and begins the next one.
    pub(super) fn next(&self) -> Round {
        let mut number = 0;
        self.0.send_modify(|round| {
            *round += 1;
            number = *round;
        });
        Round {
            number,
            current: self.0.subscribe(),
        }
    }
}

impl Round {
    pub(super) fn is_current(&self) -> bool {
        *self.current.borrow() == self.number
    }

    /// Waits for the end of the round.
    pub(super) async fn ended(&mut self) {
        let number = self.number;
        // A forgotten tool call drops its sender, and has no further rounds.
        let _ = self.current.wait_for(|current| *current != number).await;
    }
}
