//! Waiting until something happens in the first of several terminals.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use termd_client::ClientError;
use termd_proto::interact::{Until, WaitEnd, WaitForResult};
use termd_proto::{Offset, TerminalId};
use tokio::time::{Instant, sleep};

use super::call::Call;
use super::listening::listens;

/// Most terminals beside the first that one call waits for.
pub(crate) const MAX_OTHERS: usize = 15;
/// The time between two looks for a port. No event tells of it.
const PORT_LOOK: Duration = Duration::from_millis(200);

/// What is waited for. Without a pattern and a port that is the exit, which ends each wait.
#[derive(Debug)]
pub(crate) struct Awaited {
    pub(crate) pattern: Option<String>,
    /// A TCP port that a process of the terminal listens on.
    pub(crate) port: Option<u16>,
}

/// How the wait ended.
#[derive(Debug)]
pub(crate) struct FirstWait {
    /// The terminal where it happened; after a timeout the first.
    pub(crate) id: TerminalId,
    pub(crate) wait: WaitForResult,
    /// Whether the port is listened on.
    pub(crate) listening: bool,
}

impl FirstWait {
    /// Whether what was waited for has come.
    pub(crate) fn has_come(&self, awaited: &Awaited) -> bool {
        let is_exit = awaited.pattern.is_none() && awaited.port.is_none();
        self.listening
            || self.wait.matched.is_some()
            || (is_exit && self.wait.ended_by == WaitEnd::Exited)
    }

    /// Whether the time was over first.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.wait.ended_by == WaitEnd::Timeout && !self.listening
    }
}

impl Awaited {
    /// Waits in the first terminal and in others, each from an offset on, until it comes in one or
    /// one exits. Progress tells of the first.
    pub(crate) async fn in_any(
        &self,
        call: &Call,
        first: (&TerminalId, Offset),
        others: &[(TerminalId, Offset)],
        timeout: Duration,
    ) -> Result<FirstWait, ClientError> {
        let deadline = Instant::now() + timeout;
        let others = others.iter().map(|(id, since)| (id, *since));
        let mut waits: FuturesUnordered<_> = std::iter::once(first)
            .chain(others)
            .map(|(id, since)| self.in_one(call, id, since, deadline))
            .collect();
        let coming = async {
            while let Some(ended) = waits.next().await {
                let ended = ended?;
                if !ended.is_timed_out() {
                    return Ok::<_, ClientError>(Some(ended));
                }
            }
            Ok(None)
        };
        let terminal = first.0.into();
        let coming = Box::pin(coming);
        match call
            .progress
            .during(call.backend(), &terminal, coming)
            .await?
        {
            Some(ended) => Ok(ended),
            None => self.in_one(call, first.0, first.1, deadline).await,
        }
    }

    async fn in_one(
        &self,
        call: &Call,
        id: &TerminalId,
        since: Offset,
        deadline: Instant,
    ) -> Result<FirstWait, ClientError> {
        let until = Until {
            pattern: self.pattern.clone(),
            ..Until::default()
        };
        let backend = call.backend();
        let left = deadline.saturating_duration_since(Instant::now());
        let waiting = backend.wait_for(id, Some(since), &until, left);
        let listening = async {
            match self.port {
                Some(port) => until_listening(call, id, port).await,
                None => std::future::pending().await,
            }
        };
        let (wait, listening) = tokio::select! {
            biased;
            wait = waiting => (wait?, false),
            found = listening => {
                found?;
                (backend.wait_for(id, Some(since), &until, Duration::ZERO).await?, true)
            }
        };
        Ok(FirstWait {
            id: id.clone(),
            wait,
            listening,
        })
    }
}

async fn until_listening(call: &Call, id: &TerminalId, port: u16) -> Result<(), ClientError> {
    let root = call.backend().show(id.as_str()).await?.pid;
    loop {
        let id = id.clone();
        // A look reads files. One that broke off has found nothing.
        let look = tokio::task::spawn_blocking(move || listens(&id, root, port));
        if look.await.unwrap_or_default() {
            return Ok(());
        }
        sleep(PORT_LOOK).await;
    }
}
