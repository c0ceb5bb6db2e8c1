//! The agents that use a terminal, beside the one that opened it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::terminal::Agent;

/// Most agents that are remembered for a terminal. One more is asked about again.
const MAX_AGENTS: usize = 64;

/// The agents that use a terminal.
#[derive(Debug, Default)]
pub(crate) struct TerminalAgents {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Those that a person lets use it.
    allowed: Vec<Agent>,
    /// The first that has typed into it.
    typist: Option<Agent>,
}

impl TerminalAgents {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A person lets this agent use the terminal, until it closes.
    pub(crate) fn allow(&self, agent: &Agent) {
        let mut inner = self.inner();
        if inner.allowed.len() >= MAX_AGENTS {
            inner.allowed.remove(0);
        }
        inner.allowed.push(agent.clone());
    }

    pub(crate) fn is_allowed(&self, agent: &Agent) -> bool {
        let inner = self.inner();
        let mut allowed = inner.allowed.iter();
        allowed.any(|known| known.is_same_process(agent))
    }

    /// An agent types into the terminal. What runs in it may be the agent's from now on.
    pub(crate) fn note_typist(&self, agent: &Agent) {
        self.inner().typist.get_or_insert_with(|| agent.clone());
    }

    /// The first agent that has typed into the terminal.
    pub(crate) fn typist(&self) -> Option<Agent> {
        self.inner().typist.clone()
    }
}
