//! The daemon, as tools need it: named terminals, the client's name, and the waits of
//! `session.wait_for`; the connections are the pool's.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use termd_client::refusal::kind_of;
use termd_client::{ClientError, Introduction, Pool, StartPolicy};
use termd_proto::interact::{Until, WaitFor, WaitForResult};
use termd_proto::terminal::{Front, ShowTerminal, TerminalInfo};
use termd_proto::{ErrorKind, Offset, TerminalId, TerminalRef};
use tokio::time::Instant;

use super::settings::{MAX_TIMEOUT, Settings};

/// Most labels that are remembered; then they are forgotten, and only open terminals have theirs.
const MAX_LABELS: usize = 4_096;
/// What a call may take beyond the longest wait.
const MARGIN: Duration = Duration::from_mins(1);

/// The daemon.
#[derive(Debug)]
pub(crate) struct Backend {
    pool: Pool,
    introduced: OnceLock<()>,
    labels: Mutex<HashMap<String, TerminalId>>,
}

impl Backend {
    /// Not connected yet.
    pub(crate) fn new(start: StartPolicy, settings: &Settings) -> Self {
        let introduction = Introduction {
            client: "mcp".to_owned(),
            front: Front::Mcp,
            settings: Some(settings.to_daemon()),
            call_deadline: MAX_TIMEOUT + MARGIN,
        };
        Self {
            pool: Pool::new(start, introduction),
            introduced: OnceLock::new(),
            labels: Mutex::default(),
        }
    }

    /// The connections, to make calls on.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The client's name, as it introduced itself first; not heard after the first connection.
    pub(crate) fn introduce(&self, name: &str, version: &str) {
        if self.introduced.set(()).is_ok() {
            self.pool.introduce_as(&format!("{name} {version}"));
        }
    }

    /// `session.wait_for`.
    pub(crate) async fn wait_for(
        &self,
        id: &TerminalId,
        since: Option<Offset>,
        until: &Until,
        timeout: Duration,
    ) -> Result<WaitForResult, ClientError> {
        self.pool
            .wait_until(Instant::now() + timeout, |left| WaitFor {
                id: TerminalRef::from(id),
                since,
                until: until.clone(),
                timeout_ms: Some(left),
            })
            .await
    }

    /// All that is known of a terminal, by id, unique prefix or label; closed ones too. A label
    /// that no open terminal has is that of the one which this client knew by it last.
    pub(crate) async fn show(&self, named: &str) -> Result<TerminalInfo, ClientError> {
        let info = match self.show_open(named).await {
            Err(error) if is_not_found(&error) => match self.remembered(named) {
                Some(id) => self.show_open(id.as_str()).await,
                None => Err(error),
            },
            shown => shown,
        }?;
        self.remember(&info);
        Ok(info)
    }

    async fn show_open(&self, named: &str) -> Result<TerminalInfo, ClientError> {
        self.pool
            .repeat(&ShowTerminal {
                id: TerminalRef(named.to_owned()),
            })
            .await
    }

    /// This client knows the terminal by its label, also once it is closed.
    pub(crate) fn remember(&self, info: &TerminalInfo) {
        let Some(label) = &info.label else { return };
        let mut labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        if labels.len() >= MAX_LABELS {
            labels.clear();
        }
        labels.insert(label.as_str().to_owned(), info.id.clone());
    }

    fn remembered(&self, label: &str) -> Option<TerminalId> {
        let labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        labels.get(label).cloned()
    }

    /// The id that a name leads to. A whole id is itself, whether there is such a terminal or not.
    pub(crate) async fn resolve(&self, named: &str) -> Result<TerminalId, ClientError> {
        match named.parse() {
            Ok(id) => Ok(id),
            Err(_) => Ok(self.show(named).await?.id),
        }
    }
}

fn is_not_found(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(refusal)
        if kind_of(refusal) == Some(ErrorKind::TerminalNotFound))
}
