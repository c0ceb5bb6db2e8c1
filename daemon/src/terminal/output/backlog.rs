//! How much output of all terminals is in memory because it is not stored yet.
//!
//! One terminal may hold a burst. A hundred that do so at once must not fill the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of all terminals that may wait in spools. Beyond that no bursts are held.
const MAX_BYTES: u64 = 256 << 20;

/// Whether bursts may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spools {
    Ample,
    /// Too much waits: output is stored as it comes.
    Crowded,
}

/// The waiting output of all terminals, in bytes.
#[derive(Debug, Clone, Default)]
pub struct Backlog(Arc<AtomicU64>);

/// One terminal's share. Dropping it takes the share out of the backlog.
#[derive(Debug)]
pub(crate) struct BacklogShare {
    all: Backlog,
    own: u64,
}

impl Backlog {
    /// The share of a terminal that has nothing waiting.
    pub(crate) fn share(&self) -> BacklogShare {
        BacklogShare {
            all: self.clone(),
            own: 0,
        }
    }
}

impl BacklogShare {
    /// Sets how many bytes of this terminal wait.
    pub(crate) fn set(&mut self, bytes: u64) {
        let all = &self.all.0;
        if bytes >= self.own {
            all.fetch_add(bytes - self.own, Ordering::Relaxed);
        } else {
            all.fetch_sub(self.own - bytes, Ordering::Relaxed);
        }
        self.own = bytes;
    }

    pub(crate) fn spools(&self) -> Spools {
        if self.all.0.load(Ordering::Relaxed) < MAX_BYTES {
            Spools::Ample
        } else {
            Spools::Crowded
        }
    }
}

impl Drop for BacklogShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_have_waiting_counts_for_each_and_goes_with_its_terminal() {
        let all = Backlog::default();
        let (mut one, mut other) = (all.share(), all.share());
        one.set(MAX_BYTES - 1);
        assert_eq!(other.spools(), Spools::Ample);
        other.set(1);
        assert_eq!(
            (one.spools(), other.spools()),
            (Spools::Crowded, Spools::Crowded)
        );
        one.set(MAX_BYTES - 2);
        assert_eq!(other.spools(), Spools::Ample);
        other.set(2);
        assert_eq!(one.spools(), Spools::Crowded);
        drop(other);
        assert_eq!(one.spools(), Spools::Ample);
    }
}
