//! The terminals: requests about them, their starts, their ends.

mod starts;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::libc::{SIGHUP, SIGKILL, SIGTERM};
use termd_proto::TerminalId;

use self::starts::Starts;
use crate::inventory::{Inventory, Terminal};
use crate::launch::Launcher;
use crate::left_pipes::{LeftPipes, PipeNumber};
use crate::poll::Poller;
use crate::process_tree::{
    Excluded, RequestNumber, RootGroup, Scan, TreeId, TreeKiller, name, own_children,
    signal_process,
};
use crate::protocol::confinement::CPU_GRACE_SECONDS;
use crate::protocol::message::{
    EndTree, ListedProcess, MAX_LISTED_PROCESSES, MAX_NOTES_BYTES, ProcessId, ProcessList, Refusal,
    ToKeeper, ToServer, WaitStatus,
};
use crate::reap::{Ended, reap};
use crate::server::Supervisor;
use crate::sys::{self, SIGNALS, Unreaped};

/// How long orphans have from SIGTERM to SIGKILL.
const ORPHAN_GRACE: Duration = Duration::from_millis(1500);

/// How often a keeper that leaves looks for processes that were forked while it killed their parents.
const MAX_LAST_KILLS: usize = 4;

/// All terminals, and what happens to them.
#[derive(Debug)]
pub(crate) struct Terminals {
    inventory: Inventory,
    starts: Starts,
    tree_killer: TreeKiller,
    left_pipes: LeftPipes,
    /// The children that this process had before it was the keeper.
    inherited: Vec<ProcessId>,
}

impl Terminals {
    pub(crate) fn new(launcher: Launcher, now: Instant) -> Self {
        Self {
            inventory: Inventory::default(),
            starts: Starts::new(launcher),
            tree_killer: TreeKiller::new(now),
            left_pipes: LeftPipes::default(),
            inherited: own_children(),
        }
    }

    pub(crate) fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Does a request about a terminal, with the descriptors that were sent beside it. Returns the
    /// answer, or `None` where it follows later or where there is none.
    pub(crate) fn handle(
        &mut self,
        number: RequestNumber,
        message: ToKeeper,
        fds: Vec<OwnedFd>,
        poller: &mut Poller,
        server: &Supervisor,
        now: Instant,
    ) -> Option<ToServer> {
        let done = match message {
            ToKeeper::Spawn(request) => {
                let (starts, inventory) = (&mut self.starts, &mut self.inventory);
                return match starts.spawn(number, *request, fds, inventory, poller) {
                    Ok(answer) => answer,
                    Err(failure) => Some(ToServer::Refused(Refusal::Spawn(failure))),
                };
            }
            ToKeeper::ReleaseExec { id, release } => {
                let released = (self.starts).release(number, &id, release, &mut self.inventory);
                return released.err().map(ToServer::Refused);
            }
            ToKeeper::EndTree { id, end } => match self.check_signal(&id, end.signal) {
                Ok(()) => {
                    let tree = TreeId::Terminal(id);
                    self.tree_killer.start(&tree, end, Some(number), now);
                    return None;
                }
                Err(refusal) => Err(refusal),
            },
            ToKeeper::SignalTree { id, signal } => self
                .check_signal(&id, signal)
                .map(|()| self.signal_tree(&id, signal, server)),
            ToKeeper::SetNotes { id, notes } => self.with_visible(&id, |terminal| {
                if notes.len() > MAX_NOTES_BYTES {
                    return Err(Refusal::Invalid);
                }
                terminal.set_notes(notes);
                Ok(())
            }),
            ToKeeper::ReleaseFds { id } => self.release_fds(&id, poller),
            ToKeeper::CloseStdin { id } => self.with_visible(&id, |terminal| {
                terminal.close_stdin();
                Ok(())
            }),
            ToKeeper::Forget { id } => self.with_visible(&id, |terminal| {
                terminal.forget();
                Ok(())
            }),
            ToKeeper::ListOrphans => return Some(self.list(&TreeId::Orphans, server)),
            ToKeeper::ListTree { id } => match self.inventory.visible(&id) {
                Some(_) => return Some(self.list(&TreeId::Terminal(id), server)),
                None => Err(Refusal::UnknownTerminal),
            },
            ToKeeper::Hello { .. }
            | ToKeeper::SetAuditHead { .. }
            | ToKeeper::Ready
            | ToKeeper::Pong => return None,
        };
        self.sweep();
        Some(match done {
            Ok(()) => ToServer::Done,
            Err(refusal) => ToServer::Refused(refusal),
        })
    }

    fn check_signal(&self, id: &TerminalId, signal: i32) -> Result<(), Refusal> {
        if !SIGNALS.contains(&signal) {
            return Err(Refusal::Invalid);
        }
        let terminal = self.inventory.visible(id);
        terminal.map(drop).ok_or(Refusal::UnknownTerminal)
    }

    fn with_visible(
        &mut self,
        id: &TerminalId,
        change: impl FnOnce(&mut Terminal) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        change((self.inventory.visible_mut(id)).ok_or(Refusal::UnknownTerminal)?)
    }

    /// Drops a terminal's descriptors. What others go on writing to its pipes is read.
    fn release_fds(&mut self, id: &TerminalId, poller: &mut Poller) -> Result<(), Refusal> {
        let terminal = self.inventory.visible_mut(id);
        let left = terminal.ok_or(Refusal::UnknownTerminal)?.release_fds();
        for pipe in left {
            self.left_pipes.add(pipe, poller);
        }
        Ok(())
    }

    /// A pipe that a command has left to others is to be looked at.
    pub(crate) fn left_pipe_ready(&mut self, number: PipeNumber, poller: &mut Poller) {
        self.left_pipes.ready(number, poller, Instant::now());
    }

    fn signal_tree(&self, id: &TerminalId, signal: i32, server: &Supervisor) {
        let trees = self.inventory.trees();
        let scan = Scan::new(&trees, self.excluded(server), &HashMap::new());
        let tree = TreeId::Terminal(id.clone());
        scan.signal(&tree, &scan.members(&tree), signal, RootGroup::Included);
    }

    fn excluded(&self, server: &Supervisor) -> Excluded<'_> {
        Excluded {
            servers: server.pids(),
            inherited: &self.inherited,
        }
    }

    fn list(&self, tree: &TreeId, server: &Supervisor) -> ToServer {
        let trees = self.inventory.trees();
        let scan = Scan::new(&trees, self.excluded(server), &HashMap::new());
        let members = scan.members(tree);
        let listed = |&process: &ProcessId| ListedProcess {
            process,
            name: name(process.pid).unwrap_or_default(),
        };
        ToServer::Processes(ProcessList {
            count: u32::try_from(members.len()).unwrap_or(u32::MAX),
            listed: members
                .iter()
                .take(MAX_LISTED_PROCESSES)
                .map(listed)
                .collect(),
        })
    }

    /// A start's error pipe is readable.
    pub(crate) fn progress_start(
        &mut self,
        id: &TerminalId,
        poller: &mut Poller,
        server: &mut Supervisor,
    ) {
        let (inventory, killer) = (&mut self.inventory, &mut self.tree_killer);
        self.starts.progress(id, inventory, killer, poller, server);
    }

    /// A watched process of a tree has ended.
    pub(crate) fn process_ended(&mut self, id: &TreeId, process: ProcessId, poller: &mut Poller) {
        self.tree_killer
            .process_ended(id, process, poller, Instant::now());
    }

    /// Reaps a child that is not the server: a terminal's root, its bubblewrap, the init of its PID
    /// namespace, or an orphan, for which the keeper is subreaper.
    pub(crate) fn reap_child(
        &mut self,
        ended: Ended,
        poller: &mut Poller,
        server: &mut Supervisor,
        now: Instant,
    ) {
        let id = self.terminal_of(ended.pid, poller, server);
        let Some(id) = id.filter(|id| !self.reap_forked(id, ended, poller, server)) else {
            reap(ended.pid);
            let mut starts = self.inventory.starts_mut();
            starts.any(|start| start.pending.child_reaped(ended.pid));
            return;
        };
        let Some(terminal) = self.inventory.get_mut(&id) else {
            return;
        };
        // The kernel's accounts of the process go with the zombie.
        let status = final_status(ended, terminal.cpu_limit());
        let tree = TreeId::Terminal(id.clone());
        if self.tree_killer.root_exited(&tree, now) {
            // While the root is a zombie no other group can have its number. Before the stage of
            // SIGKILL the next scan signals what is left, once.
            sys::kill_unreaped(Unreaped::GroupOf(ended.pid), SIGKILL);
        }
        reap(ended.pid);
        terminal.set_status(status);
        if terminal.is_visible() {
            server.notify_exit(&id, status);
        }
    }

    /// The terminal whose root an ended child is.
    fn terminal_of(
        &mut self,
        pid: i32,
        poller: &mut Poller,
        server: &mut Supervisor,
    ) -> Option<TerminalId> {
        let known = self.inventory.by_unreaped_root(pid);
        if known.is_some() {
            return known;
        }
        // A command may have announced itself and ended since the error pipes were read.
        for id in self.inventory.awaiting_announcement() {
            self.progress_start(&id, poller, server);
        }
        self.inventory.by_unreaped_root(pid)
    }

    /// Whether the ended root of this terminal was the process that starts the command, or no root
    /// after all. The caller reaps it then.
    fn reap_forked(
        &mut self,
        id: &TerminalId,
        ended: Ended,
        poller: &mut Poller,
        server: &mut Supervisor,
    ) -> bool {
        let start = self.inventory.get_mut(id).and_then(Terminal::start_mut);
        if !start.is_some_and(|start| start.pending.awaits_announcement()) {
            return false;
        }
        // What it reported before its end comes first: it may be the command after all.
        self.progress_start(id, poller, server);
        let Some(terminal) = self.inventory.get_mut(id) else {
            // The start failed, and the root was reaped with it.
            return true;
        };
        if terminal.root().pid != ended.pid {
            // Another process became the root.
            return true;
        }
        let mut start = terminal.start_mut();
        let start_mut = start.as_deref_mut();
        if !start_mut.is_some_and(|start| start.pending.root_reaped(ended.status)) {
            // It is the command, which runs without bubblewrap or PID namespace.
            return false;
        }
        if start.is_some_and(|start| start.pending.is_behind_bubblewrap()) {
            // What it left of its building might wait for it for ever. A process that has announced
            // itself as the command leads a group of its own.
            sys::kill_unreaped(Unreaped::GroupOf(ended.pid), SIGKILL);
        }
        true
    }

    /// When something is due by time alone.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let deadlines = [self.tree_killer.deadline(), self.left_pipes.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Takes the next step of ending trees, and answers the requests for those that are ended.
    pub(crate) fn progress(&mut self, poller: &mut Poller, server: &mut Supervisor, now: Instant) {
        let trees = self.inventory.trees();
        let excluded = Excluded {
            servers: server.pids(),
            inherited: &self.inherited,
        };
        let concluded = (self.tree_killer).progress(now, &trees, excluded, poller);
        self.left_pipes.progress(poller, now);
        for concluded in concluded {
            for request in concluded.requests {
                server.answer(request, &concluded.answer);
            }
        }
        self.sweep();
    }

    /// Drops terminals that are over.
    pub(crate) fn sweep(&mut self) {
        let killer = &self.tree_killer;
        (self.inventory).sweep(|id| killer.is_ending(&TreeId::Terminal(id.clone())));
    }

    /// The server is gone: its requests are answered no more.
    pub(crate) fn server_gone(&mut self) {
        self.starts.server_gone(&mut self.inventory);
        self.tree_killer.drop_requests();
    }

    /// Begins to end all terminals.
    pub(crate) fn end_all(&mut self, grace: Duration, now: Instant) {
        let end = EndTree {
            signal: SIGHUP,
            grace,
        };
        for (id, _) in self.inventory.iter() {
            let tree = TreeId::Terminal(id.clone());
            self.tree_killer.start(&tree, end, None, now);
        }
    }

    /// Begins to end the processes that belong to no terminal. Which ones these are shows when the
    /// terminals have ended.
    pub(crate) fn end_orphans(&mut self, now: Instant) {
        let end = EndTree {
            signal: SIGTERM,
            grace: ORPHAN_GRACE,
        };
        self.tree_killer.start(&TreeId::Orphans, end, None, now);
    }

    /// Whether no tree is being ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.tree_killer.is_idle()
    }

    /// Sends SIGKILL to every process of every terminal, and to the orphans.
    pub(crate) fn kill_all(&self, server: &Supervisor) {
        for root in self
            .inventory
            .iter()
            .filter_map(|(_, terminal)| terminal.unreaped_root())
        {
            sys::kill_unreaped(Unreaped::GroupOf(root), SIGKILL);
            sys::kill_unreaped(Unreaped::Child(root), SIGKILL);
        }
        let trees = self.inventory.trees();
        let all = |scan: &Scan<'_>| scan.all().collect();
        for _ in 0..MAX_LAST_KILLS {
            let scan = Scan::stopping(&trees, self.excluded(server), &HashMap::new(), all);
            for process in scan.all() {
                signal_process(process, SIGKILL);
            }
            for tree in &trees {
                scan.kill_cgroup(&TreeId::Terminal(tree.identity.id.clone()));
            }
            if scan.all().next().is_none() {
                break;
            }
        }
    }
}

/// How a root that is not reaped yet has ended. At the hard limit of processor time the kernel kills
/// like any other sender; only the used time tells its kill apart.
fn final_status(ended: Ended, cpu_limit: Option<Duration>) -> WaitStatus {
    let is_killed = ended.status == WaitStatus::Signaled(SIGKILL);
    let Some(limit) = cpu_limit.filter(|_| is_killed) else {
        return ended.status;
    };
    let hard_limit = limit + Duration::from_secs(CPU_GRACE_SECONDS);
    match sys::limited_cpu_time(ended.pid) {
        Some(used) if used >= hard_limit => WaitStatus::CpuTimeUp,
        Some(_) | None => ended.status,
    }
}
