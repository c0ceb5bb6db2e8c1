//! The terminals of this daemon: who they are, how to find one, and what may be done with them.

mod adopt;
mod always;
mod approving;
mod attending;
mod confine;
mod create;
mod disk;
mod ending;
mod explain;
mod gate;
mod idle;
mod limits;
mod links;
mod list;
mod made;
mod making;
mod scope;
mod typing;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::screen::{Screen, ScreenOptions};
use termd_proto::terminal::{Front, Owner, TerminalState};
use termd_proto::{Label, TerminalId, TerminalRef};
use tokio::sync::{Notify, broadcast, watch};

pub use create::CreateRequest;
pub use typing::Typist;

use self::made::MadeDirectories;
use super::actor::{Actor, Surroundings};
use super::backlog::Backlog;
use super::clock::now_ms;
use super::disk::Room;
use super::error::{RunningLimit, TerminalError};
use super::handle::Terminal;
use super::record::Size;
use super::restore::restore;
use super::tally::InputLog;
use super::transcript::Transcript;
use crate::approval::Approvals;
use crate::config::{ApprovedPlace, MaxRunning, SpoolConfig, StoreConfig};
use crate::control::client::KeeperClient;
use crate::control::message::WaitStatus;
use crate::policy::Policy;
use crate::shell::ShellFiles;
use crate::store::{AuditEntry, Store};
use crate::term::Model;

/// Events that a subscriber may be behind before it is told that it lags.
const EVENT_QUEUE: usize = 1_024;
/// Ended terminals whose last output stays in memory; that of older ones is read from the database.
const ENDED_IN_MEMORY: usize = 256;
/// Ended terminals that stay on the list until somebody closes them; older ones are closed.
const ENDED_LISTED: usize = 4_096;
/// How long a new size may take into the database before whoever gave it is answered all the same.
const LONGEST_SIZE_STORING: Duration = Duration::from_secs(1);
/// Matches that an ambiguous reference is answered with.
const AMBIGUOUS_SHOWN: u32 = 8;

/// How terminals are run.
#[derive(Debug, Clone)]
pub struct TerminalsOptions {
    /// From SIGTERM or SIGHUP to SIGKILL.
    pub kill_grace: Duration,
    /// How long a question of the gate waits for an answer.
    pub approval_timeout: Duration,
    /// How much output is kept in memory.
    pub spool: SpoolConfig,
    /// How much of the disk output may take.
    pub store: StoreConfig,
    /// Where the database is.
    pub state_dir: PathBuf,
    /// Most terminals whose command runs.
    pub max_running: MaxRunning,
    /// Where the scripts of shell integration are; `None`: it is off.
    pub shell: Option<ShellFiles>,
    /// What config.toml decides of commands.
    pub policy: Arc<Policy>,
    /// Where it is written what somebody has agreed to for always.
    pub approved: ApprovedPlace,
    /// Where the daemon's settings are.
    pub config_dir: PathBuf,
    /// Whether the text of what is typed is recorded.
    pub input_log: InputLog,
}

/// The terminals of this daemon. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Terminals {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: TerminalsOptions,
    store: Store,
    keeper: KeeperClient,
    events: broadcast::Sender<TerminalEvent>,
    backlog: Backlog,
    index: Mutex<Index>,
    /// A terminal with an idle timeout was put on the list.
    idle_listed: Notify,
    /// What the gate wants agreed to.
    approvals: Approvals,
    /// Where commands are that have a scope of their own.
    scopes: scope::Scopes,
    /// Whether the disk has room for output.
    room: watch::Sender<Room>,
    /// What is decided of commands: config.toml, and what is agreed to for always meanwhile. Held for
    /// a look and a change.
    policy: Mutex<Arc<Policy>>,
    /// Held while approved.toml is written.
    always: tokio::sync::Mutex<()>,
    /// Directories that are there for the sake of sandboxes.
    made: MadeDirectories,
}

/// Which terminals there are. Held for look-ups only, never across a wait.
#[derive(Debug, Default)]
struct Index {
    by_id: HashMap<TerminalId, Arc<Terminal>>,
    /// Labels of open terminals, and of those being made.
    labels: HashMap<Label, TerminalId>,
    /// Terminals being made.
    starting: HashMap<TerminalId, Starting>,
    /// Terminals whose command runs, those being made included.
    running: usize,
    /// Open terminals that have ended, oldest first.
    ended: VecDeque<TerminalId>,
    accepts: Accepts,
    /// The last creation was refused for their number, and that was told.
    is_full_told: bool,
}

impl Index {
    /// How many terminals of these clients run, those being made included.
    fn running_of(&self, is_meant: impl Fn(&ClientKey) -> bool) -> usize {
        let starting = self.starting.values().map(|starting| &starting.client);
        let running = self
            .by_id
            .values()
            .filter(|terminal| terminal.state() == TerminalState::Running)
            .filter(|terminal| is_meant(&ClientKey::from(&terminal.record.owner)));
        starting.filter(|maker| is_meant(maker)).count() + running.count()
    }

    /// Which limit on running terminals keeps this client from one more.
    fn limit_reached_by(&self, client: &ClientKey, max: MaxRunning) -> Option<RunningLimit> {
        let of_all = RunningLimit::OfAll(max.of_all);
        let of_client = RunningLimit::OfClient(max.of_client);
        let of_front = RunningLimit::OfFront(max.of_front);
        // Whose they are is counted only where there are enough of them.
        let (all, running) = (|| self.running, |least: usize| self.running >= least);
        if all() >= max.of_all {
            return Some(of_all);
        }
        if running(max.of_client) && self.running_of(|of| of == client) >= max.of_client {
            return Some(of_client);
        }
        let is_of_front = |of: &ClientKey| of.front == client.front;
        let is_over = running(max.of_front) && self.running_of(is_of_front) >= max.of_front;
        is_over.then_some(of_front)
    }
}

/// A terminal that is being made.
#[derive(Debug)]
struct Starting {
    /// For whom.
    client: ClientKey,
    /// How it ended, if it did before it was listed.
    reaped: Option<WaitStatus>,
}

/// A client process, as far as its limit on running terminals goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClientKey {
    front: Front,
    pid: i32,
    client: Option<String>,
}

impl From<&Owner> for ClientKey {
    fn from(owner: &Owner) -> Self {
        Self {
            front: owner.front,
            pid: owner.pid,
            client: owner.client.clone(),
        }
    }
}

/// Whether new terminals may be made.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Accepts {
    #[default]
    Yes,
    /// The daemon is stopping or being replaced.
    No,
}

impl Terminals {
    /// No terminals yet; [`adopt`](Self::adopt) takes over those that there are.
    pub fn new(options: TerminalsOptions, store: Store, keeper: KeeperClient) -> Self {
        let events = broadcast::Sender::new(EVENT_QUEUE);
        let index = Mutex::default();
        let policy = Mutex::new(Arc::clone(&options.policy));
        let approvals = Approvals::new(options.approval_timeout);
        Self {
            inner: Arc::new(Inner {
                policy,
                always: tokio::sync::Mutex::default(),
                options,
                store,
                keeper,
                events,
                index,
                idle_listed: Notify::new(),
                approvals,
                scopes: scope::Scopes::default(),
                backlog: Backlog::default(),
                room: watch::Sender::new(Room::Enough),
                made: MadeDirectories::default(),
            }),
        }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.inner
            .index
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Where events of the daemon itself go to their subscribers.
    pub fn event_sender(&self) -> broadcast::Sender<TerminalEvent> {
        self.inner.events.clone()
    }

    /// Events of all terminals, from now on.
    pub fn events(&self) -> broadcast::Receiver<TerminalEvent> {
        self.inner.events.subscribe()
    }

    /// From now on no new terminals: the daemon is stopping or being replaced.
    pub fn refuse_new(&self) {
        self.index().accepts = Accepts::No;
    }

    fn is_refusing(&self) -> bool {
        self.index().accepts == Accepts::No
    }

    /// The open terminal with this id.
    pub fn open(&self, id: &TerminalId) -> Option<Arc<Terminal>> {
        let found = self.index().by_id.get(id).cloned();
        found.filter(|terminal| terminal.state() != TerminalState::Closed)
    }

    /// The keeper has reaped a terminal's root process.
    pub fn root_was_reaped(&self, id: &TerminalId, status: WaitStatus) {
        let mut index = self.index();
        if let Some(terminal) = index.by_id.get(id) {
            self.tell_reaped(terminal, status);
        } else if let Some(starting) = index.starting.get_mut(id) {
            // `true` is faster than we are: its terminal hears of it when it is listed.
            starting.reaped = Some(status);
        }
    }

    /// Resolves when every terminal has exited and all of its output is stored.
    pub async fn all_stored(&self) {
        let all: Vec<_> = self.index().by_id.values().cloned().collect();
        for terminal in all {
            terminal.task_has_ended().await;
        }
    }

    /// The terminal that a person or a script means: open ones first, then those that only the
    /// database knows.
    pub async fn find(&self, reference: &TerminalRef) -> Result<Arc<Terminal>, TerminalError> {
        let not_found = || TerminalError::NotFound(reference.0.clone());
        if let Some(found) = self.find_open(reference)? {
            return Ok(found);
        }
        let id = match reference.0.parse::<TerminalId>() {
            Ok(id) => id,
            Err(_) => self
                .stored_id_with_prefix(reference)
                .await?
                .ok_or_else(not_found)?,
        };
        self.flush_of(&id).await;
        let row = self
            .inner
            .store
            .terminal(&id)
            .await?
            .ok_or_else(not_found)?;
        Ok(self.stored(&row))
    }

    fn find_open(&self, reference: &TerminalRef) -> Result<Option<Arc<Terminal>>, TerminalError> {
        let index = self.index();
        if let Ok(id) = reference.0.parse::<TerminalId>() {
            return Ok(index.by_id.get(&id).cloned());
        }
        let labelled = reference
            .0
            .parse::<Label>()
            .ok()
            .and_then(|label| index.labels.get(&label));
        if let Some(found) = labelled.and_then(|id| index.by_id.get(id)) {
            return Ok(Some(Arc::clone(found)));
        }
        let Some(prefix) = id_prefix(&reference.0) else {
            return Ok(None);
        };
        let mut fitting = index.by_id.values().filter(|terminal| {
            terminal.id().as_str().starts_with(&*prefix)
                && terminal.state() != TerminalState::Closed
        });
        match (fitting.next(), fitting.next()) {
            (None, _) => Ok(None),
            (Some(only), None) => Ok(Some(Arc::clone(only))),
            (Some(first), Some(second)) => Err(TerminalError::Ambiguous {
                reference: reference.0.clone(),
                matches: [first, second]
                    .into_iter()
                    .chain(fitting.take(AMBIGUOUS_SHOWN as usize - 2))
                    .map(|terminal| terminal.id().clone())
                    .collect(),
            }),
        }
    }

    async fn stored_id_with_prefix(
        &self,
        reference: &TerminalRef,
    ) -> Result<Option<TerminalId>, TerminalError> {
        let Some(prefix) = id_prefix(&reference.0) else {
            return Ok(None);
        };
        let mut fitting = self
            .inner
            .store
            .ids_with_prefix(&prefix, AMBIGUOUS_SHOWN)
            .await?;
        match fitting.len() {
            0 => Ok(None),
            1 => Ok(fitting.pop()),
            _ => Err(TerminalError::Ambiguous {
                reference: reference.0.clone(),
                matches: fitting,
            }),
        }
    }

    /// A terminal that was closed a moment ago may still have its last rows in the queue.
    async fn flush_of(&self, id: &TerminalId) {
        if let Err(error) = self.inner.store.flush().await {
            tracing::debug!(terminal = %id, %error, "cannot flush before a look-up");
        }
    }

    async fn audit(
        &self,
        action: &'static str,
        outcome: &str,
        actor: &Owner,
        terminal: Option<&TerminalId>,
        detail: Map<String, Value>,
    ) -> Result<(), TerminalError> {
        let entry = AuditEntry {
            at_ms: now_ms(),
            action,
            outcome: outcome.to_owned(),
            actor: actor.clone(),
            terminal: terminal.cloned(),
            detail,
        };
        self.inner
            .store
            .audit(entry)
            .await
            .map(|_| ())
            .map_err(TerminalError::Audit)
    }

    /// Sees to it that a terminal has its screen, which one that ended long ago has not at once.
    async fn wake_screen(&self, terminal: &Terminal) -> Result<(), TerminalError> {
        if terminal.screen.look(|_| ()).is_some() {
            return Ok(());
        }
        let (store, end) = (&self.inner.store, terminal.end());
        let restored = restore(store, &terminal.record, &terminal.transcript, end).await?;
        terminal.screen.put(restored.model);
        Ok(())
    }

    /// What a terminal's screen shows.
    pub async fn screen(
        &self,
        terminal: &Terminal,
        options: &ScreenOptions,
    ) -> Result<Screen, TerminalError> {
        let tty = terminal.line_discipline().await;
        let screen = self
            .look_at(terminal, |model| model.screen(options))
            .await?;
        Ok(Screen {
            echo: tty.map(|tty| tty.echo),
            canonical: tty.map(|tty| tty.canonical),
            ..screen
        })
    }

    /// Sets a terminal's size, and keeps where in the output it was given, so that a server that
    /// dies right after it loses nothing. A database that takes nothing holds nobody up.
    pub async fn resize(&self, terminal: &Terminal, size: Size) {
        terminal.resize(size).await;
        let stored = self.inner.store.flush();
        if tokio::time::timeout(LONGEST_SIZE_STORING, stored)
            .await
            .is_err()
        {
            tracing::warn!(terminal = %terminal.id(), "a size is not in the database yet");
        }
    }

    /// Looks at a terminal's model, for somebody who reads it.
    pub async fn look_at<T>(
        &self,
        terminal: &Terminal,
        look: impl FnOnce(&Model) -> T,
    ) -> Result<T, TerminalError> {
        terminal.touch();
        self.wake_screen(terminal).await?;
        terminal.screen.look(look).ok_or(TerminalError::Stopping)
    }

    /// Records that a connection types into a terminal, once for each: never what it types.
    pub async fn audit_input(
        &self,
        terminal: &Terminal,
        actor: &Owner,
        connection: u64,
    ) -> Result<(), TerminalError> {
        terminal.takes_input()?;
        if !terminal.is_first_input_of(connection) {
            return Ok(());
        }
        self.audit(
            "terminal.input",
            "ok",
            actor,
            Some(terminal.id()),
            Map::new(),
        )
        .await
    }

    /// Puts a terminal into the index and starts its task.
    fn start(&self, terminal: Arc<Terminal>, actor: Actor) {
        let terminals = self.clone();
        self.put_on_list(&terminal);
        tokio::spawn(async move {
            let ended = terminals.clone();
            let watched = Arc::clone(&terminal);
            let exit = async move {
                if watched.exit().await.is_ok() {
                    ended.runs_no_more();
                }
            };
            tokio::join!(actor.run(), exit);
            terminals.is_done(&terminal).await;
        });
    }

    fn put_on_list(&self, terminal: &Arc<Terminal>) {
        let mut index = self.index();
        let starting = index.starting.remove(terminal.id());
        if let Some(status) = starting.and_then(|starting| starting.reaped) {
            self.tell_reaped(terminal, status);
        }
        index
            .by_id
            .insert(terminal.id().clone(), Arc::clone(terminal));
        terminal.tallies(|tallies| tallies.set_log(self.inner.options.input_log));
        if terminal.record.idle_timeout.is_some() {
            self.inner.idle_listed.notify_one();
        }
    }

    /// A command has ended: it no longer counts as running.
    fn runs_no_more(&self) {
        let mut index = self.index();
        index.running = index.running.saturating_sub(1);
    }

    /// Its task has ended and all of it is in the database.
    async fn is_done(&self, terminal: &Arc<Terminal>) {
        if self.is_refusing() {
            return;
        }
        if terminal.state() == TerminalState::Closed {
            self.forget(terminal).await;
            return;
        }
        let (discarded, closed) = {
            let mut index = self.index();
            index.ended.push_back(terminal.id().clone());
            let in_memory = index.ended.len().checked_sub(ENDED_IN_MEMORY + 1);
            let discarded = in_memory
                .and_then(|at| index.ended.get(at))
                .and_then(|id| index.by_id.get(id))
                .cloned();
            let over = index.ended.len() > ENDED_LISTED;
            let closed = over.then(|| index.ended.pop_front()).flatten();
            (
                discarded,
                closed.and_then(|id| index.by_id.get(&id).cloned()),
            )
        };
        if let Some(older) = &discarded {
            older.screen.discard();
        }
        if let Some(older) = &discarded
            && let Err(error) = older.transcript.discard()
        {
            tracing::warn!(%error, "cannot give back a spool");
        }
        if let Some(oldest) = closed {
            let terminals = self.clone();
            tokio::spawn(async move {
                let actor = oldest.record.owner.clone();
                if let Err(error) = terminals.close(&oldest, &actor).await {
                    tracing::warn!(terminal = %oldest.id(), %error, "cannot close an old terminal");
                }
            });
        }
    }

    /// Takes a closed terminal, all of which is stored, out of the index and the inventory.
    async fn forget(&self, terminal: &Terminal) {
        {
            let mut index = self.index();
            index.by_id.remove(terminal.id());
            index.ended.retain(|id| id != terminal.id());
        }
        self.free_label(terminal);
        if let Err(error) = self.inner.keeper.forget(terminal.id()).await {
            tracing::debug!(terminal = %terminal.id(), %error, "the keeper did not know it");
        }
    }

    fn free_label(&self, terminal: &Terminal) {
        if let Some(label) = &terminal.record.label {
            let mut index = self.index();
            if index.labels.get(label) == Some(terminal.id()) {
                index.labels.remove(label);
            }
        }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            store: self.inner.store.clone(),
            keeper: self.inner.keeper.clone(),
            backlog: self.inner.backlog.clone(),
            events: self.inner.events.clone(),
        }
    }

    fn window(&self, output_byte_limit: u64) -> u64 {
        output_byte_limit
            .max(self.inner.options.spool.default_window_bytes)
            .min(self.inner.options.spool.max_window_bytes)
    }

    fn stored_transcript(&self, id: &TerminalId) -> Transcript {
        Transcript::stored(id.clone(), self.inner.store.clone())
    }
}

/// The text as the beginning of an id; `None` if no id can begin with it.
fn id_prefix(text: &str) -> Option<String> {
    let random = text.strip_prefix("term_").unwrap_or(text);
    let fits = !random.is_empty()
        && random
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
    fits.then(|| format!("term_{random}"))
}
