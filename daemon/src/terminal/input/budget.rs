//! The bound on a terminal's queued input.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::queue::MAX_QUEUED_BYTES;

/// How much input of one terminal is queued, in bytes.
#[derive(Debug, Default)]
pub(crate) struct InputBudget(AtomicUsize);

impl InputBudget {
    /// Reserves room below [`MAX_QUEUED_BYTES`]; false where there is too little.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let fits = |queued: usize| Some(queued + bytes).filter(|sum| *sum <= MAX_QUEUED_BYTES);
        self.0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, fits)
            .is_ok()
    }

    /// Counts an answer of the terminal model to a query: the answer waits in the same queue.
    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Counts bytes that have left the queue, written or dropped.
    pub(crate) fn release(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::AcqRel);
    }
}
