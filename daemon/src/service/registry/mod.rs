//! Which terminals there are.

mod index;
mod reservation;
mod stored;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Agent, CreateTerminal, Owner, TerminalState};
use termd_proto::{Label, TerminalId};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use self::index::{ClientKey, Index, Starting};
use crate::config::MaxRunning;
use crate::terminal::error::{RunningLimit, TerminalError};
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::message::WaitStatus;

pub(crate) use self::reservation::Reservation;
pub(crate) use self::stored::{stored_terminal, stored_terminal_of};

/// The terminals of this daemon: open ones, ended ones, and those being created.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Locked for look-ups and changes, never across a wait.
    index: Arc<Mutex<Index>>,
    max_running: MaxRunning,
    events: broadcast::Sender<TerminalEvent>,
    /// Cancelled when the daemon stops or is replaced: no terminal is created from then on.
    stopping: CancellationToken,
}

/// A terminal whose command runs.
#[derive(Debug)]
pub(crate) struct RunningTerminal {
    pub(crate) id: TerminalId,
    /// The root process, once there is one.
    pub(crate) root: Option<i32>,
}

impl Registry {
    pub(crate) fn new(
        max_running: MaxRunning,
        events: broadcast::Sender<TerminalEvent>,
        stopping: CancellationToken,
    ) -> Self {
        Self {
            index: Arc::default(),
            max_running,
            events,
            stopping,
        }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a place for a terminal that is about to be created. `max_running` is the bound that the
    /// client has set itself, which one-shots neither count for nor meet.
    pub(crate) fn reserve(
        &self,
        id: &TerminalId,
        owner: &Owner,
        options: &CreateTerminal,
        max_running: Option<u32>,
    ) -> Result<Reservation, TerminalError> {
        let client = ClientKey::from(owner);
        let mut index = self.index();
        if self.stopping.is_cancelled() {
            return Err(TerminalError::Stopping);
        }
        if let Some(limit) = index.limit_reached_by(&client, self.max_running) {
            if !std::mem::replace(&mut index.is_full, true) {
                self.report_limit(limit, client.pid);
            }
            return Err(TerminalError::TooMany(limit));
        }
        index.is_full = false;
        if let Some(max_running) = max_running
            && !options.one_shot
            && index.sessions_of(&client) >= max_running as usize
        {
            return Err(TerminalError::TooManyOfClient { max_running });
        }
        index.running += 1;
        let starting = Starting {
            client,
            one_shot: options.one_shot,
            agent: owner.agent(),
            pid: None,
            reaped: None,
            listed: watch::Sender::new(()),
        };
        index.starting.insert(id.clone(), starting);
        Ok(Reservation {
            index: Arc::clone(&self.index),
            id: id.clone(),
            label: None,
            is_kept: false,
        })
    }

    fn report_limit(&self, limit: RunningLimit, pid: i32) {
        let (name, value) = (limit.name(), limit.value());
        tracing::warn!(pid, limit = name, value, "no more terminals are started");
        let _ = self.events.send(TerminalEvent::PeerLimitReached {
            pid: Some(pid),
            limit: name.to_owned(),
            value: u64::try_from(value).unwrap_or(u64::MAX),
        });
    }

    /// Counts a terminal that an earlier server has started. It is listed by [`insert`](Self::insert).
    pub(crate) fn adopt(&self, terminal: &Terminal) {
        let mut index = self.index();
        index.running += 1;
        if let Some(label) = terminal.label() {
            index.labels.insert(label, terminal.id().clone());
        }
    }

    /// Lists a terminal. Returns how its command has ended, where the keeper has said so already.
    #[must_use]
    pub(crate) fn insert(&self, terminal: &Arc<Terminal>) -> Option<WaitStatus> {
        let mut index = self.index();
        let starting = index.starting.remove(terminal.id());
        index
            .by_id
            .insert(terminal.id().clone(), Arc::clone(terminal));
        starting.and_then(|starting| starting.reaped)
    }

    /// Lists a terminal that only the database knows.
    pub(crate) fn insert_ended(&self, terminal: Arc<Terminal>) {
        let mut index = self.index();
        if let Some(label) = terminal.label() {
            index.labels.insert(label, terminal.id().clone());
        }
        index.by_id.insert(terminal.id().clone(), terminal);
    }

    /// Takes a closed terminal off the list.
    pub(crate) fn remove(&self, terminal: &Terminal) {
        let mut index = self.index();
        index.by_id.remove(terminal.id());
        index.free_label(terminal);
    }

    /// Frees the label of a terminal that is closed and still listed.
    pub(crate) fn free_label(&self, terminal: &Terminal) {
        self.index().free_label(terminal);
    }

    /// Keeps a label for an open terminal, which has its old one until [`relabel`](Self::relabel).
    pub(crate) fn take_label(
        &self,
        label: &Label,
        terminal: &Terminal,
    ) -> Result<(), TerminalError> {
        self.index().take_label(label, terminal.id())
    }

    /// Gives back a label that was taken, unless the terminal has it already.
    pub(crate) fn give_back_label(&self, label: &Label, terminal: &Terminal) {
        if terminal.label().as_ref() != Some(label) {
            self.index().free_label_of(label, terminal.id());
        }
    }

    /// Gives a terminal a label that was taken for it, or takes its label away.
    pub(crate) fn relabel(&self, terminal: &Terminal, label: Option<Label>) {
        let mut index = self.index();
        if terminal.label() != label {
            index.free_label(terminal);
            terminal.set_label(label);
        }
        // A terminal that was closed meanwhile keeps its label as its name, and holds it no longer.
        if terminal.state() == TerminalState::Closed {
            index.free_label(terminal);
        }
    }

    /// The keeper has reaped a root process. Returns its terminal, unless that is not listed yet:
    /// `/bin/true` can be faster than its creation.
    #[must_use]
    pub(crate) fn root_was_reaped(
        &self,
        id: &TerminalId,
        status: WaitStatus,
    ) -> Option<Arc<Terminal>> {
        let mut index = self.index();
        let listed = index.by_id.get(id).cloned();
        if listed.is_none()
            && let Some(starting) = index.starting.get_mut(id)
        {
            starting.reaped = Some(status);
        }
        listed
    }

    /// A command has ended. It does not count as running any more.
    pub(crate) fn command_ended(&self) {
        let mut index = self.index();
        index.running = index.running.saturating_sub(1);
    }

    /// Waits until a terminal is listed whose command may run already, and ask for it.
    pub(crate) async fn listed(&self, id: &TerminalId) {
        let starting = |index: &Index| {
            let starting = index.starting.get(id)?;
            starting.pid.map(|_| starting.listed.subscribe())
        };
        let listed = starting(&self.index());
        if let Some(mut listed) = listed {
            // The sender says nothing, and is dropped.
            let _ = listed.changed().await;
        }
    }

    pub(crate) fn get(&self, id: &TerminalId) -> Option<Arc<Terminal>> {
        self.index().by_id.get(id).cloned()
    }

    /// The terminal with this id, unless it is closed.
    pub(crate) fn open(&self, id: &TerminalId) -> Option<Arc<Terminal>> {
        self.get(id)
            .filter(|terminal| terminal.state() != TerminalState::Closed)
    }

    pub(crate) fn by_label(&self, label: &Label) -> Option<Arc<Terminal>> {
        let index = self.index();
        let id = index.labels.get(label)?;
        index.by_id.get(id).cloned()
    }

    /// All listed terminals, in no order.
    pub(crate) fn all(&self) -> Vec<Arc<Terminal>> {
        self.index().by_id.values().cloned().collect()
    }

    /// The running terminals. Those that are not listed yet are among them.
    pub(crate) fn running_terminals(&self) -> Vec<RunningTerminal> {
        let index = self.index();
        let listed = index.by_id.values();
        let listed = listed
            .filter(|terminal| terminal.state() == TerminalState::Running)
            .map(|terminal| RunningTerminal {
                id: terminal.id().clone(),
                root: Some(terminal.record.pid),
            });
        let starting = index.starting.iter().map(|(id, starting)| RunningTerminal {
            id: id.clone(),
            root: starting.pid,
        });
        listed.chain(starting).collect()
    }

    /// The agent whose processes work in a terminal.
    pub(crate) fn agent_of(&self, id: &TerminalId) -> Option<Agent> {
        let index = self.index();
        let starting = || index.starting.get(id)?.agent.clone();
        match index.by_id.get(id) {
            Some(terminal) => terminal.agent(),
            None => starting(),
        }
    }

    /// The store has dropped the transcripts of these ended terminals. Nothing of them is read from
    /// memory any more.
    pub(crate) async fn discard_output(&self, dropped: &[String]) {
        for id in dropped {
            let id = id.parse::<TerminalId>().ok();
            if let Some(terminal) = id.and_then(|id| self.get(&id)) {
                terminal.leave_memory();
                terminal.plain.discard_tail().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use termd_proto::terminal::Front;

    use super::*;

    #[test]
    fn who_asks_for_a_terminal_whose_command_runs_waits_until_it_is_listed() {
        let (events, _) = broadcast::channel(1);
        let max_running = MaxRunning {
            of_all: 1,
            of_client: 1,
            of_front: 1,
        };
        let stopping = CancellationToken::new();
        let registry = Registry::new(max_running, events, stopping);
        let id: TerminalId = "term_aaaaaaaaaaaa".parse().unwrap();
        let owner = Owner {
            front: Front::Cli,
            uid: 0,
            pid: 1,
            exe: None,
            session: None,
            client: None,
            agent: None,
            terminal: None,
        };
        let is_waited_for = || registry.listed(&id).now_or_never().is_none();
        assert!(!is_waited_for());
        let reservation = registry.reserve(&id, &owner, &CreateTerminal::default(), None);
        let reservation = reservation.unwrap();
        assert!(!is_waited_for(), "a person may be asked meanwhile");
        reservation.set_pid(7);
        let mut waiting = Box::pin(registry.listed(&id));
        assert!((&mut waiting).now_or_never().is_none());
        drop(reservation);
        assert!(waiting.now_or_never().is_some());
        assert!(!is_waited_for());
    }
}
