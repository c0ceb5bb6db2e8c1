//! Whose a process is: a person's, or an agent's, and the terminal in which it works.
//!
//! A process is an agent's where anything says so: a parent, its session, its cgroup or its
//! environment leads to a terminal of an agent, or a parent is the process of an agent that a
//! client serves. So is a descendant of the keeper that belongs to no terminal any more, or that has
//! lost its parents in a terminal where an agent works. What never was below the keeper or below an
//! agent is a person's: docs/security.md says what that misses.
//!
//! A process is looked at once, when it connects: it may lose its parents. What it was below is asked
//! anew each time: an agent may be named later. Agents outlive the server and the daemon in a file.

mod agent_file;
mod agent_table;
mod origin;
mod process;
mod program;
mod reading_parent;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_proto::TerminalId;
use termd_proto::terminal::{Agent, Front};

use self::agent_table::{AgentTable, id};
use self::process::ProcessId;
use self::program::{agent_itself, program_of};
use super::registry::Registry;

pub use self::origin::Origin;
pub(crate) use self::process::{agent_environment, is_process};
pub(crate) use self::reading_parent::{named_program, reading_parent};

/// Whose a process is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// The agent that it belongs to, with the names of each agent that it is below; `None`: it is a
    /// person's, as far as can be told.
    pub agent: Option<Agent>,
    /// The terminal that it works in.
    pub terminal: Option<TerminalId>,
    /// Whether nobody can tell where it comes from.
    pub is_unknown: bool,
    /// The start of the process, in clock ticks since boot.
    pub started: u64,
    /// Whether a front of the agent can ask its person.
    pub asks: bool,
}

/// The process of an agent that a client serves, and where that process itself came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedAgent {
    /// The first process of the agent's program.
    process: ProcessId,
    /// Where it is another agent's, it speaks for no person.
    pub origin: Origin,
}

impl ServedAgent {
    /// Its process: the pid, and the start in clock ticks since boot.
    pub(crate) fn process(&self) -> (i32, u64) {
        (self.process.pid, self.process.started)
    }
}

/// Says whose a process is.
#[derive(Debug)]
pub struct Descent {
    registry: Arc<Registry>,
    keeper: i32,
    /// Locked for a look or a change. A change writes a short file.
    agents: Mutex<AgentTable>,
}

impl Descent {
    /// For the terminals of this registry, with the agents that an earlier server has kept in this
    /// directory.
    pub(crate) fn new(registry: Arc<Registry>, state_dir: &Path) -> Self {
        let keeper = rustix::process::getppid();
        Self {
            registry,
            keeper: keeper.map_or(0, |pid| pid.as_raw_nonzero().get()),
            agents: Mutex::new(AgentTable::load(state_dir)),
        }
    }

    fn agents(&self) -> MutexGuard<'_, AgentTable> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a process comes from, as it is now.
    pub fn look_at(&self, pid: Option<i32>) -> Origin {
        Origin::of(pid, self.keeper, &self.registry.running_terminals())
    }

    /// Whose a process is, by what is known now. One whose origin nobody can tell is an agent's.
    pub fn place(&self, origin: &Origin) -> Placement {
        let terminals = origin.terminals.iter();
        let by_terminals = terminals.filter_map(|id| Some((id, self.registry.agent_of(id)?)));
        let by_terminals: Vec<(&TerminalId, Agent)> = by_terminals.collect();
        let agents_terminal = by_terminals.first().map(|(id, _)| *id);
        let table = self.agents();
        // The outermost first.
        let parents = origin.parents.iter().rev();
        let above = parents.filter_map(|parent| Some(table.get(*parent)?.agent.clone()));
        let mut own_terminals = origin.terminals.iter();
        let is_left = origin.is_orphan && own_terminals.any(|id| table.is_used(id));
        let unknown = (origin.is_unknown || is_left).then(|| unplaced(origin.process));
        let by_terminals = by_terminals.iter().map(|(_, agent)| agent.clone());
        let all = by_terminals.chain(above).chain(unknown);
        let mut asks = false;
        let agent = all
            .inspect(|agent| asks |= table.get(id(agent)).is_some_and(|served| served.asks))
            .reduce(|mut first, next| {
                first.add_aliases_of(&next);
                first
            });
        Placement {
            agent,
            terminal: agents_terminal.or(origin.terminals.first()).cloned(),
            is_unknown: origin.is_unknown,
            started: origin.process.started,
            asks,
        }
    }

    /// The agent that a client serves, which says that `named` is its process: the client's own, or
    /// that of its parent, with the rest of its program, or of an agent's shell any that it descends from.
    /// `None`: it is neither.
    pub fn serve(
        &self,
        client: &Origin,
        named: i32,
        front: Front,
        name: Option<&str>,
        asks: bool,
    ) -> Option<ServedAgent> {
        let process = if named == client.process.pid {
            client.process
        } else {
            let believed = match front {
                Front::Shell => client.parents.len(),
                _ => 1,
            };
            let mut parents = client.parents.iter().take(believed);
            let parent = *parents.find(|parent| parent.pid == named && parent.is_there())?;
            let process = match front {
                // What it starts ends with it, so its parents are not meant.
                Front::Shell => agent_itself(parent, self.keeper),
                _ => program_of(parent, self.keeper),
            };
            process.unwrap_or(client.process)
        };
        let origin = self.look_at(Some(process.pid));
        let is_nested = self.place(&origin).agent.is_some();
        let terminals = &origin.terminals;
        self.agents()
            .add(process, terminals, (front, name), asks, is_nested);
        Some(ServedAgent { process, origin })
    }

    /// An agent that a client serves, by all of its names.
    pub fn agent(&self, served: &ServedAgent) -> Option<Agent> {
        let agents = self.agents();
        Some(agents.get(served.process)?.agent.clone())
    }

    /// Whether a front of an agent that a client serves can ask its person.
    pub fn asks(&self, served: &ServedAgent) -> bool {
        let agents = self.agents();
        agents.get(served.process).is_some_and(|known| known.asks)
    }
}

/// The agent of a process that nobody can place. It has no terminal of its own.
fn unplaced(process: ProcessId) -> Agent {
    Agent {
        front: Front::Mcp,
        client: None,
        pid: process.pid,
        started: process.started,
        aliases: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
