//! Which connections hold a terminal, are attached to it, and have typed into it.
//!
//! Connections are numbers here; it must not know sockets.

use std::collections::btree_map::Entry;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use super::Terminal;

/// Connections remembered as having typed into a terminal; more than that are forgotten, and
/// recorded again.
const MAX_REMEMBERED_TYPISTS: usize = 1_024;

impl Terminal {
    /// A connection holds it: it ends with the last one that does.
    pub fn hold(&self) {
        self.holders.fetch_add(1, Ordering::AcqRel);
    }

    /// A connection that held it has ended; whether that was the last.
    pub fn let_go(&self) -> bool {
        self.holders.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether no connection holds it.
    pub fn is_unheld(&self) -> bool {
        self.holders.load(Ordering::Acquire) == 0
    }

    /// A connection is attached from now on; `None`: it was.
    pub(crate) fn attach(&self, connection: u64) -> Option<CancellationToken> {
        let mut attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner);
        match attached.entry(connection) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(CancellationToken::new()).clone()),
        }
    }

    /// It is attached no more.
    pub fn detach(&self, connection: u64) {
        let mut attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(detached) = attached.remove(&connection) {
            detached.cancel();
        }
    }

    /// Whether this connection has not typed into it before.
    pub fn is_first_input_of(&self, connection: u64) -> bool {
        let mut typists = self.typists.lock().unwrap_or_else(PoisonError::into_inner);
        if typists.len() >= MAX_REMEMBERED_TYPISTS {
            typists.clear();
        }
        typists.insert(connection)
    }
}
