//! The agents that clients serve or have served, by their processes.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use termd_proto::TerminalId;
use termd_proto::terminal::{Agent, Front};

use super::agent_file::AgentFile;
use super::process::ProcessId;

/// Most agents that are remembered. Those that have ended are forgotten first.
const MAX_AGENTS: usize = 4_096;
/// Most of them that are another agent's processes. What they start is the other agent's all the
/// same, and they keep nobody else out.
const MAX_NESTED_AGENTS: usize = MAX_AGENTS / 2;

/// An agent whose process has been named by a front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServedProcess {
    pub(super) agent: Agent,
    /// Whether a front of it can ask its person, or could once.
    pub(super) asks: bool,
    /// The terminals in which it works: a person's, or another agent's.
    #[serde(default)]
    pub(super) terminals: Vec<TerminalId>,
}

/// The agents, kept on the disk for the next server.
#[derive(Debug)]
pub(super) struct AgentTable {
    agents: HashMap<ProcessId, ServedProcess>,
    file: AgentFile,
}

impl AgentTable {
    /// Those that an earlier server has kept in this directory and that have not ended.
    pub(super) fn load(state_dir: &Path) -> Self {
        let file = AgentFile::new(state_dir);
        let kept = file.read().into_iter().take(MAX_AGENTS);
        let kept = kept.map(|served| (id(&served.agent), served));
        Self {
            agents: kept.filter(|(process, _)| process.is_there()).collect(),
            file,
        }
    }

    pub(super) fn get(&self, process: ProcessId) -> Option<&ServedProcess> {
        self.agents.get(&process)
    }

    /// Whether an agent works in this terminal, or has worked there.
    pub(super) fn is_used(&self, terminal: &TerminalId) -> bool {
        let mut agents = self.agents.values();
        agents.any(|served| served.terminals.contains(terminal))
    }

    /// Remembers that this process is an agent that comes by this front and name.
    pub(super) fn add(
        &mut self,
        process: ProcessId,
        terminals: &[TerminalId],
        (front, client): (Front, Option<&str>),
        asks: bool,
        is_nested: bool,
    ) {
        let max = if is_nested {
            MAX_NESTED_AGENTS
        } else {
            MAX_AGENTS
        };
        if !self.agents.contains_key(&process) && self.agents.len() >= max {
            self.agents.retain(|process, _| process.is_there());
            if self.agents.len() >= max {
                tracing::warn!(
                    pid = process.pid,
                    max,
                    "too many agents: it is not remembered"
                );
                return;
            }
        }
        let mut is_new = false;
        let served = self.agents.entry(process).or_insert_with(|| {
            is_new = true;
            ServedProcess {
                agent: Agent {
                    front,
                    client: client.map(str::to_owned),
                    pid: process.pid,
                    started: process.started,
                    aliases: Vec::new(),
                },
                asks,
                terminals: terminals.to_vec(),
            }
        });
        is_new |= served.agent.add_alias(front, client);
        is_new |= asks && !served.asks;
        served.asks |= asks;
        if is_new {
            self.file.write(self.agents.values());
        }
    }
}

/// The process of an agent.
pub(super) fn id(agent: &Agent) -> ProcessId {
    ProcessId {
        pid: agent.pid,
        started: agent.started,
    }
}
