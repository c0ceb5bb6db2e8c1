//! Which terminals there are, who has how many of them, and which are being made. Pure.
//!
//! It must not know how a terminal is started or ended.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use termd_proto::terminal::{Front, Owner, TerminalState};
use termd_proto::{Label, TerminalId};

use crate::config::MaxRunning;
use crate::terminal::error::RunningLimit;
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::message::WaitStatus;

/// Which terminals there are. Held for look-ups only, never across a wait.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) by_id: HashMap<TerminalId, Arc<Terminal>>,
    /// Labels of open terminals, and of those being made.
    pub(super) labels: HashMap<Label, TerminalId>,
    /// Terminals being made.
    pub(super) starting: HashMap<TerminalId, Starting>,
    /// Terminals whose command runs, those being made included.
    pub(super) running: usize,
    /// Open terminals that have ended, oldest first.
    pub(super) ended: VecDeque<TerminalId>,
    pub(super) accepts: Accepts,
    /// The last creation was refused for their number, and that was told.
    pub(super) is_full_told: bool,
}

impl Index {
    /// How many terminals of these clients run, those being made included.
    pub(super) fn running_of(&self, is_meant: impl Fn(&ClientKey) -> bool) -> usize {
        let starting = self.starting.values().map(|starting| &starting.client);
        let running = self
            .by_id
            .values()
            .filter(|terminal| terminal.state() == TerminalState::Running)
            .filter(|terminal| is_meant(&ClientKey::from(&terminal.record.owner)));
        starting.filter(|maker| is_meant(maker)).count() + running.count()
    }

    /// Which limit on running terminals keeps this client from one more.
    pub(super) fn limit_reached_by(
        &self,
        client: &ClientKey,
        max: MaxRunning,
    ) -> Option<RunningLimit> {
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
pub(super) struct Starting {
    /// For whom.
    pub(super) client: ClientKey,
    /// Its command's process, from before it runs.
    pub(super) pid: Option<i32>,
    /// How it ended, if it did before it was listed.
    pub(super) reaped: Option<WaitStatus>,
}

/// A client process, as far as its limit on running terminals goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientKey {
    pub(super) front: Front,
    pub(super) pid: i32,
    pub(super) client: Option<String>,
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
pub(super) enum Accepts {
    #[default]
    Yes,
    /// The daemon is stopping or being replaced.
    No,
}
