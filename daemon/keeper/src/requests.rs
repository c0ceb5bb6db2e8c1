//! What a server asks of the keeper, and the answers.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::time::{Duration, Instant};

use nix::libc::{EAGAIN, EEXIST, SIGHUP, SIGKILL};
use rustix::event::epoll::EventFlags;
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::ending::Ending;
use super::event_loop::{Keeper, Source, Token};
use super::exec_gate::Gate;
use super::inventory::{Known, RequestNumber, Start, Terminal};
use super::reaping::reap_pid;
use super::spawn;
use super::stopping::Stage;
use super::supervision::{Running, Server};
use super::sys::{self, SIGNALS, Unreaped};
use crate::protocol::channel::{ChannelError, Packet};
use crate::protocol::message::{
    Hold, KeeperEvent, LEVEL, LEVEL_PIPES, LetGo, MAX_NOTES_BYTES, PROTOCOL_VERSION, Refusal,
    SpawnFailure, SpawnRequest, SpawnStep, ToKeeper, ToServer,
};

/// Requests taken in one turn, so that children are reaped between them.
const REQUESTS_A_TURN: usize = 64;

impl Keeper {
    /// The control socket is ready.
    pub(super) fn converse(&mut self, ready: EventFlags) {
        if !ready.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return;
        }
        for _ in 0..REQUESTS_A_TURN {
            let Server::Up(running) = &mut self.server else {
                return;
            };
            let now = Instant::now();
            match running.link().receive() {
                Ok(received) => {
                    running.heard(now);
                    self.last_sign_of_life = now;
                    self.take_packet(&received.packet, now);
                }
                Err(ChannelError::WouldBlock) => return,
                // It is on its way out, most likely; its exit says more than its silence.
                Err(ChannelError::Closed) => {
                    running.expect_to_leave(now);
                    running.close();
                    return;
                }
                Err(ChannelError::Cut | ChannelError::Malformed(_) | ChannelError::Io(_)) => {
                    running.kill();
                    return;
                }
            }
        }
    }

    fn take_packet(&mut self, packet: &Packet, now: Instant) {
        let request = packet.request;
        match ToKeeper::decode(packet.kind, &packet.body) {
            Err(_) => self.answer(request, &ToServer::Refused(Refusal::Invalid)),
            // A newer server's; it learns from the silence of an older keeper.
            Ok(None) => {}
            Ok(Some(message)) => self.take_message(request, message, now),
        }
    }

    fn take_message(&mut self, request: RequestNumber, message: ToKeeper, now: Instant) {
        match message {
            ToKeeper::Hello { level, .. } => self.introduce(level),
            ToKeeper::Pong => {}
            ToKeeper::Spawn(spawn) => self.spawn(request, *spawn),
            ToKeeper::Ready => {
                self.server_ready();
                self.answer(request, &ToServer::Done);
            }
            ToKeeper::EndTree { end, .. } if !SIGNALS.contains(&end.signal) => {
                self.answer(request, &ToServer::Refused(Refusal::Invalid));
            }
            ToKeeper::EndTree { id, end } => {
                if self.inventory.shown(&id).is_some() {
                    self.end_tree(&id, end, request, now);
                } else {
                    self.answer(request, &ToServer::Refused(Refusal::UnknownTerminal));
                }
            }
            ToKeeper::SignalTree { id, signal } => {
                let answer = if !SIGNALS.contains(&signal) {
                    ToServer::Refused(Refusal::Invalid)
                } else if self.inventory.shown(&id).is_some() {
                    self.signal_tree(&id, signal);
                    ToServer::Done
                } else {
                    ToServer::Refused(Refusal::UnknownTerminal)
                };
                self.answer(request, &answer);
            }
            ToKeeper::SetNotes { id, notes } => {
                let answer = match self.inventory.shown_mut(&id) {
                    None => ToServer::Refused(Refusal::UnknownTerminal),
                    Some(_) if notes.len() > MAX_NOTES_BYTES => ToServer::Refused(Refusal::Invalid),
                    Some(terminal) => {
                        terminal.notes = notes;
                        ToServer::Done
                    }
                };
                self.answer(request, &answer);
            }
            ToKeeper::LetGo { id, how } => self.let_held_go(request, &id, how),
            ToKeeper::Release { id } => self.let_go(request, &id, Terminal::release),
            ToKeeper::Forget { id } => self.let_go(request, &id, Terminal::forget),
        }
    }

    fn let_go(&mut self, request: RequestNumber, id: &TerminalId, how: fn(&mut Terminal)) {
        let answer = match self.inventory.shown_mut(id) {
            None => ToServer::Refused(Refusal::UnknownTerminal),
            Some(terminal) => {
                how(terminal);
                ToServer::Done
            }
        };
        self.inventory.sweep();
        self.answer(request, &answer);
    }

    /// The server, once it was told what there is.
    pub(super) fn introduced(&mut self) -> Option<&mut Running> {
        match &mut self.server {
            Server::Up(running) if running.introduced => Some(running),
            _ => None,
        }
    }

    /// Tells the server something unasked, if there is one; the next learns it from the inventory.
    pub(super) fn tell(&mut self, message: &ToServer) {
        self.answer(0, message);
    }

    /// Answers one of its requests.
    pub(super) fn answer(&mut self, request: RequestNumber, message: &ToServer) {
        if let Some(running) = self.introduced() {
            running.send(request, message);
        }
    }

    /// A server that knows no pipes is not shown what runs on them: it would read them as a PTY.
    /// They wait, full, for one that does.
    fn introduce(&mut self, servers_level: u32) {
        let Server::Up(running) = &mut self.server else {
            return;
        };
        if std::mem::replace(&mut running.introduced, true) {
            return;
        }
        let (version, level) = (PROTOCOL_VERSION, LEVEL);
        running.send(0, &ToServer::Hello { version, level });
        for (id, terminal) in self.inventory.iter() {
            let understood = terminal.stdio == Stdio::Pty || servers_level >= LEVEL_PIPES;
            if terminal.is_shown() && understood {
                let queued = running.link_mut().queue_inventory(id.clone());
                running.or_kill(&queued);
            }
        }
        running.send(0, &ToServer::InventoryEnd);
        self.tell_stage();
    }

    fn spawn(&mut self, request: RequestNumber, spawn: SpawnRequest) {
        if self.stage != Stage::Serving {
            return self.answer(request, &ToServer::Refused(Refusal::Stopping));
        }
        if let Err(failure) = self.try_spawn(request, spawn) {
            self.answer(request, &ToServer::Refused(Refusal::Spawn(failure)));
        }
    }

    fn try_spawn(
        &mut self,
        request: RequestNumber,
        spawn: SpawnRequest,
    ) -> Result<(), SpawnFailure> {
        let refuse = |errno| SpawnFailure {
            step: SpawnStep::Fork,
            errno,
        };
        // As fork(2) says at a limit on processes; the caps above are the server's to explain.
        if self.inventory.is_full() || spawn.notes.len() > MAX_NOTES_BYTES {
            return Err(refuse(EAGAIN));
        }
        if self.inventory.contains(&spawn.id) || self.failed_held.contains_key(&spawn.id) {
            return Err(refuse(EEXIST));
        }
        let launched = spawn::launch(&spawn, self.open_files, &self.own_places)?;
        let source = Source::ErrorPipe(spawn.id.clone());
        let Some(watched) = self.watch(launched.error_pipe.as_fd(), source) else {
            // Nobody would ever learn how it went. What the child is doing now does not matter.
            super::endings::signal_process(launched.root, SIGKILL);
            return Err(refuse(nix::libc::ENOSPC));
        };
        // While it is held, the answer is that it is held.
        let asked_by = spawn.hold == Hold::No;
        let terminal = Terminal {
            root: launched.root,
            fds: Some(launched.fds),
            stdio: spawn.stdio,
            tty: launched.tty,
            known: Known::Yes,
            status: None,
            enforced: launched.enforced,
            cpu_limit: spawn
                .confinement
                .limits
                .cpu_seconds
                .map(Duration::from_secs),
            notes: spawn.notes,
            cgroup: None,
            start: Start::Pending {
                error_pipe: launched.error_pipe,
                asked_by: asked_by.then_some(request),
                gate: launched.gate,
                lead: launched.lead,
                watched,
            },
            ending: None,
            waiters: Vec::new(),
        };
        let process = terminal.root;
        self.inventory.insert(spawn.id, terminal);
        if spawn.hold != Hold::No {
            self.answer(request, &ToServer::Held { process });
        }
        Ok(())
    }

    /// Goes on with a held command, or gives it up. Whoever asks is answered as for a start.
    fn let_held_go(&mut self, request: RequestNumber, id: &TerminalId, how: LetGo) {
        if let Some(failure) = self.failed_held.remove(id) {
            return self.answer(request, &ToServer::Refused(Refusal::Spawn(failure)));
        }
        let held = self.inventory.get_mut(id);
        let Some((asked_by, gate, own_cgroup)) =
            held.and_then(|terminal| match &mut terminal.start {
                Start::Pending { asked_by, gate, .. } if matches!(gate, Gate::Shut(_)) => {
                    Some((asked_by, gate, &mut terminal.cgroup))
                }
                Start::Pending { .. } | Start::Done => None,
            })
        else {
            // It could wait no longer, or never was.
            return self.answer(request, &ToServer::Refused(Refusal::UnknownTerminal));
        };
        *asked_by = Some(request);
        match how {
            LetGo::Run { cgroup } => {
                *own_cgroup = (!cgroup.is_empty()).then(|| OsString::from_vec(cgroup).into());
                gate.open();
            }
            LetGo::GiveUp => gate.give_up(),
        }
    }

    /// A starting child's error pipe is ready.
    pub(super) fn conclude_start(&mut self, id: &TerminalId, token: Token) {
        let Some(terminal) = self.inventory.get_mut(id) else {
            return;
        };
        let Some(concluded) = terminal.conclude() else {
            return;
        };
        let said = terminal.lead().and_then(|lead| lead.said());
        let unreaped = terminal.unreaped_root();
        let status = terminal.status;
        let start = std::mem::replace(&mut terminal.start, Start::Done);
        let asked_by = match &start {
            Start::Pending { asked_by, .. } => *asked_by,
            Start::Done => None,
        };
        self.unwatch(token);
        if let Start::Pending { error_pipe, .. } = &start {
            self.ignore(error_pipe.as_fd());
        }
        match (concluded, asked_by) {
            (Err(failure), _) => {
                if let Some(root) = unreaped {
                    // A builder may not have seen yet that it is over.
                    sys::kill_unreaped(Unreaped::Child(root), SIGKILL);
                    reap_pid(root);
                }
                self.inventory.remove(id);
                if let Some(said) = said {
                    let id = id.clone();
                    self.tell(&ToServer::Event(KeeperEvent::BuilderFailed { id, said }));
                }
                let gate = match start {
                    Start::Pending { gate, .. } => gate,
                    Start::Done => Gate::Open,
                };
                match (asked_by, gate) {
                    (Some(request), _) => {
                        self.answer(request, &ToServer::Refused(Refusal::Spawn(failure)));
                    }
                    (None, Gate::Shut(_)) => {
                        self.failed_held.insert(id.clone(), failure);
                    }
                    (None, Gate::Open) => {}
                }
            }
            (Ok(()), Some(request)) => {
                if let Some(running) = self.introduced() {
                    let queued = running.link_mut().queue_spawned(request, id.clone());
                    running.or_kill(&queued);
                }
                if let Some(status) = status {
                    let id = id.clone();
                    self.tell_exit(&KeeperEvent::Exited { id, status });
                }
            }
            (Ok(()), None) => self.disown(id),
        }
    }

    /// Ends a command that started after the server which asked for it had died: nobody was told
    /// its id, and nobody ever will be.
    fn disown(&mut self, id: &TerminalId) {
        if let Some(terminal) = self.inventory.get_mut(id) {
            let ending = Ending::new(SIGHUP, Duration::ZERO, Instant::now());
            terminal.ending.get_or_insert(ending);
            terminal.forget();
        }
    }
}
