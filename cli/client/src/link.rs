//! The daemon over one connection after another: connects, starts the daemon if none runs, says
//! hello, and reconnects when the server was replaced.
//!
//! A [`Link`] repeats an idempotent call on the next connection until it has an answer, for ten
//! seconds at most. It never sends a call twice that starts or types something. No call waits for
//! another one: [`Connection`] is renewed by a task of its own.

mod connection;

use std::borrow::Borrow;
use std::time::Duration;

use jsonrpsee::core::client::Subscription;
use termd_proto::daemon::ClientSettings;
use termd_proto::method::Subscribe;
use termd_proto::terminal::{AttachTerminal, Front};
use termd_proto::{Tags, TerminalRef, code};

use self::connection::{Attempt, Connection, Tie, attempt};
use crate::error::ClientError;
use crate::rpc::{CALL_DEADLINE, Request};
use crate::socket_path::SocketPlace;

/// Whether to start the daemon if none is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPolicy {
    Start,
    /// Fail with [`ClientError::NotRunning`].
    Never,
}

/// The greeting of a client on each connection.
#[derive(Debug, Clone)]
pub struct Introduction {
    /// The client's name, for audit records and for the owner of its terminals.
    pub client: String,
    /// The client's front.
    pub front: Front,
    /// How the client wants the daemon to treat its calls.
    pub settings: Option<ClientSettings>,
    /// The process of the agent that the client serves: its own or its parent's.
    pub agent_pid: Option<i32>,
    /// Whether the client can ask its person.
    pub asks: bool,
    /// Tags of each terminal that the client creates.
    pub tags: Tags,
    /// How long one call may take.
    pub call_deadline: Duration,
}

impl Default for Introduction {
    /// A verb of termctl.
    fn default() -> Self {
        Self {
            client: "termctl".to_owned(),
            front: Front::Cli,
            settings: None,
            agent_pid: None,
            asks: false,
            tags: Tags::default(),
            call_deadline: CALL_DEADLINE,
        }
    }
}

/// The daemon, over one connection after another.
#[derive(Debug)]
pub struct Link {
    connection: Connection,
}

impl Link {
    /// Connects, starting the daemon if the policy says so.
    pub async fn open(policy: StartPolicy) -> Result<Self, ClientError> {
        let link = Self::unopened(policy, Introduction::default())?;
        link.connect().await?;
        Ok(link)
    }

    /// A link that connects at its first call.
    pub(crate) fn unopened(
        policy: StartPolicy,
        introduction: Introduction,
    ) -> Result<Self, ClientError> {
        Ok(Self::at(SocketPlace::find()?, policy, introduction))
    }

    fn at(place: SocketPlace, policy: StartPolicy, introduction: Introduction) -> Self {
        Self {
            connection: Connection::new(place, policy, introduction),
        }
    }

    /// Connects, unless that has been done.
    pub(crate) async fn connect(&self) -> Result<(), ClientError> {
        self.connection.current().await.map(drop)
    }

    /// Makes an idempotent call: reads, waits, sizes.
    pub async fn repeat<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        self.repeat_with::<R, _>(|| request).await
    }

    /// Makes an idempotent call whose request is built for each attempt.
    pub async fn repeat_with<R, B>(
        &self,
        request: impl Fn() -> B + Send + Sync,
    ) -> Result<R::Answer, ClientError>
    where
        R: Request,
        B: Borrow<R> + Send + Sync,
    {
        loop {
            let rpc = self.connection.current().await?;
            let request = request();
            match attempt(&rpc, rpc.call(request.borrow())).await {
                Attempt::Answered(answer) => {
                    self.connection.answered();
                    return Ok(answer);
                }
                Attempt::Failed(error) => return Err(error),
                Attempt::Broken | Attempt::NotTaken => self.connection.replace(&rpc).await?,
            }
        }
    }

    /// Makes a call that must not be made twice: it starts, types or ends something.
    pub async fn once<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        loop {
            let rpc = self.connection.current().await?;
            if !rpc.is_connected() {
                // The connection broke before this call, so nothing is in doubt.
                self.connection.replace(&rpc).await?;
                continue;
            }
            match attempt(&rpc, rpc.call(request)).await {
                Attempt::Answered(answer) => {
                    self.connection.answered();
                    return Ok(answer);
                }
                Attempt::Failed(error) => return Err(error),
                Attempt::NotTaken => self.connection.replace(&rpc).await?,
                Attempt::Broken => {
                    self.connection.replace(&rpc).await?;
                    return Err(ClientError::InDoubt);
                }
            }
        }
    }

    /// Subscribes on the current connection. Its end ends the subscription.
    pub async fn subscribe<S: Subscribe>(
        &self,
        params: &S,
    ) -> Result<Subscription<S::Item>, ClientError> {
        loop {
            let rpc = self.connection.current().await?;
            match attempt(&rpc, rpc.subscribe(params)).await {
                Attempt::Answered(subscription) => {
                    self.connection.answered();
                    return Ok(subscription);
                }
                Attempt::Failed(error) => return Err(error),
                Attempt::Broken | Attempt::NotTaken => self.connection.replace(&rpc).await?,
            }
        }
    }

    /// Ties a terminal to each new connection.
    pub fn keep_holding(&self, terminal: TerminalRef) {
        self.connection.tie(Tie::Hold(terminal));
    }

    /// Attaches this client to a terminal, now and on each new connection; again: with another size.
    pub async fn attach(&self, request: AttachTerminal) -> Result<(), ClientError> {
        match self.repeat(&request).await {
            // An older daemon does not know the method.
            Err(ClientError::Refused(refusal)) if refusal.code() == code::METHOD_NOT_FOUND => {}
            said => said?,
        }
        let is_before = |tie: &Tie| matches!(tie, Tie::Attach(before) if before.id == request.id);
        self.connection.untie(is_before);
        self.connection.tie(Tie::Attach(request));
        Ok(())
    }

    /// Unties a terminal from new connections.
    pub fn stop_holding(&self, terminal: &TerminalRef) {
        self.connection
            .untie(|tie| matches!(tie, Tie::Hold(held) if held == terminal));
    }

    /// Reconnects whenever the connection breaks, and ties the terminals again, until the daemon stays
    /// away.
    pub async fn stay(&self) -> Result<(), ClientError> {
        loop {
            let rpc = self.connection.current().await?;
            rpc.disconnected().await;
            self.connection.replace(&rpc).await?;
        }
    }
}

#[cfg(test)]
mod tests;
