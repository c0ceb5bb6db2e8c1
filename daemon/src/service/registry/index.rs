//! Which terminals there are, whose they are, and which are being created. Pure.
//!
//! The index does not know how a terminal is started or ended.

use std::collections::HashMap;
use std::sync::Arc;

use termd_proto::terminal::{Agent, Front, Owner, TerminalState};
use termd_proto::{Label, TerminalId};
use tokio::sync::watch;

use crate::config::MaxRunning;
use crate::terminal::error::{RunningLimit, TerminalError};
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::message::WaitStatus;

/// From this length on a label may not be the beginning of another terminal's id, which a person has copied
/// from a list. Of shorter names, such as `test`, some are that by chance.
const MIN_ID_PREFIX: usize = 6;

/// The terminals of this daemon.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) by_id: HashMap<TerminalId, Arc<Terminal>>,
    /// Labels of open terminals, and of those being created.
    pub(super) labels: HashMap<Label, TerminalId>,
    pub(super) starting: HashMap<TerminalId, Starting>,
    /// Terminals whose command runs, including those being created.
    pub(super) running: usize,
    /// Whether the last creation was refused for the number of terminals. Only the first such
    /// refusal is reported.
    pub(super) is_full: bool,
}

impl Index {
    /// Counts the running terminals of some clients, including those being created.
    fn running_of(&self, is_meant: impl Fn(&ClientKey) -> bool) -> usize {
        let starting = self.starting.values().map(|starting| &starting.client);
        let running = self
            .running()
            .filter(|terminal| is_meant(&ClientKey::from(&terminal.record.owner)));
        starting.filter(|client| is_meant(client)).count() + running.count()
    }

    /// Counts those of one client that are no one-shots.
    pub(super) fn sessions_of(&self, client: &ClientKey) -> usize {
        let starting = self.starting.values();
        let starting = starting.filter(|it| !it.one_shot && it.client == *client);
        let running = self.running().filter(|terminal| {
            !terminal.record.one_shot && ClientKey::from(&terminal.record.owner) == *client
        });
        starting.count() + running.count()
    }

    fn running(&self) -> impl Iterator<Item = &Arc<Terminal>> {
        let terminals = self.by_id.values();
        terminals.filter(|terminal| terminal.state() == TerminalState::Running)
    }

    /// The limit on running terminals that keeps this client from one more.
    pub(super) fn limit_reached_by(
        &self,
        client: &ClientKey,
        max: MaxRunning,
    ) -> Option<RunningLimit> {
        if self.running >= max.of_all {
            return Some(RunningLimit::OfAll(max.of_all));
        }
        // Owners are counted only where enough terminals run.
        let is_over = |limit: usize, is_meant: &dyn Fn(&ClientKey) -> bool| {
            self.running >= limit && self.running_of(is_meant) >= limit
        };
        if is_over(max.of_client, &|of| of == client) {
            return Some(RunningLimit::OfClient(max.of_client));
        }
        is_over(max.of_front, &|of| of.front == client.front)
            .then_some(RunningLimit::OfFront(max.of_front))
    }

    /// Keeps a label for a terminal, unless another one has it, or its id begins so.
    pub(super) fn take_label(
        &mut self,
        label: &Label,
        id: &TerminalId,
    ) -> Result<(), TerminalError> {
        let mut others = self.by_id.keys().chain(self.starting.keys());
        let is_other = others.any(|other| other != id && is_called(other, label));
        match self.labels.get(label) {
            Some(holder) if holder != id => Err(TerminalError::LabelTaken(label.clone())),
            _ if is_other => Err(TerminalError::Invalid {
                field: "label",
                problem: format!("{label} is the beginning of another terminal's id"),
            }),
            _ => {
                self.labels.insert(label.clone(), id.clone());
                Ok(())
            }
        }
    }

    /// Frees the label of a terminal that is closed.
    pub(super) fn free_label(&mut self, terminal: &Terminal) {
        if let Some(label) = terminal.label() {
            self.free_label_of(&label, terminal.id());
        }
    }

    /// Frees a label, if this terminal has it.
    pub(super) fn free_label_of(&mut self, label: &Label, id: &TerminalId) {
        if self.labels.get(label) == Some(id) {
            self.labels.remove(label);
        }
    }
}

/// Whether a label is the beginning of a terminal's id, long enough to be meant as that.
fn is_called(id: &TerminalId, label: &Label) -> bool {
    let label = label.as_str();
    label.len() >= MIN_ID_PREFIX && id.random_part().starts_with(label)
}

/// A terminal that is being created.
#[derive(Debug)]
pub(super) struct Starting {
    pub(super) client: ClientKey,
    /// Whether it counts as no session.
    pub(super) one_shot: bool,
    /// The agent that wants it.
    pub(super) agent: Option<Agent>,
    /// The root process, known before it executes the command.
    pub(super) pid: Option<i32>,
    /// How the command ended, where it ended before its terminal was listed.
    pub(super) reaped: Option<WaitStatus>,
    /// Dropped when the terminal is listed, or will not be.
    pub(super) listed: watch::Sender<()>,
}

/// A client process, as limits on running terminals count it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientKey {
    pub(super) front: Front,
    pub(super) pid: i32,
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
