//! Keeps a server running: starts it, pings it, replaces it when it dies, and talks to it.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::libc::SIGKILL;
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::command::ServerCommand;
use super::health::{self, BackOff};
use super::running::Running;
use crate::inventory::Inventory;
use crate::poll::{Poller, Source};
use crate::process_tree::RequestNumber;
use crate::protocol::channel::Received;
use crate::protocol::message::{
    KeeperEvent, LEVEL, LEVEL_PIPES, PROTOCOL_VERSION, ToServer, WaitStatus,
};
use crate::sys::{self, Unreaped};

/// `EX_UNAVAILABLE` and `EX_CONFIG` of sysexits.h: another try would not help.
const PERMANENT_FAILURES: [i32; 2] = [69, 78];

/// The server, if there is one.
#[derive(Debug)]
enum Server {
    /// There is none; the next one starts then.
    Down { start_at: Instant },
    /// There is one, or it is not reaped yet.
    Up(Running),
}

/// What follows a server's exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterExit {
    /// The next one starts at once.
    HandOver,
    /// The next one starts after a pause.
    Restart,
    /// The first server gave up before it was ready, with this code.
    GiveUp(u8),
}

/// The server and everything that outlives one.
pub(crate) struct Supervisor {
    command: ServerCommand,
    server: Server,
    back_off: BackOff,
    /// A server was ready once: from then on the daemon has something to lose.
    was_ready: bool,
    /// The next server replaces one that ended unasked. `false` at the start of the daemon, and from a
    /// request to reload until a server is ready.
    is_recovery: bool,
    /// When a server last sent something.
    last_heard: Instant,
}

impl Supervisor {
    pub(crate) fn new(command: ServerCommand, now: Instant) -> Self {
        Self {
            command,
            server: Server::Down { start_at: now },
            back_off: BackOff::new(),
            was_ready: false,
            is_recovery: false,
            last_heard: now,
        }
    }

    /// Its pid, until it is reaped.
    pub(crate) fn pid(&self) -> Option<i32> {
        match &self.server {
            Server::Down { .. } => None,
            Server::Up(running) => Some(running.pid()),
        }
    }

    /// When something is due by time alone.
    pub(crate) fn deadline(&self, now: Instant) -> Option<Instant> {
        match &self.server {
            Server::Down { start_at } => Some(*start_at),
            Server::Up(running) => running.deadline(now),
        }
    }

    /// Starts, pings or ends the server, where that is due.
    pub(crate) fn progress(&mut self, listener: BorrowedFd<'_>, poller: &mut Poller, now: Instant) {
        match &mut self.server {
            Server::Down { start_at } if now >= *start_at => self.start(listener, poller, now),
            Server::Down { .. } => {}
            Server::Up(running) => running.progress(now),
        }
    }

    fn start(&mut self, listener: BorrowedFd<'_>, poller: &mut Poller, now: Instant) {
        self.server = match self.try_start(listener, poller, now) {
            Some(running) => Server::Up(running),
            None => Server::Down {
                start_at: now + self.back_off.after(Duration::ZERO),
            },
        };
    }

    fn try_start(
        &self,
        listener: BorrowedFd<'_>,
        poller: &mut Poller,
        now: Instant,
    ) -> Option<Running> {
        let (pid, control) = self.command.start(listener).ok()?;
        let token = poller.watch(control.as_fd(), Source::Server);
        if token.is_err() {
            sys::kill_unreaped(Unreaped::Child(pid), SIGKILL);
        }
        Some(Running::new(pid, control, token.ok()?, now))
    }

    /// Replaces the server by the program on disk.
    pub(crate) fn hand_over(&mut self, now: Instant) {
        self.is_recovery = false;
        match &mut self.server {
            Server::Down { start_at } => *start_at = now,
            Server::Up(running) => running.hand_over(now),
        }
    }

    /// Has a server store what is left in the spools and exit; one is started where there is none.
    pub(crate) fn finish(&mut self, now: Instant) {
        match &mut self.server {
            Server::Down { start_at } => *start_at = now,
            Server::Up(running) => running.expect_to_leave(now),
        }
        self.notify(KeeperEvent::Finish);
    }

    pub(crate) fn kill(&mut self) {
        if let Server::Up(running) = &mut self.server {
            running.kill();
        }
    }

    /// The server was reaped.
    pub(crate) fn exited(
        &mut self,
        status: WaitStatus,
        poller: &mut Poller,
        now: Instant,
    ) -> AfterExit {
        let down = Server::Down { start_at: now };
        let Server::Up(running) = std::mem::replace(&mut self.server, down) else {
            return AfterExit::HandOver;
        };
        let (hands_over, age) = (running.hands_over(), running.age(now));
        running.unwatch(poller);
        match status {
            WaitStatus::Exited(code) if PERMANENT_FAILURES.contains(&code) && !self.was_ready => {
                AfterExit::GiveUp(u8::try_from(code).unwrap_or(1))
            }
            _ if hands_over => AfterExit::HandOver,
            _ => {
                self.server = Server::Down {
                    start_at: now + self.back_off.after(age),
                };
                AfterExit::Restart
            }
        }
    }

    /// The server serves.
    pub(crate) fn ready(&mut self) {
        self.was_ready = true;
        // A server that is about to leave may have been ready too late for the reload.
        let leaves = matches!(&self.server, Server::Up(running) if running.hands_over());
        self.is_recovery = !leaves;
    }

    /// Whether a server was heard of recently enough to answer systemd's watchdog.
    pub(crate) fn is_well(&self, now: Instant) -> bool {
        health::may_vouch(self.last_heard, now)
    }

    /// The next packet from the server, if one is there.
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Received> {
        let Server::Up(running) = &mut self.server else {
            return None;
        };
        let received = running.receive(now)?;
        self.last_heard = now;
        Some(received)
    }

    /// Answers the server's first hello with ours and the inventory. Whether it was the first.
    ///
    /// A server that knows no pipes is not sent a terminal on pipes, which it would take for a PTY.
    /// Such a terminal waits, its pipes full, for a server that knows them.
    pub(crate) fn introduce(
        &mut self,
        server_level: u32,
        inventory: &Inventory,
        audit_head: Option<&[u8]>,
    ) -> bool {
        let Server::Up(running) = &mut self.server else {
            return false;
        };
        if !running.introduce() {
            return false;
        }
        let (version, level) = (PROTOCOL_VERSION, LEVEL);
        running.answer(0, &ToServer::Hello { version, level });
        for (id, terminal) in inventory.iter() {
            let is_understood = terminal.stdio() == Stdio::Pty || server_level >= LEVEL_PIPES;
            if terminal.is_visible() && is_understood {
                running.send(|link| link.queue_inventory(id.clone()));
            }
        }
        // An older server ignores what it does not know.
        if let Some(head) = audit_head.map(<[u8]>::to_vec) {
            running.answer(0, &ToServer::AuditHead { head });
        }
        if self.is_recovery {
            running.answer(0, &ToServer::Recovery);
        }
        running.answer(0, &ToServer::InventoryEnd);
        true
    }

    fn introduced(&mut self) -> Option<&mut Running> {
        match &mut self.server {
            Server::Up(running) if running.is_introduced() => Some(running),
            _ => None,
        }
    }

    /// Answers a request of the server.
    pub(crate) fn answer(&mut self, request: RequestNumber, message: &ToServer) {
        if let Some(running) = self.introduced() {
            running.answer(request, message);
        }
    }

    /// Sends the answer that a terminal was started.
    pub(crate) fn answer_spawned(&mut self, request: RequestNumber, id: &TerminalId) {
        if let Some(running) = self.introduced() {
            running.send(|link| link.queue_spawned(request, id.clone()));
        }
    }

    /// Sends an event. Without a server it is dropped: the next one learns it from the inventory.
    pub(crate) fn notify(&mut self, event: KeeperEvent) {
        self.answer(0, &ToServer::Event(event));
    }

    /// Sends a terminal's exit, unless the terminal as a whole is still to be sent.
    pub(crate) fn notify_exit(&mut self, id: &TerminalId, status: WaitStatus) {
        let is_queued = (self.introduced()).is_some_and(|running| running.link().will_send(id));
        if !is_queued {
            let id = id.clone();
            self.notify(KeeperEvent::Exited { id, status });
        }
    }

    /// Sends what is queued.
    pub(crate) fn flush(&mut self, inventory: &Inventory, poller: &Poller) {
        if let Server::Up(running) = &mut self.server {
            running.flush(inventory, poller);
        }
    }
}
