//! The daemon, as tools need it: connected to on first use, found again when its server is replaced.
//!
//! Waits have connections of their own, a few hundred to each: the daemon bounds the calls in flight
//! on one connection, and however many waits pend, another call must not be the one too many.
//! Cancelling is dropping: a call whose future is dropped is cancelled in the daemon.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jsonrpsee::core::ClientError;
use termd_proto::daemon::ClientSettings;
use termd_proto::interact::{InteractionsClient as _, Until, WaitForResult};
use termd_proto::terminal::{Front, SessionsClient as _, TerminalInfo};
use termd_proto::{ErrorKind, Offset, TerminalId, TerminalRef};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::settings::{MAX_TIMEOUT, Settings};
use crate::client::{Introduction, Link, StartPolicy};
use crate::error::{CliError, kind_of};
use crate::rpc::Rpc;

/// Waits on one connection: below what the daemon takes, and below what jsonrpsee queues.
const WAITS_PER_LINK: usize = 200;
/// Most characters of a client's name that go into audit records.
const MAX_NAME_CHARS: usize = 100;
/// Most labels that are remembered; then they are forgotten, and only open terminals have theirs.
const MAX_LABELS: usize = 4_096;
/// What a call may take beyond the longest wait.
const MARGIN: Duration = Duration::from_mins(1);

/// The daemon.
pub(crate) struct Backend {
    start: StartPolicy,
    settings: ClientSettings,
    client: OnceLock<String>,
    calls: OnceCell<Link>,
    waits: Mutex<Vec<Arc<WaitLink>>>,
    labels: Mutex<HashMap<String, TerminalId>>,
}

/// A connection for waits.
#[derive(Default)]
struct WaitLink {
    link: OnceCell<Link>,
    waiting: AtomicUsize,
}

/// A place on a connection for waits.
struct Place(Arc<WaitLink>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").finish_non_exhaustive()
    }
}

impl Backend {
    /// Not connected yet.
    pub(crate) fn new(start: StartPolicy, settings: &Settings) -> Self {
        Self {
            start,
            settings: settings.to_daemon(),
            client: OnceLock::new(),
            calls: OnceCell::new(),
            waits: Mutex::new(Vec::new()),
            labels: Mutex::default(),
        }
    }

    /// The client's name, as it introduced itself first; not heard after the first connection.
    pub(crate) fn introduce(&self, name: &str, version: &str) {
        let name: String = format!("{name} {version}")
            .chars()
            .filter(|character| !character.is_control())
            .take(MAX_NAME_CHARS)
            .collect();
        let _ = self.client.set(name.trim().to_owned());
    }

    /// Connects, so that the first call finds a connection; a failure is that call's to tell.
    pub(crate) async fn connect(&self) {
        let _ = self.link().await;
    }

    /// A call that does the same when it is made twice: repeated until it is answered.
    pub(crate) async fn repeat<T, F>(
        &self,
        call: impl Fn(Arc<Rpc>) -> F + Send + Sync,
    ) -> Result<T, CliError>
    where
        F: Future<Output = Result<T, ClientError>> + Send,
        T: Send,
    {
        self.link().await?.repeat(call).await
    }

    /// A call that must not be made twice: it starts, types or ends something.
    pub(crate) async fn once<T, F>(
        &self,
        call: impl Fn(Arc<Rpc>) -> F + Send + Sync,
    ) -> Result<T, CliError>
    where
        F: Future<Output = Result<T, ClientError>> + Send,
        T: Send,
    {
        self.link().await?.once(call).await
    }

    /// A call that takes until `deadline` at the longest and may be made twice: it is given what
    /// time is left, in milliseconds, each time that it is made.
    pub(crate) async fn wait<T, F>(
        &self,
        deadline: Instant,
        call: impl Fn(Arc<Rpc>, u64) -> F + Send + Sync,
    ) -> Result<T, CliError>
    where
        F: Future<Output = Result<T, ClientError>> + Send,
        T: Send,
    {
        let place = self.place();
        let link = place.0.link.get_or_try_init(|| self.open()).await?;
        link.repeat(|rpc| {
            let left = deadline.saturating_duration_since(Instant::now());
            call(rpc, u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
        })
        .await
    }

    /// `session.wait_for`.
    pub(crate) async fn wait_for(
        &self,
        id: &TerminalId,
        since: Option<Offset>,
        until: &Until,
        timeout: Duration,
    ) -> Result<WaitForResult, CliError> {
        self.wait(Instant::now() + timeout, |rpc, left| {
            let (id, until) = (TerminalRef::from(id), until.clone());
            async move { rpc.wait_for(id, since, until, Some(left)).await }
        })
        .await
    }

    /// All that is known of a terminal, by id, unique prefix or label; closed ones too. A label
    /// that no open terminal has is that of the one which this client knew by it last.
    pub(crate) async fn show(&self, named: &str) -> Result<TerminalInfo, CliError> {
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

    async fn show_open(&self, named: &str) -> Result<TerminalInfo, CliError> {
        self.repeat(|rpc| {
            let id = TerminalRef(named.to_owned());
            async move { rpc.show(id).await }
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
    pub(crate) async fn resolve(&self, named: &str) -> Result<TerminalId, CliError> {
        match named.parse() {
            Ok(id) => Ok(id),
            Err(_) => Ok(self.show(named).await?.id),
        }
    }

    /// The terminal ends with this client, whichever connection of it stands then.
    pub(crate) async fn keep_holding(&self, id: &TerminalId) -> Result<(), CliError> {
        self.link().await?.keep_holding(id.into()).await;
        Ok(())
    }

    /// A terminal that was closed is not held any more.
    pub(crate) async fn stop_holding(&self, id: &TerminalId) -> Result<(), CliError> {
        self.link().await?.stop_holding(&id.into()).await;
        Ok(())
    }

    async fn link(&self) -> Result<&Link, CliError> {
        self.calls.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Link, CliError> {
        let introduction = Introduction {
            client: self
                .client
                .get()
                .cloned()
                .unwrap_or_else(|| "mcp".to_owned()),
            front: Front::Mcp,
            settings: Some(self.settings.clone()),
            call_deadline: MAX_TIMEOUT + MARGIN,
        };
        Link::open_as(self.start, introduction).await
    }

    fn place(&self) -> Place {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let free = waits
            .iter()
            .find(|link| link.waiting.load(Ordering::Relaxed) < WAITS_PER_LINK);
        let link = free.cloned().unwrap_or_else(|| {
            let link = Arc::new(WaitLink::default());
            waits.push(Arc::clone(&link));
            link
        });
        // Under the lock: nobody else takes the same last place.
        link.waiting.fetch_add(1, Ordering::Relaxed);
        Place(link)
    }
}

fn is_not_found(error: &CliError) -> bool {
    matches!(error, CliError::Refused(refusal)
        if kind_of(refusal) == Some(ErrorKind::TerminalNotFound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_more_than_a_connection_takes_gets_another_one() {
        let backend = Backend::new(StartPolicy::Never, &Settings::default());
        let places: Vec<_> = (0..=WAITS_PER_LINK).map(|_| backend.place()).collect();
        assert!(Arc::ptr_eq(&places[0].0, &places[WAITS_PER_LINK - 1].0));
        assert!(!Arc::ptr_eq(&places[0].0, &places[WAITS_PER_LINK].0));
        let first = Arc::clone(&places[0].0);
        drop(places);
        assert!(Arc::ptr_eq(&first, &backend.place().0));
    }

    #[test]
    fn a_client_is_known_by_its_first_name_without_control_characters() {
        let backend = Backend::new(StartPolicy::Never, &Settings::default());
        backend.introduce("a\u{1b}[31m", "1");
        backend.introduce("b", "2");
        assert_eq!(backend.client.get().map(String::as_str), Some("a[31m 1"));
    }
}
