//! Who a call is from, as records name it: the connection's peer, and what it said of itself.

use termd_proto::terminal::{Agent, Front, Owner};

use super::context::ConnectionContext;
use crate::service::Placement;

impl ConnectionContext {
    /// The owner of what is done through the native API.
    pub(super) fn native_owner(&self) -> Owner {
        let introduction = self.introduction();
        self.owner(introduction.front.unwrap_or(Front::Cli), None)
    }

    /// The owner of what is done through ACP, in this ACP session.
    pub(super) fn acp_owner(&self, session: &str) -> Owner {
        self.owner(Front::Acp, Some(session.to_owned()))
    }

    /// Whether what the client says of its person can be believed: it works for no other agent.
    pub(super) fn speaks_for_person(&self) -> bool {
        self.placement().agent.is_none()
    }

    fn owner(&self, front: Front, session: Option<String>) -> Owner {
        let client = self.introduction().client.clone();
        let placement = self.placement();
        Owner {
            front,
            uid: self.peer.uid,
            pid: self.peer.pid.unwrap_or(0),
            exe: self.peer.exe().map(str::to_owned),
            session,
            agent: self
                .agent(front, client.as_deref(), &placement)
                .map(Box::new),
            terminal: placement.terminal,
            client,
        }
    }

    /// The agent that the client works for. An agent's front works for the agent that it serves, and
    /// below another agent for that one.
    fn agent(&self, front: Front, client: Option<&str>, placement: &Placement) -> Option<Agent> {
        let is_agents = matches!(front, Front::Acp | Front::Mcp);
        if !is_agents && !self.was_agents_front() {
            return placement.agent.clone();
        }
        let process = match (&placement.agent, self.served()) {
            (Some(outer), _) => (outer.pid, outer.started),
            (None, Some(served)) => (served.agent.pid, served.agent.started),
            (None, None) => (self.peer.pid.unwrap_or(0), placement.started),
        };
        Some(Agent {
            front: if is_agents { front } else { Front::Mcp },
            client: client.map(str::to_owned),
            pid: process.0,
            started: process.1,
        })
    }
}
