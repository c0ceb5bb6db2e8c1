//! The daemon's server, which may be replaced while a command runs: the keeper and the command live on.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use termd_proto::TerminalRef;
use termd_proto::daemon::{DaemonInfo, Hello};
use termd_proto::terminal::{Front, ListScope, ListTerminals, TerminalInfo};
use thiserror::Error;

use crate::agent::Agent;
use crate::connection::{CallError, Connection};

/// How long the first server has for its first answer. A new one starts within a second; longer than
/// this an agent takes its shell for hung.
const FIRST_HELLO: Duration = Duration::from_secs(2);
/// How long a server that was lost has to come back. It then keeps what was bound to a connection for
/// as long.
const RETURN: Duration = Duration::from_secs(30);
/// Between two tries to connect. What connects while the keeper lives waits in the backlog.
const RETRY: Duration = Duration::from_millis(50);
/// Terminals on a page of the list.
const PAGE: u32 = 1_000;

/// No server has come back.
#[derive(Debug, Error)]
pub(crate) enum GoneError {
    #[error("termd cannot be reached any more")]
    Unreachable,
    /// The agent has ended, which waits for the command.
    #[error("the agent has ended")]
    AgentEnded,
}

/// How the server is reached.
#[derive(Debug)]
pub(crate) struct Server {
    socket: PathBuf,
    hello: Hello,
}

impl Server {
    pub(crate) fn new(socket: PathBuf, hello: Hello) -> Self {
        Self { socket, hello }
    }

    /// Connects to a server that is there.
    pub(crate) fn connect(&self) -> Result<(Connection, DaemonInfo), CallError> {
        self.connect_by(Instant::now() + FIRST_HELLO)
    }

    fn connect_by(&self, deadline: Instant) -> Result<(Connection, DaemonInfo), CallError> {
        let mut connection = Connection::open(&self.socket)?;
        let info = connection.call(&self.hello, deadline)?;
        Ok((connection, info))
    }

    /// Connects to the next server, as long as the agent lives.
    pub(crate) fn reconnect(&self, agent: &Agent) -> Result<Connection, GoneError> {
        let deadline = Instant::now() + RETURN;
        loop {
            if let Ok((connection, _)) = self.connect_by(deadline) {
                return Ok(connection);
            }
            if Instant::now() >= deadline {
                return Err(GoneError::Unreachable);
            }
            let agent = agent.pidfd().into_iter();
            let mut fds: Vec<PollFd<'_>> = agent
                .map(|agent| PollFd::from_borrowed_fd(agent, PollFlags::IN))
                .collect();
            let timeout = Timespec::try_from(RETRY).unwrap_or_default();
            if poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0) {
                return Err(GoneError::AgentEnded);
            }
        }
    }

    /// The terminal that this process has created since then, in milliseconds since the Unix epoch. The
    /// answer to its create may have been lost with the server.
    pub(crate) fn own_terminal(
        connection: &mut Connection,
        since_ms: i64,
    ) -> Result<Option<TerminalRef>, CallError> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let is_own = |info: &TerminalInfo| {
            let owner = (info.owner.front, info.owner.pid);
            owner == (Front::Shell, own) && info.created_at_ms >= since_ms
        };
        let deadline = Instant::now() + RETURN;
        let mut list = ListTerminals {
            scope: Some(ListScope::Open),
            limit: Some(PAGE),
            ..ListTerminals::default()
        };
        loop {
            let page = connection.call(&list, deadline)?;
            if let Some(info) = page.terminals.iter().find(|info| is_own(info)) {
                return Ok(Some(TerminalRef::from(&info.id)));
            }
            if page.next_cursor.is_none() {
                return Ok(None);
            }
            list.cursor = page.next_cursor;
        }
    }
}

impl From<GoneError> for io::Error {
    fn from(error: GoneError) -> Self {
        Self::other(error)
    }
}
