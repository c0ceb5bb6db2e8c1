//! Through how many connections a person can be asked now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a connection reaches a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It watches the questions, such as `termctl approvals --watch` and `--notify`.
    Watch,
    /// It is a front that asks its own person.
    Front,
}

/// Counts connections by their way to a person.
#[derive(Debug, Default)]
pub(super) struct People {
    watches: AtomicUsize,
    fronts: AtomicUsize,
}

impl People {
    fn count(&self, reach: Reach) -> &AtomicUsize {
        match reach {
            Reach::Watch => &self.watches,
            Reach::Front => &self.fronts,
        }
    }

    pub(super) fn has(&self, reach: Reach) -> bool {
        self.count(reach).load(Ordering::Acquire) > 0
    }

    pub(super) fn join(self: &Arc<Self>, reach: Reach) -> PersonInReach {
        self.count(reach).fetch_add(1, Ordering::AcqRel);
        PersonInReach {
            people: Arc::clone(self),
            reach,
        }
    }
}

/// Counts one connection until it is dropped.
#[derive(Debug)]
pub struct PersonInReach {
    people: Arc<People>,
    reach: Reach,
}

impl PersonInReach {
    /// The way to the person.
    pub fn reach(&self) -> Reach {
        self.reach
    }
}

impl Drop for PersonInReach {
    fn drop(&mut self) {
        self.people.count(self.reach).fetch_sub(1, Ordering::AcqRel);
    }
}
