//! Turns on a terminal. Of calls that type a line and wait for what comes of it, one at a time does so
//! in each terminal, so that the output that a call gives is its own. Reads, waits and single keys do
//! not queue.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use termd_proto::TerminalId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The terminals that are remembered before those without a call are forgotten.
const MAX_IDLE: usize = 256;

/// A call's turn, which ends when this is dropped.
pub(crate) type Turn = OwnedMutexGuard<()>;

/// The queues of all terminals.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    queues: StdMutex<HashMap<TerminalId, Arc<Mutex<()>>>>,
}

impl Turns {
    /// Waits for the turn, in the order in which it was asked for.
    pub(crate) async fn take(&self, id: &TerminalId) -> Turn {
        let queue = self.queue(id);
        queue.lock_owned().await
    }

    fn queue(&self, id: &TerminalId) -> Arc<Mutex<()>> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if queues.len() >= MAX_IDLE {
            // A call that holds a turn or waits for one has the queue too.
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        }
        Arc::clone(queues.entry(id.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queues_in_use_stay_and_others_are_forgotten() {
        let turns = Turns::default();
        let id = TerminalId::from_random;
        let held = turns.take(&id(0)).await;
        for number in 1..=2 * MAX_IDLE as u64 {
            drop(turns.take(&id(number)).await);
        }
        assert!(turns.queues.lock().unwrap().len() <= MAX_IDLE);
        assert!(turns.queue(&id(0)).try_lock().is_err());
        drop(held);
        assert!(turns.queue(&id(0)).try_lock().is_ok());
    }
}
