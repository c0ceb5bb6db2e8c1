//! Keeps a server running: starts it, pings it, replaces it when it dies, and talks to it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::libc::SIGKILL;
use rustix::fs::{Mode, OFlags};
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::command::ServerCommand;
use super::health::{self, BackOff};
use super::running::Running;
use super::trial::{Trial, Verdict};
use crate::inventory::Inventory;
use crate::poll::{Poller, Source};
use crate::process_tree::RequestNumber;
use crate::protocol::channel::Received;
use crate::protocol::message::{
    KeeperEvent, LEVEL, LEVEL_PIPES, LEVEL_STDIN, PROTOCOL_VERSION, ToServer, WaitStatus,
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

/// Which program a server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    /// The file that is there by now.
    OnDisk,
    /// The one of the last server that was ready.
    LastReady,
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
    /// The program of the last server that was ready, open.
    last_ready: Option<OwnedFd>,
    /// What the next server runs. A server that ended unasked brings no new program into force.
    next_program: Program,
    /// The trial of the program on disk, until it is reaped.
    trial: Option<Trial>,
    /// Another reload was requested during the trial.
    tries_again: bool,
    /// Why the program on disk was not taken at the last reload.
    reload_fault: Option<String>,
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
            last_ready: None,
            next_program: Program::OnDisk,
            trial: None,
            tries_again: false,
            reload_fault: None,
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
        let server = match &self.server {
            Server::Down { start_at } => Some(*start_at),
            Server::Up(running) => running.deadline(now),
        };
        let trial = self.trial.as_ref().and_then(Trial::deadline);
        server.into_iter().chain(trial).min()
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
        let program = match self.next_program {
            Program::OnDisk => None,
            Program::LastReady => self.last_ready.as_ref().map(OwnedFd::as_fd),
        };
        let (pid, control) = self.command.start(listener, program).ok()?;
        let token = poller.watch(control.as_fd(), Source::Server);
        if token.is_err() {
            sys::kill_unreaped(Unreaped::Child(pid), SIGKILL);
        }
        Some(Running::new(pid, control, token.ok()?, now))
    }

    /// Replaces the server by the program on disk. A server that serves stays until the program has
    /// passed its trial. What the trial shows follows from [`progress_trial`](Self::progress_trial) and
    /// [`trial_exited`](Self::trial_exited).
    pub(crate) fn reload(&mut self, poller: &mut Poller, now: Instant) -> Option<Verdict> {
        if let Some(trial) = &mut self.trial {
            trial.end();
            self.tries_again = true;
            return None;
        }
        let serves = matches!(&self.server, Server::Up(running) if running.is_serving());
        if !serves {
            self.hand_over(now);
            return None;
        }
        self.reload_fault = None;
        self.notify(KeeperEvent::Reloading);
        match Trial::start(&self.command, poller, now) {
            Ok(trial) => {
                self.trial = Some(trial);
                None
            }
            Err(error) => self.judge(Some(Verdict::Failed(error.to_string())), now),
        }
    }

    /// The pid of a program that is tried, until it is reaped.
    pub(crate) fn trial_pid(&self) -> Option<i32> {
        self.trial.as_ref().map(Trial::pid)
    }

    /// The pids of the server and of a program that is tried, until they are reaped.
    pub(crate) fn pids(&self) -> [Option<i32>; 2] {
        [self.pid(), self.trial_pid()]
    }

    /// Takes what a program that is tried has sent, and ends it when its time is up.
    pub(crate) fn progress_trial(&mut self, poller: &mut Poller, now: Instant) -> Option<Verdict> {
        let trial = self.trial.as_mut()?;
        let verdict = trial.receive(poller).or_else(|| trial.progress(now));
        self.judge(verdict, now)
    }

    /// The program that was tried has ended and is about to be reaped.
    pub(crate) fn trial_exited(
        &mut self,
        status: WaitStatus,
        poller: &mut Poller,
        now: Instant,
    ) -> Option<Verdict> {
        let mut trial = self.trial.take()?;
        let verdict = trial.exited(status, poller);
        trial.unwatch(poller);
        if std::mem::take(&mut self.tries_again) {
            return self.reload(poller, now);
        }
        self.judge(verdict, now)
    }

    fn judge(&mut self, verdict: Option<Verdict>, now: Instant) -> Option<Verdict> {
        self.reload_fault = match &verdict {
            None => return None,
            Some(Verdict::Passed) => None,
            Some(Verdict::Failed(reason)) => Some(reason.clone()),
        };
        match &self.reload_fault {
            None => self.hand_over(now),
            Some(_) => self.notify_reload_fault(),
        }
        verdict
    }

    fn notify_reload_fault(&mut self) {
        if let Some(reason) = self.reload_fault.clone() {
            self.notify(KeeperEvent::ReloadFailed { reason });
        }
    }

    /// Replaces the server, whatever comes after it.
    fn hand_over(&mut self, now: Instant) {
        self.is_recovery = false;
        self.next_program = Program::OnDisk;
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

    /// Ends a trial without a verdict: the daemon stops.
    pub(crate) fn cancel_reload(&mut self) {
        self.tries_again = false;
        if let Some(trial) = &mut self.trial {
            trial.end();
        }
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
        let was_ready = running.is_ready();
        running.unwatch(poller);
        match status {
            WaitStatus::Exited(code) if PERMANENT_FAILURES.contains(&code) && !self.was_ready => {
                AfterExit::GiveUp(u8::try_from(code).unwrap_or(1))
            }
            _ if hands_over => AfterExit::HandOver,
            _ => {
                if !was_ready && self.last_ready.is_some() {
                    self.try_other_program(status);
                }
                self.server = Server::Down {
                    start_at: now + self.back_off.after(age),
                };
                AfterExit::Restart
            }
        }
    }

    /// A server ended before it was ready: the next one runs the other program.
    fn try_other_program(&mut self, status: WaitStatus) {
        self.next_program = match self.next_program {
            Program::OnDisk => {
                let reason = format!("it {status} at its start: the log says why");
                self.reload_fault = Some(reason);
                Program::LastReady
            }
            Program::LastReady => Program::OnDisk,
        };
    }

    /// The server serves.
    pub(crate) fn ready(&mut self) {
        self.was_ready = true;
        let Server::Up(running) = &mut self.server else {
            return;
        };
        running.ready();
        let executable = format!("/proc/{}/exe", running.pid());
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        if let Ok(program) = rustix::fs::open(executable, flags, Mode::empty()) {
            self.last_ready = Some(program);
        }
        if self.next_program == Program::OnDisk {
            self.reload_fault = None;
        }
        // A server that is about to leave may have been ready too late for the reload.
        let leaves = running.hands_over();
        self.is_recovery = !leaves;
        if !leaves {
            self.next_program = Program::LastReady;
        }
    }

    /// Why the program on disk was not taken at the last reload.
    pub(crate) fn reload_fault(&self) -> Option<&str> {
        self.reload_fault.as_deref()
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
    /// A server that knows no pipes is not sent a terminal on pipes, which it would take for a PTY, and
    /// one that knows no input on a pipe is not sent a terminal that has it. Such a terminal waits, its
    /// pipes full, for a server that knows them.
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
            let needed_level = match (terminal.stdio(), terminal.has_stdin()) {
                (Stdio::Pty, _) => 0,
                (Stdio::Pipes, false) => LEVEL_PIPES,
                (Stdio::Pipes, true) => LEVEL_STDIN,
            };
            if terminal.is_visible() && server_level >= needed_level {
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
        if self.next_program == Program::LastReady {
            self.notify_reload_fault();
        }
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
