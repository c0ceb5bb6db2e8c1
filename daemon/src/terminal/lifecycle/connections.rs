//! Which connections a terminal ends with, which are attached to it, and which have typed into it.
//!
//! A connection is a number here.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Connections remembered as having typed. Beyond that all are forgotten, and their next input is
/// recorded as their first again.
const MAX_REMEMBERED_TYPISTS: usize = 1_024;

/// The connections of one terminal.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// How many connections the terminal is bound to.
    bound: AtomicUsize,
    typists: Mutex<BTreeSet<u64>>,
    /// Attached connections, each with the token that ends its attachment.
    attached: Mutex<BTreeMap<u64, CancellationToken>>,
}

impl Connections {
    fn attached(&self) -> MutexGuard<'_, BTreeMap<u64, CancellationToken>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Binds the terminal to a connection: the terminal ends with the last one.
    pub(crate) fn bind(&self) {
        self.bound.fetch_add(1, Ordering::AcqRel);
    }

    /// Unbinds a connection that has ended; true if it was the last.
    pub(crate) fn unbind(&self) -> bool {
        self.bound.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn is_unbound(&self) -> bool {
        self.bound.load(Ordering::Acquire) == 0
    }

    /// Attaches a connection; `None` if it is attached already.
    pub(crate) fn attach(&self, connection: u64) -> Option<CancellationToken> {
        match self.attached().entry(connection) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(CancellationToken::new()).clone()),
        }
    }

    pub(crate) fn detach(&self, connection: u64) {
        if let Some(detached) = self.attached().remove(&connection) {
            detached.cancel();
        }
    }

    /// Whether this connection has not typed before; it has from now on.
    pub(crate) fn is_first_input(&self, connection: u64) -> bool {
        let mut typists = self.typists.lock().unwrap_or_else(PoisonError::into_inner);
        if typists.len() >= MAX_REMEMBERED_TYPISTS {
            typists.clear();
        }
        typists.insert(connection)
    }
}
