//! Terminals that have ended and are not closed: how many stay in memory, and how many on the list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_proto::TerminalId;

use crate::keeper_client::KeeperClient;
use crate::service::registry::Registry;
use crate::terminal::handle::Terminal;

/// Most ended terminals whose last output stays in memory. That of older ones is read from the
/// database.
const MAX_IN_MEMORY: usize = 256;
/// Most ended terminals that stay on the list until somebody closes them. Older ones are closed.
pub(crate) const MAX_LISTED: usize = 4_096;

/// The ended terminals, oldest first.
#[derive(Debug)]
pub(crate) struct Retirement {
    ended: Mutex<VecDeque<TerminalId>>,
    registry: Arc<Registry>,
    keeper: KeeperClient,
}

impl Retirement {
    pub(crate) fn new(registry: Arc<Registry>, keeper: KeeperClient) -> Self {
        Self {
            ended: Mutex::default(),
            registry,
            keeper,
        }
    }

    fn ended(&self) -> MutexGuard<'_, VecDeque<TerminalId>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a terminal that only the database knows.
    pub(crate) fn insert_stored(&self, terminal: Arc<Terminal>) {
        self.ended().push_back(terminal.id().clone());
        self.registry.insert_ended(terminal);
    }

    /// A terminal's task has ended, and all of the terminal is stored. Returns the terminal that is
    /// to be closed, because there are too many.
    #[must_use]
    pub(crate) fn insert(&self, terminal: &Terminal) -> Option<Arc<Terminal>> {
        let (discarded, closed) = {
            let mut ended = self.ended();
            ended.push_back(terminal.id().clone());
            let discarded = ended.len().checked_sub(MAX_IN_MEMORY + 1);
            let discarded = discarded.and_then(|at| ended.get(at)).cloned();
            let is_over = ended.len() > MAX_LISTED;
            (discarded, is_over.then(|| ended.pop_front()).flatten())
        };
        if let Some(older) = discarded.and_then(|id| self.registry.get(&id)) {
            older.leave_memory();
        }
        closed.and_then(|id| self.registry.get(&id))
    }

    /// Whether a terminal's task has ended.
    pub(crate) fn contains(&self, id: &TerminalId) -> bool {
        self.ended().contains(id)
    }

    /// Forgets a closed terminal, all of which is stored: here, in the registry, and in the keeper's
    /// inventory.
    pub(crate) async fn forget(&self, terminal: &Terminal) {
        self.ended().retain(|id| id != terminal.id());
        self.registry.remove(terminal);
        if let Err(error) = self.keeper.forget(terminal.id()).await {
            tracing::debug!(terminal = %terminal.id(), %error, "the keeper did not know it");
        }
    }
}
