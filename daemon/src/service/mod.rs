//! The terminals of this daemon: who they are, how to find one, and what may be done with them.

mod adopt;
mod always;
mod approving;
mod asked;
mod attending;
mod confine;
mod create;
mod disk;
mod ending;
mod explain;
mod finding;
mod gate;
mod idle;
mod index;
mod limits;
mod links;
mod list;
mod made;
mod making;
mod reserving;
mod scope;
mod screens;
mod starting;
mod typing;
mod vetting;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use termd_proto::TerminalId;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Owner, TerminalState};
use tokio::sync::{Notify, broadcast, watch};

pub use asked::CreateRequest;
pub use typing::Typist;

use self::index::{Accepts, ClientKey, Index, Starting};
use self::made::MadeDirectories;
use crate::approval::Approvals;
use crate::clock::now_ms;
use crate::config::{ApprovedPlace, MaxRunning, SpoolConfig, StoreConfig};
use crate::keeper_client::KeeperClient;
use crate::shell::ShellFiles;
use crate::store::{AuditEntry, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::input_audit::InputLog;
use crate::terminal::lifecycle::actor::{Actor, TaskContext};
use crate::terminal::output::backlog::Backlog;
use crate::terminal::output::disk::Room;
use crate::terminal::output::transcript::Transcript;
use termd_keeper::protocol::message::WaitStatus;
use termd_policy::Policy;

/// Events that a subscriber may be behind before it is told that it lags.
const EVENT_QUEUE: usize = 1_024;
/// Ended terminals whose last output stays in memory; that of older ones is read from the database.
const ENDED_IN_MEMORY: usize = 256;
/// Ended terminals that stay on the list until somebody closes them; older ones are closed.
const ENDED_LISTED: usize = 4_096;

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
                made: MadeDirectories::kept_in(options.state_dir.clone()),
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

    /// Records that a connection types into a terminal, once for each: never what it types.
    pub async fn audit_input(
        &self,
        terminal: &Terminal,
        actor: &Owner,
        connection: u64,
    ) -> Result<(), TerminalError> {
        terminal.takes_input()?;
        if !terminal.connections.is_first_input(connection) {
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
        terminal.input_audit(|audit| audit.set_log(self.inner.options.input_log));
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
            older.leave_memory();
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

    /// The store has dropped the transcripts of these ended terminals: nothing of them is to be
    /// read from memory either.
    pub async fn forget_output(&self, dropped: &[String]) {
        for id in dropped {
            let id = id.parse::<TerminalId>().ok();
            let terminal = id.and_then(|id| self.index().by_id.get(&id).cloned());
            if let Some(terminal) = terminal {
                terminal.leave_memory();
                terminal.plain.discard_tail().await;
            }
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

    fn task_context(&self) -> TaskContext {
        TaskContext {
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
