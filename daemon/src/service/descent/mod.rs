//! Whose a process is: a person's, or an agent's, and the terminal in which it works.
//!
//! A process is an agent's where anything says so: a parent, its session, its cgroup or its
//! environment leads to a terminal of an agent, or a parent is the process of an agent that a
//! client serves. So is a descendant of the keeper that belongs to no terminal any more. What never
//! was below the keeper or below an agent is a person's: docs/security.md says what that misses.

mod process;

use std::sync::{Arc, Mutex, PoisonError};

use termd_proto::TerminalId;
use termd_proto::terminal::{Agent, Front};

use self::process::{Lineage, ProcessId, marked_terminal, terminal_of_cgroup};
use super::registry::{Registry, RunningTerminal};

pub(crate) use self::process::agent_environment;

/// Most processes of agents that are remembered. Those that have ended are forgotten first.
const MAX_AGENTS: usize = 4_096;

/// Whose a process is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// The agent that it belongs to; `None`: it is a person's, as far as can be told.
    pub agent: Option<Agent>,
    /// The terminal that it works in.
    pub terminal: Option<TerminalId>,
    /// The start of the process, in clock ticks since boot.
    pub started: u64,
}

/// The process of an agent that a client serves, and whose that process itself is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedAgent {
    /// The process.
    pub agent: Agent,
    /// Whose it is. Where it is another agent's, it speaks for no person.
    pub placement: Placement,
}

/// Says whose a process is.
#[derive(Debug)]
pub struct Descent {
    registry: Arc<Registry>,
    keeper: i32,
    /// The processes of agents that clients serve or have served.
    agents: Mutex<Vec<Agent>>,
}

impl Descent {
    /// For the terminals of this registry.
    pub(crate) fn new(registry: Arc<Registry>) -> Self {
        let keeper = rustix::process::getppid();
        Self {
            registry,
            keeper: keeper.map_or(0, |pid| pid.as_raw_nonzero().get()),
            agents: Mutex::default(),
        }
    }

    /// Whose a process is now. A process that has ended, or that is in a PID namespace that this one
    /// does not see, cannot be placed and counts as an agent's.
    pub fn place(&self, pid: Option<i32>) -> Placement {
        let lineage = pid.and_then(|pid| Lineage::of(pid, self.keeper));
        let Some(lineage) = lineage else {
            let process = ProcessId {
                pid: pid.unwrap_or(0),
                started: 0,
            };
            return Placement {
                agent: Some(unplaced(process)),
                ..Placement::default()
            };
        };
        let pid = lineage.process.pid;
        let running = self.registry.running_terminals();
        let with_id =
            |id: Option<TerminalId>| running.iter().find(|found| Some(&found.id) == id.as_ref());
        let by_parents = running.iter().find(|found| lineage.leads_to(found.root));
        let by_cgroup = with_id(terminal_of_cgroup(pid));
        let by_environment = with_id(marked_terminal(pid));
        let found = [by_parents, by_cgroup, by_environment];
        let of_agent = |found: &&RunningTerminal| found.agent.is_some();
        let agents = found.into_iter().flatten().find(of_agent);
        let place = agents.or_else(|| found.into_iter().flatten().next());
        let agent = agents
            .and_then(|found| found.agent.clone())
            .or_else(|| self.served_ancestor(&lineage))
            .or_else(|| {
                // The environment and the cgroup are the process's own to choose.
                let is_stray = lineage.is_below_keeper && by_parents.is_none();
                is_stray.then(|| unplaced(lineage.process))
            });
        Placement {
            agent,
            terminal: place.map(|found| found.id.clone()),
            started: lineage.process.started,
        }
    }

    /// The agent whose process `named` is: that of the client itself, or its parent. `None`: it is
    /// neither.
    pub fn serve(
        &self,
        client: i32,
        named: i32,
        front: Front,
        name: Option<String>,
    ) -> Option<ServedAgent> {
        let own = Lineage::of(client, self.keeper)?;
        let is_parent = || {
            let is_first = own
                .parents
                .first()
                .is_some_and(|parent| parent.pid == named);
            // A child of pid 1 may be the user's service manager, which has started all of a person's
            // processes, and adopts whose parents have ended.
            let has_parents = |lineage: Lineage| !lineage.parents.is_empty();
            is_first && Lineage::of(named, self.keeper).is_some_and(has_parents)
        };
        let is_near = named == client || is_parent();
        let process = is_near.then(|| ProcessId::of(named))??;
        let agent = Agent {
            front,
            client: name,
            pid: process.pid,
            started: process.started,
        };
        // Before it is remembered: its other children are none of its parents.
        let placement = self.place(Some(named));
        self.remember(agent.clone());
        Some(ServedAgent { agent, placement })
    }

    fn remember(&self, agent: Agent) {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        agents.retain(|known| !known.is_same_process(&agent));
        if agents.len() >= MAX_AGENTS {
            agents.retain(|known| {
                ProcessId::of(known.pid).is_some_and(|now| now.started == known.started)
            });
        }
        if agents.len() < MAX_AGENTS {
            agents.push(agent);
        }
    }

    /// The agent that has started a process of this lineage. Its own process is no such one: it is the
    /// program that the person has started.
    fn served_ancestor(&self, lineage: &Lineage) -> Option<Agent> {
        let agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let is_parent = |agent: &&Agent| {
            let mut parents = lineage.parents.iter();
            parents.any(|parent| (parent.pid, parent.started) == (agent.pid, agent.started))
        };
        agents.iter().find(is_parent).cloned()
    }
}

/// The agent of a process that nobody can place. It has no terminal of its own.
fn unplaced(process: ProcessId) -> Agent {
    Agent {
        front: Front::Mcp,
        client: None,
        pid: process.pid,
        started: process.started,
    }
}

#[cfg(test)]
mod tests;
