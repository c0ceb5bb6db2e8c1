//! Who a call is from, as records name it: the connection's peer, and what it said of itself.

use termd_proto::terminal::{Agent, Front, Owner};

use super::context::ConnectionContext;
use crate::service::Placement;

impl ConnectionContext {
    /// The owner of what is done through the native API.
    pub(super) fn native_owner(&self) -> Owner {
        let introduction = self.introduction();
        let session = introduction.session.clone();
        self.owner(self.front(), session)
    }

    /// The front that the client is.
    pub(super) fn front(&self) -> Front {
        self.introduction().front.unwrap_or(Front::Cli)
    }

    /// The front that secrets are hidden from: an agent's process may be a client of any front.
    pub(super) fn reader(&self) -> Front {
        let front = self.front();
        if front.is_agents() || !(self.was_agents_front() || self.placement().agent.is_some()) {
            front
        } else {
            Front::Mcp
        }
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
    /// below another agent for that one, by the names of both. What a front says of itself is one name
    /// more.
    fn agent(&self, front: Front, client: Option<&str>, placement: &Placement) -> Option<Agent> {
        let is_agents = front.is_agents();
        if !is_agents && !self.was_agents_front() {
            return placement.agent.clone();
        }
        let front = if is_agents { front } else { Front::Mcp };
        let served = self.served_agent();
        let known = placement.agent.clone().or_else(|| served.clone());
        let mut agent = known.unwrap_or_else(|| Agent {
            front,
            client: client.map(str::to_owned),
            pid: self.peer.pid.unwrap_or(0),
            started: placement.started,
            aliases: Vec::new(),
        });
        if let Some(served) = served {
            agent.add_aliases_of(&served);
        }
        agent.add_alias(front, client);
        Some(agent)
    }
}
