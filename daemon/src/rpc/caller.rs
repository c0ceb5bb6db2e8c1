//! Who a call is from, as records name it: the connection's peer, and what it said of itself.

use termd_proto::terminal::{Front, Owner};

use super::context::ConnectionContext;

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

    fn owner(&self, front: Front, session: Option<String>) -> Owner {
        Owner {
            front,
            uid: self.peer.uid,
            pid: self.peer.pid.unwrap_or(0),
            exe: self.peer.exe().map(str::to_owned),
            session,
            client: self.introduction().client.clone(),
        }
    }
}
