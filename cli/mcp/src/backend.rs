//! The daemon, as tools need it: terminals by their names, and the calls that all sets make.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use termd_client::refusal::kind_of;
use termd_client::{ClientError, Introduction, Pool, StartPolicy};
use termd_proto::interact::{Activity, GetActivity, Until, WaitFor, WaitForResult};
use termd_proto::screen::{ReadScreen, ScreenFormat};
use termd_proto::terminal::{Front, ListTerminals, ResizeTerminal, ShowTerminal, TerminalInfo};
use termd_proto::{ErrorKind, Offset, Tags, TerminalId, TerminalRef};
use tokio::time::Instant;

use crate::settings::{MAX_TIMEOUT, Settings};

/// Terminals on a page of the list: the most that the daemon gives.
const LIST_PAGE: u32 = 1_000;
/// Most labels that are remembered. Beyond it all are forgotten, and only open terminals have labels.
const MAX_LABELS: usize = 4_096;
/// The time that a call may take beyond the longest wait.
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
            // The agent starts its MCP servers itself.
            agent_pid: i32::try_from(std::os::unix::process::parent_id()).ok(),
            asks: false,
            tags: Tags::default(),
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

    /// Sets the client's name, also as a tag of its terminals, and whether it can ask its user. Only the
    /// first call counts.
    pub(crate) fn introduce(&self, name: &str, asks: bool) {
        if self.introduced.set(()).is_ok() {
            self.pool.introduce_as(name);
            self.pool.set_asks(asks);
            // Clients start their MCP servers in the project.
            let directory = std::env::current_dir().ok();
            let tags = Tags::of_agent(Some(name), directory.as_deref());
            self.pool.set_tags(tags);
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

    /// A terminal by id, unique prefix or label, also a closed one. A label that no open terminal
    /// has names the terminal that this client last knew by it.
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

    /// `session.activity`: what goes on in an open terminal.
    pub(crate) async fn activity(&self, id: &TerminalId) -> Result<Activity, ClientError> {
        let id = TerminalRef::from(id);
        self.pool.repeat(&GetActivity { id }).await
    }

    /// The screen as text.
    pub(crate) async fn screen_text(&self, id: &TerminalId) -> Result<String, ClientError> {
        let request = ReadScreen {
            format: Some(ScreenFormat::Text),
            ..ReadScreen::of(TerminalRef::from(id))
        };
        let screen = self.pool.repeat(&request).await?;
        let mut text = screen.rendering.unwrap_or_default();
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// `session.resize`.
    pub(crate) async fn resize(
        &self,
        id: TerminalRef,
        cols: u16,
        rows: u16,
    ) -> Result<(), ClientError> {
        let resize = ResizeTerminal { id, cols, rows };
        self.pool.repeat(&resize).await.map(drop)
    }

    /// The open terminals, oldest first. The list ends with the page that reaches `max`.
    pub(crate) async fn open_terminals(
        &self,
        max: usize,
    ) -> Result<Vec<TerminalInfo>, ClientError> {
        let mut terminals = Vec::new();
        let mut cursor = None;
        loop {
            let request = ListTerminals {
                cursor,
                limit: Some(LIST_PAGE),
                ..ListTerminals::default()
            };
            let page = self.pool.repeat(&request).await?;
            terminals.extend(page.terminals);
            cursor = page.next_cursor;
            if cursor.is_none() || terminals.len() >= max {
                return Ok(terminals);
            }
        }
    }

    async fn show_open(&self, named: &str) -> Result<TerminalInfo, ClientError> {
        self.pool
            .repeat(&ShowTerminal {
                id: TerminalRef(named.to_owned()),
            })
            .await
    }

    /// Remembers the terminal by its label, for when it is closed.
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

    /// The id of a named terminal. A whole id is itself, whether there is such a terminal or not.
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
