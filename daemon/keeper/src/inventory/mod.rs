//! Every terminal that the keeper holds, by id.

mod terminal;

use std::collections::BTreeMap;

use termd_proto::TerminalId;

pub(crate) use self::terminal::{Start, Terminal};
use crate::process_tree::Tree;
use crate::protocol::message::MAX_TERMINALS;

/// At most [`MAX_TERMINALS`].
#[derive(Debug, Default)]
pub(crate) struct Inventory(BTreeMap<TerminalId, Terminal>);

impl Inventory {
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MAX_TERMINALS
    }

    pub(crate) fn contains(&self, id: &TerminalId) -> bool {
        self.0.contains_key(id)
    }

    /// Adds a terminal. The caller has checked that it fits and that the id is new.
    pub(crate) fn insert(&mut self, id: TerminalId, terminal: Terminal) {
        if let Some(tty) = terminal.tty() {
            self.0
                .values_mut()
                .for_each(|older| older.tty_is_reused(tty));
        }
        self.0.insert(id, terminal);
    }

    /// Removes a terminal and ends what is in its PID namespace.
    pub(crate) fn remove(&mut self, id: &TerminalId) {
        if let Some(terminal) = self.0.remove(id) {
            terminal.end_namespace();
        }
    }

    pub(crate) fn get_mut(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.0.get_mut(id)
    }

    /// A terminal that the server may know.
    pub(crate) fn visible(&self, id: &TerminalId) -> Option<&Terminal> {
        self.0.get(id).filter(|terminal| terminal.is_visible())
    }

    /// A terminal that the server may know.
    pub(crate) fn visible_mut(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.0.get_mut(id).filter(|terminal| terminal.is_visible())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TerminalId, &Terminal)> {
        self.0.iter()
    }

    /// The starts that are under way.
    pub(crate) fn starts_mut(&mut self) -> impl Iterator<Item = &mut Start> {
        self.0.values_mut().filter_map(Terminal::start_mut)
    }

    /// The terminal whose root this unreaped child is.
    pub(crate) fn by_unreaped_root(&self, pid: i32) -> Option<TerminalId> {
        let mut terminals = self.0.iter();
        let (id, _) = terminals.find(|(_, terminal)| terminal.unreaped_root() == Some(pid))?;
        Some(id.clone())
    }

    /// The terminals whose commands another process than the root may become.
    pub(crate) fn awaiting_announcement(&self) -> Vec<TerminalId> {
        let waiting = self.0.iter().filter(|(_, terminal)| {
            let start = terminal.start();
            start.is_some_and(|start| start.pending.awaits_announcement())
        });
        waiting.map(|(id, _)| id.clone()).collect()
    }

    /// What a scan of processes needs to know.
    pub(crate) fn trees(&self) -> Vec<Tree<'_>> {
        self.0
            .iter()
            .map(|(id, terminal)| terminal.tree(id))
            .collect()
    }

    /// Drops terminals that are over, unless their trees are being ended, and ends what is in their
    /// PID namespaces.
    pub(crate) fn sweep(&mut self, is_ending: impl Fn(&TerminalId) -> bool) {
        self.0.retain(|id, terminal| {
            let is_over = terminal.is_over() && !is_ending(id);
            if is_over {
                terminal.end_namespace();
            }
            !is_over
        });
    }
}
