//! Starting terminals: fork, pause, release, and the answer once the command was executed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::time::{Duration, Instant};

use nix::libc::{SIGHUP, SIGKILL};
use rustix::io::Errno;
use termd_proto::TerminalId;

use crate::inventory::{Inventory, Start, Terminal};
use crate::launch::{Launcher, Progress};
use crate::poll::{Poller, Source};
use crate::process_tree::{RequestNumber, TreeId, TreeKiller, signal_process};
use crate::protocol::message::{
    EndTree, ExecRelease, KeeperEvent, MAX_NOTES_BYTES, Refusal, SpawnFailure, SpawnRequest,
    SpawnStep, ToServer,
};
use crate::reap::reap;
use crate::server::Supervisor;
use crate::sys::{self, Unreaped};

/// Starts terminals.
#[derive(Debug)]
pub(super) struct Starts {
    launcher: Launcher,
    /// Paused commands that failed before their release, which gets the failure as its answer.
    failed_while_paused: BTreeMap<TerminalId, SpawnFailure>,
}

impl Starts {
    pub(super) fn new(launcher: Launcher) -> Self {
        Self {
            launcher,
            failed_while_paused: BTreeMap::new(),
        }
    }

    /// Forks a command. A paused one is answered with [`ToServer::Paused`] now, any other when it
    /// was executed.
    pub(super) fn spawn(
        &mut self,
        number: RequestNumber,
        request: SpawnRequest,
        fds: Vec<OwnedFd>,
        inventory: &mut Inventory,
        poller: &mut Poller,
    ) -> Result<Option<ToServer>, SpawnFailure> {
        // EAGAIN as from fork(2) at a limit on processes; the server explains the limits itself.
        if inventory.is_full() || request.notes.len() > MAX_NOTES_BYTES {
            return Err(SpawnStep::Fork.failed(Errno::AGAIN));
        }
        let id = request.id.clone();
        if inventory.contains(&id) || self.failed_while_paused.contains_key(&id) {
            return Err(SpawnStep::Fork.failed(Errno::EXIST));
        }
        let is_paused = request.pause.is_some();
        let launched = self.launcher.launch(&request, fds)?;
        let process = launched.root;
        let Ok(token) = poller.watch(&launched.start, Source::Start(id.clone())) else {
            // Nothing would ever report how the start went. What the child does now is irrelevant.
            signal_process(process, SIGKILL);
            return Err(SpawnStep::Fork.failed(Errno::NOSPC));
        };
        let (mut terminal, pending) = Terminal::new(request, launched);
        terminal.set_start(Start {
            pending,
            request: (!is_paused).then_some(number),
            token,
        });
        inventory.insert(id, terminal);
        Ok(is_paused.then_some(ToServer::Paused { process }))
    }

    /// Continues a paused command or cancels it. The answer follows when it was executed or has
    /// failed, unless there is nothing to release.
    pub(super) fn release(
        &mut self,
        number: RequestNumber,
        id: &TerminalId,
        release: ExecRelease,
        inventory: &mut Inventory,
    ) -> Result<(), Refusal> {
        if let Some(failure) = self.failed_while_paused.remove(id) {
            return Err(Refusal::Spawn(failure));
        }
        // A command that waited too long is gone, too.
        let terminal = inventory.get_mut(id).ok_or(Refusal::UnknownTerminal)?;
        let start = (terminal.start_mut())
            .filter(|start| start.pending.is_paused())
            .ok_or(Refusal::UnknownTerminal)?;
        start.request = Some(number);
        match release {
            ExecRelease::Run { cgroup } => {
                start.pending.release();
                if !cgroup.is_empty() {
                    terminal.set_cgroup(OsString::from_vec(cgroup).into());
                }
            }
            ExecRelease::Cancel => start.pending.cancel(),
        }
        Ok(())
    }

    /// A start's error pipe is readable, or its root has ended.
    pub(super) fn progress(
        &mut self,
        id: &TerminalId,
        inventory: &mut Inventory,
        tree_killer: &mut TreeKiller,
        poller: &mut Poller,
        server: &mut Supervisor,
    ) {
        let Some(terminal) = inventory.get_mut(id) else {
            return;
        };
        let progress = terminal.poll_start();
        if progress == Progress::Pending {
            return;
        }
        // Only a start that is over says whose root can be reaped.
        let unreaped_root = terminal.unreaped_root();
        let Some(start) = terminal.take_start() else {
            return;
        };
        poller.unwatch(start.token, &start);
        match (progress, start.request) {
            (Progress::Failed(failure), request) => {
                if let Some(root) = unreaped_root {
                    // bubblewrap may not have noticed yet that it is over.
                    sys::kill_unreaped(Unreaped::Child(root), SIGKILL);
                    reap(root);
                }
                inventory.remove(id);
                tree_killer.cancel(&TreeId::Terminal(id.clone()), poller);
                if let Some(stderr) = start.pending.builder_stderr() {
                    let id = id.clone();
                    server.notify(KeeperEvent::BuilderFailed { id, stderr });
                }
                if let Some(request) = request {
                    server.answer(request, &ToServer::Refused(Refusal::Spawn(failure)));
                } else if start.pending.is_paused() {
                    self.failed_while_paused.insert(id.clone(), failure);
                }
            }
            (_, Some(request)) => {
                server.answer_spawned(request, id);
                if let Some(status) = terminal.status() {
                    server.notify_exit(id, status);
                }
            }
            (_, None) => Self::disown(id, terminal, tree_killer),
        }
    }

    /// Ends a command that was executed after the server which requested it had died. No server was
    /// told its id, and none ever will be.
    fn disown(id: &TerminalId, terminal: &mut Terminal, tree_killer: &mut TreeKiller) {
        terminal.forget();
        let tree = TreeId::Terminal(id.clone());
        if !tree_killer.is_ending(&tree) {
            let end = EndTree {
                signal: SIGHUP,
                grace: Duration::ZERO,
            };
            tree_killer.start(&tree, end, None, Instant::now());
        }
    }

    /// The server is gone: what it paused is cancelled, and nothing it requested is answered.
    pub(super) fn server_gone(&mut self, inventory: &mut Inventory) {
        self.failed_while_paused.clear();
        for start in inventory.starts_mut() {
            start.request = None;
            start.pending.cancel();
        }
    }
}
