//! The state that both directions and all tasks share.

use termd_client::Pool;

use crate::busy_poll::BusyPoll;
use crate::capabilities::Capabilities;
use crate::client_requests::ClientRequests;
use crate::options::Options;
use crate::session_mcp::SessionMcp;
use crate::sessions::Sessions;
use crate::terminals::Terminals;
use crate::wire::line_writer::LineWriter;

/// The shared state. Nothing in it knows of the modules that use it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) client: LineWriter,
    pub(crate) agent: LineWriter,
    /// The connections to the daemon.
    pub(crate) pool: Pool,
    pub(crate) busy_poll: BusyPoll,
    pub(crate) capabilities: Capabilities,
    pub(crate) sessions: Sessions,
    pub(crate) session_mcp: SessionMcp,
    pub(crate) client_requests: ClientRequests,
    pub(crate) terminals: Terminals,
}

impl Shared {
    /// The state of a proxy that has not forwarded anything yet.
    pub(crate) fn new(options: Options, client: LineWriter, agent: LineWriter, pool: Pool) -> Self {
        Self {
            options,
            client,
            agent,
            pool,
            busy_poll: BusyPoll::default(),
            capabilities: Capabilities::default(),
            sessions: Sessions::default(),
            session_mcp: SessionMcp::default(),
            client_requests: ClientRequests::default(),
            terminals: Terminals::default(),
        }
    }
}
