//! Every terminal that the keeper holds, by id.

mod terminal;

use std::collections::BTreeMap;
use std::path::PathBuf;

use termd_proto::TerminalId;

pub(crate) use self::terminal::{Start, Terminal};
use crate::cgroup;
use crate::process_tree::Tree;
use crate::protocol::message::MAX_TERMINALS;

/// At most [`MAX_TERMINALS`].
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    terminals: BTreeMap<TerminalId, Terminal>,
    /// Cgroups of dropped terminals. They are removed when their killed processes are gone.
    old_cgroups: Vec<PathBuf>,
}

impl Inventory {
    pub(crate) fn is_full(&self) -> bool {
        self.terminals.len() >= MAX_TERMINALS
    }

    pub(crate) fn contains(&self, id: &TerminalId) -> bool {
        self.terminals.contains_key(id)
    }

    /// Adds a terminal. The caller has checked that it fits and that the id is new.
    pub(crate) fn insert(&mut self, id: TerminalId, terminal: Terminal) {
        if let Some(tty) = terminal.tty() {
            self.terminals
                .values_mut()
                .for_each(|older| older.tty_is_reused(tty));
        }
        self.terminals.insert(id, terminal);
    }

    /// Removes a terminal and ends what is in its PID namespace and cgroup.
    pub(crate) fn remove(&mut self, id: &TerminalId) {
        if let Some(terminal) = self.terminals.remove(id) {
            terminal.end_rest();
            self.old_cgroups.extend(terminal.into_own_cgroup());
        }
    }

    pub(crate) fn get_mut(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.terminals.get_mut(id)
    }

    /// A terminal that the server may know.
    pub(crate) fn visible(&self, id: &TerminalId) -> Option<&Terminal> {
        self.terminals
            .get(id)
            .filter(|terminal| terminal.is_visible())
    }

    /// A terminal that the server may know.
    pub(crate) fn visible_mut(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.terminals
            .get_mut(id)
            .filter(|terminal| terminal.is_visible())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TerminalId, &Terminal)> {
        self.terminals.iter()
    }

    /// The starts that are under way.
    pub(crate) fn starts_mut(&mut self) -> impl Iterator<Item = &mut Start> {
        self.terminals.values_mut().filter_map(Terminal::start_mut)
    }

    /// The terminal whose root this unreaped child is.
    pub(crate) fn by_unreaped_root(&self, pid: i32) -> Option<TerminalId> {
        let mut terminals = self.terminals.iter();
        let (id, _) = terminals.find(|(_, terminal)| terminal.unreaped_root() == Some(pid))?;
        Some(id.clone())
    }

    /// The terminals whose commands another process than the root may become.
    pub(crate) fn awaiting_announcement(&self) -> Vec<TerminalId> {
        let waiting = self.terminals.iter().filter(|(_, terminal)| {
            let start = terminal.start();
            start.is_some_and(|start| start.pending.awaits_announcement())
        });
        waiting.map(|(id, _)| id.clone()).collect()
    }

    /// What a scan of processes needs to know.
    pub(crate) fn trees(&self) -> Vec<Tree<'_>> {
        self.terminals
            .iter()
            .map(|(id, terminal)| terminal.tree(id))
            .collect()
    }

    /// Drops terminals that are over, unless their trees are being ended, and ends what is in their
    /// PID namespaces and cgroups. Removes cgroups without processes.
    pub(crate) fn sweep(&mut self, is_ending: impl Fn(&TerminalId) -> bool) {
        let over = |id: &TerminalId, terminal: &mut Terminal| terminal.is_over() && !is_ending(id);
        for (_, terminal) in self.terminals.extract_if(.., over) {
            terminal.end_rest();
            self.old_cgroups.extend(terminal.into_own_cgroup());
        }
        for terminal in self.terminals.values_mut() {
            terminal.remove_unused_cgroup();
        }
        self.old_cgroups.retain(|cgroup| !cgroup::remove(cgroup));
    }
}
