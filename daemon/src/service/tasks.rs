//! The tasks of terminals, from the listing of a terminal to the storing of its last byte.

use std::sync::Arc;

use termd_proto::TerminalId;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Gap, TerminalState};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

use super::attention::AttentionWatch;
use super::disk::Disk;
use super::ending::{Ender, LimitWatch, Retirement};
use super::registry::Registry;
use super::scopes::Scopes;
use super::tty_secrets::TtySecrets;
use crate::heap_trim::HeapTrim;
use crate::keeper_client::KeeperClient;
use crate::store::Store;
use crate::terminal::handle::{TaskEnds, Terminal};
use crate::terminal::input::input_audit::InputLog;
use crate::terminal::lifecycle::actor::{Actor, TaskContext};
use crate::terminal::output::backlog::Backlog;
use crate::terminal::output::flood_turn::FloodTurns;
use crate::terminal::output::flow::Flow;
use crate::terminal::output::pump::OutputPump;
use crate::terminal::output::source::Source;
use termd_keeper::protocol::message::WaitStatus;

/// Runs the task of each terminal.
#[derive(Debug)]
pub(crate) struct TerminalTasks {
    pub(crate) registry: Arc<Registry>,
    pub(crate) retirement: Arc<Retirement>,
    pub(crate) ender: Arc<Ender>,
    pub(crate) limits: LimitWatch,
    pub(crate) attention: AttentionWatch,
    pub(crate) scopes: Scopes,
    /// Asks for what ttys await; `None` where it is switched off.
    pub(crate) tty_secrets: Option<TtySecrets>,
    pub(crate) disk: Arc<Disk>,
    pub(crate) store: Store,
    pub(crate) keeper: KeeperClient,
    pub(crate) events: broadcast::Sender<TerminalEvent>,
    pub(crate) backlog: Backlog,
    pub(crate) flood_turns: FloodTurns,
    /// Whether the text of what is typed is recorded.
    pub(crate) input_log: InputLog,
    /// Notified when a terminal with an idle timeout is listed.
    pub(crate) idle_listed: Arc<Notify>,
    pub(crate) stopping: CancellationToken,
    pub(crate) heap: HeapTrim,
}

/// A terminal whose task is to be started.
#[derive(Debug)]
pub(super) struct NewTask {
    pub(super) terminal: Arc<Terminal>,
    pub(super) ends: TaskEnds,
    pub(super) source: Source,
    pub(super) pump: OutputPump,
    pub(super) flow: Flow,
    /// Output of an earlier server that neither the database nor the spool has.
    pub(super) lost: Option<Gap>,
}

impl TerminalTasks {
    /// Lists a terminal and starts its task.
    pub(super) fn start(self: &Arc<Self>, new: NewTask) {
        let around = TaskContext {
            store: self.store.clone(),
            keeper: self.keeper.clone(),
            backlog: self.backlog.clone(),
            events: self.events.clone(),
            flood_turns: self.flood_turns.clone(),
        };
        let terminal = Arc::clone(&new.terminal);
        let disk = self.disk.share(&terminal, new.lost);
        let actor = Actor::new(
            new.terminal,
            around,
            new.ends,
            new.source,
            new.pump,
            new.flow,
            disk,
        );
        terminal.input_audit(|tallies| tallies.set_log(self.input_log));
        if let Some(status) = self.registry.insert(&terminal) {
            self.scopes.root_was_reaped(&terminal, status);
        }
        if terminal.record.idle_timeout.is_some() {
            self.idle_listed.notify_one();
        }
        self.limits.watch(&terminal);
        self.attention.watch(&terminal);
        self.scopes.watch(&terminal);
        if let Some(secrets) = &self.tty_secrets {
            secrets.watch(&terminal);
        }
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let exit = async {
                if terminal.exit().await.is_ok() {
                    this.registry.command_ended();
                }
            };
            tokio::join!(actor.run(), exit);
            this.task_ended(&terminal).await;
            drop(terminal);
            this.heap.freed();
        });
    }

    /// The keeper has reaped a terminal's root process.
    pub(crate) fn root_was_reaped(&self, id: &TerminalId, status: WaitStatus) {
        if let Some(terminal) = self.registry.root_was_reaped(id, status) {
            self.scopes.root_was_reaped(&terminal, status);
        }
    }

    /// A terminal's task has ended, and all of the terminal is stored.
    async fn task_ended(&self, terminal: &Terminal) {
        if self.stopping.is_cancelled() {
            return;
        }
        if terminal.state() == TerminalState::Closed {
            self.retirement.forget(terminal).await;
            return;
        }
        let Some(oldest) = self.retirement.insert(terminal) else {
            return;
        };
        let ender = Arc::clone(&self.ender);
        tokio::spawn(async move {
            let actor = &oldest.record.owner;
            if let Err(error) = ender.close(&oldest, actor, None).await {
                tracing::warn!(terminal = %oldest.id(), %error, "cannot close an old terminal");
            }
        });
    }
}
