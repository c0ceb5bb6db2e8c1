//! The agents that use a terminal, beside the one that opened it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use termd_proto::terminal::Agent;

/// Most agents that are remembered for a terminal. One more is asked about again.
const MAX_AGENTS: usize = 64;

/// The agents that use a terminal. The keeper keeps them in the terminal's notes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TerminalAgents {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Inner {
    /// Those that a person lets use it, by pid and start.
    allowed: Vec<(i32, u64)>,
    /// The first that has typed into it, with the names of the others.
    typist: Option<Agent>,
}

impl TerminalAgents {
    /// Those in the keeper's notes on a terminal; none in an older server's notes.
    pub(crate) fn from_notes(notes: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Notes {
            agents: TerminalAgents,
        }
        let notes: Option<Notes> = serde_json::from_slice(notes).ok();
        notes.map(|notes| notes.agents).unwrap_or_default()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what an earlier server knew.
    pub(crate) fn replace(&self, known: Self) {
        let known = known.inner.into_inner();
        *self.inner() = known.unwrap_or_else(PoisonError::into_inner);
    }

    /// A person lets this agent use the terminal, until it closes.
    pub(crate) fn allow(&self, agent: &Agent) {
        let mut inner = self.inner();
        if inner.allowed.len() >= MAX_AGENTS {
            inner.allowed.remove(0);
        }
        inner.allowed.push((agent.pid, agent.started));
    }

    pub(crate) fn is_allowed(&self, agent: &Agent) -> bool {
        self.inner().allowed.contains(&(agent.pid, agent.started))
    }

    /// An agent types into the terminal. What runs in it may be the agent's from now on. True: that
    /// was not known.
    pub(crate) fn note_typist(&self, agent: &Agent) -> bool {
        match &mut self.inner().typist {
            Some(first) => first.add_aliases_of(agent),
            none => {
                *none = Some(agent.clone());
                true
            }
        }
    }

    /// The first agent that has typed into the terminal, with the names of the others.
    pub(crate) fn typist(&self) -> Option<Agent> {
        self.inner().typist.clone()
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::terminal::Front;

    use super::*;

    #[test]
    fn the_notes_bring_them_back() {
        let agent = |client: &str, pid| Agent {
            front: Front::Mcp,
            client: Some(client.to_owned()),
            pid,
            started: 7,
            aliases: Vec::new(),
        };
        let agents = TerminalAgents::default();
        agents.allow(&agent("one", 1));
        assert!(agents.note_typist(&agent("one", 1)));
        assert!(!agents.note_typist(&agent("one", 1)));
        assert!(agents.note_typist(&agent("two", 2)));
        let notes = serde_json::json!({ "agents": agents, "pid": 5 });
        let back = TerminalAgents::from_notes(notes.to_string().as_bytes());
        assert!(back.is_allowed(&agent("another name", 1)));
        assert!(!back.is_allowed(&agent("two", 2)));
        assert_eq!(back.typist(), agents.typist());
        let names: Vec<_> = back
            .typist()
            .unwrap()
            .names()
            .map(|name| name.1.map(str::to_owned))
            .collect();
        assert_eq!(names, [Some("one".to_owned()), Some("two".to_owned())]);
        assert!(TerminalAgents::from_notes(b"{}").typist().is_none());
    }
}
