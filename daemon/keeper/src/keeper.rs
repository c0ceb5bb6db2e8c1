//! The keeper's loop: one epoll, everything that can happen, and what is due by time alone.
//!
//! Each turn handles what is ready, then reaps, then lets server, trees and shutdown take their next
//! step, then sends what is queued. A server therefore learns of an exit before the end of its tree,
//! in whatever order the kernel reports the two.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::epoll::EventFlags;
use rustix::process::{Resource, Rlimit};

use crate::cgroup::Delegation;
use crate::confine::DaemonDirs;
use crate::detach::Reporter;
use crate::error::KeeperStartError;
use crate::launch::Launcher;
use crate::listener::{self, Listener};
use crate::lock::Lock;
use crate::notify::Notifier;
use crate::options::KeeperOptions;
use crate::poll::{Poller, Source};
use crate::protocol::channel::{Packet, Received};
use crate::protocol::message::{
    KeeperEvent, MAX_AUDIT_HEAD_BYTES, Refusal, ToKeeper, ToServer, WaitStatus,
};
use crate::reap;
use crate::server::{AfterExit, ServerCommand, Supervisor, Verdict};
use crate::sys;
use crate::terminals::Terminals;

/// Requests taken in one turn, so that children are reaped in between.
const MAX_REQUESTS_PER_TURN: usize = 64;

/// How long the last server has to store what is left in the spools.
const FINISH_LIMIT: Duration = Duration::from_secs(10);

/// How far the daemon is on its way to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It serves.
    Serving,
    /// The terminals are being ended. A server that dies meanwhile is replaced as ever.
    EndingTerminals,
    /// The terminals have ended. Processes that belong to none of them are being ended.
    EndingOrphans,
    /// All terminals have ended and a server stores the rest. The keeper leaves without it then.
    Finishing { give_up_at: Instant },
}

/// Everything that outlives a server.
pub(crate) struct Keeper {
    listener: Listener,
    signals: SignalFd,
    poller: Poller,
    server: Supervisor,
    terminals: Terminals,
    notifier: Notifier,
    reporter: Reporter,
    kill_grace: Duration,
    /// The head of the audit chain, as a server has set it.
    audit_head: Option<Vec<u8>>,
    stage: Stage,
    exit: Option<u8>,
    _locks: [Lock; 2],
}

impl Keeper {
    /// Takes locks, socket and signals. Starts nothing yet.
    pub(crate) fn new(options: KeeperOptions) -> Result<Self, KeeperStartError> {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        // Before the socket exists, so that no SIGTERM leaves one behind.
        let signals =
            take_signals().map_err(|errno| KeeperStartError::system("take over signals", errno))?;
        let socket_path = &options.socket_path;
        listener::private_directory(&options.state_dir)?;
        // First, so that a second daemon leaves no directory for its socket behind.
        let database_lock = Lock::take(&options.state_dir.join("termd.lock"), socket_path)?;
        listener::prepare_directory(socket_path)?;
        let mut lock_path = socket_path.clone().into_os_string();
        lock_path.push(".lock");
        let locks = [Lock::take(lock_path.as_ref(), socket_path)?, database_lock];
        let listener = match Listener::from_systemd(&environment)? {
            Some(listener) => listener,
            None => Listener::bind(socket_path)?,
        };
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(|errno| KeeperStartError::system("become a subreaper", errno))?;
        let mut poller =
            Poller::new().map_err(|errno| KeeperStartError::system("make an epoll", errno))?;
        poller
            .watch(&signals, Source::Signals)
            .map_err(|errno| KeeperStartError::system("watch for signals", errno))?;
        let now = Instant::now();
        let notifier = Notifier::new(&environment, now);
        let dirs = DaemonDirs::new(socket_path, &options.state_dir)?;
        let command = ServerCommand::new(
            options.server_program.into_os_string(),
            options.server_args,
            environment,
        )
        .map_err(|source| KeeperStartError::system("prepare the server", source))?;
        // The locks are held, and nothing is forked yet.
        let launcher = Launcher::new(raise_open_files(), dirs, Delegation::take());
        Ok(Self {
            listener,
            signals,
            poller,
            server: Supervisor::new(command, now),
            terminals: Terminals::new(launcher, now),
            notifier,
            reporter: Reporter::none(),
            kill_grace: options.kill_grace,
            audit_head: None,
            stage: Stage::Serving,
            exit: None,
            _locks: locks,
        })
    }

    /// Runs until the daemon ends.
    pub(crate) fn run(mut self, reporter: Reporter) -> ExitCode {
        self.reporter = reporter;
        let code = loop {
            self.turn();
            if let Some(code) = self.exit {
                break code;
            }
        };
        // Something may have been forked since the last scan.
        self.terminals.kill_all(&self.server);
        self.terminals.sweep();
        self.listener.unlink();
        ExitCode::from(code)
    }

    fn turn(&mut self) {
        let now = Instant::now();
        self.progress(now);
        if self.exit.is_some() {
            return;
        }
        let deadline = self.next_deadline(now);
        let timeout = deadline.map(|deadline| deadline.saturating_duration_since(now));
        for (token, events) in self.poller.wait(timeout) {
            // A source that was removed earlier in this turn is not there any more.
            if let Some(source) = self.poller.source(token) {
                self.handle(source, events);
            }
        }
        // Not only on SIGCHLD: a pidfd may report an end before the signal comes.
        self.reap();
    }

    /// Does what is due by time alone, and sends what is queued.
    fn progress(&mut self, now: Instant) {
        let listener = self.listener.as_fd();
        self.server.progress(listener, &mut self.poller, now);
        self.progress_trial(now);
        self.notifier.feed_watchdog(self.server.is_well(now), now);
        (self.terminals).progress(&mut self.poller, &mut self.server, now);
        self.progress_shutdown(now);
        self.server.flush(self.terminals.inventory(), &self.poller);
    }

    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let give_up_at = match self.stage {
            Stage::Finishing { give_up_at } => Some(give_up_at),
            Stage::Serving | Stage::EndingTerminals | Stage::EndingOrphans => None,
        };
        [
            self.server.deadline(now),
            self.terminals.deadline(),
            self.notifier.deadline(),
            give_up_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn handle(&mut self, source: Source, events: EventFlags) {
        match source {
            Source::Signals => self.handle_signals(),
            Source::Server => {
                if events.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                    self.handle_requests();
                }
            }
            // Every turn looks at the trial.
            Source::Trial => {}
            Source::Start(id) => {
                (self.terminals).progress_start(&id, &mut self.poller, &mut self.server);
            }
            Source::LeftPipe(number) => {
                (self.terminals).left_pipe_ready(number, &mut self.poller);
            }
            Source::Process(id, process) => {
                (self.terminals).process_ended(&id, process, &mut self.poller);
            }
        }
    }

    fn handle_signals(&mut self) {
        while let Ok(Some(info)) = self.signals.read_signal() {
            match Signal::try_from(info.ssi_signo.cast_signed()) {
                Ok(Signal::SIGHUP) if self.stage == Stage::Serving => {
                    self.notifier.reloading();
                    let verdict = self.server.reload(&mut self.poller, Instant::now());
                    self.tell_verdict(verdict.as_ref());
                }
                Ok(Signal::SIGTERM | Signal::SIGINT) => self.stop(Instant::now()),
                // SIGCHLD: every turn reaps.
                _ => {}
            }
        }
    }

    fn progress_trial(&mut self, now: Instant) {
        let verdict = self.server.progress_trial(&mut self.poller, now);
        self.tell_verdict(verdict.as_ref());
    }

    /// Tells systemd that a reload has failed. One that goes on ends with the next server's readiness.
    fn tell_verdict(&self, verdict: Option<&Verdict>) {
        if matches!(verdict, Some(Verdict::Failed(_))) {
            self.tell_serving();
        }
    }

    fn tell_serving(&self) {
        let status = match self.server.reload_fault() {
            None => "Serving".to_owned(),
            Some(reason) => format!("Serving. Not reloaded: {reason}"),
        };
        self.notifier.send(&format!("READY=1\nSTATUS={status}"));
    }

    fn handle_requests(&mut self) {
        for _ in 0..MAX_REQUESTS_PER_TURN {
            let now = Instant::now();
            let Some(Received { packet, fds }) = self.server.receive(now) else {
                return;
            };
            if let Some(answer) = self.handle_request(&packet, fds, now) {
                self.server.answer(packet.request, &answer);
            }
        }
    }

    fn handle_request(
        &mut self,
        packet: &Packet,
        fds: Vec<OwnedFd>,
        now: Instant,
    ) -> Option<ToServer> {
        match ToKeeper::decode(packet.kind, &packet.body) {
            Err(_) => Some(ToServer::Refused(Refusal::Invalid)),
            // A newer server's request; the silence tells it that this keeper is older.
            Ok(None) => None,
            Ok(Some(ToKeeper::Hello { level, .. })) => {
                let head = self.audit_head.as_deref();
                if (self.server).introduce(level, self.terminals.inventory(), head) {
                    self.notify_stage();
                }
                None
            }
            Ok(Some(ToKeeper::Ready)) => {
                self.server.ready();
                if self.stage == Stage::Serving {
                    self.tell_serving();
                }
                self.reporter.ready();
                Some(ToServer::Done)
            }
            Ok(Some(ToKeeper::SetAuditHead { head })) => {
                if head.len() > MAX_AUDIT_HEAD_BYTES {
                    return Some(ToServer::Refused(Refusal::Invalid));
                }
                self.audit_head = Some(head);
                Some(ToServer::Done)
            }
            Ok(Some(ToKeeper::Spawn(_))) if self.stage != Stage::Serving => {
                Some(ToServer::Refused(Refusal::Stopping))
            }
            Ok(Some(request)) => {
                let (poller, server) = (&mut self.poller, &self.server);
                (self.terminals).handle(packet.request, request, fds, poller, server, now)
            }
        }
    }

    /// Tells a server that was just introduced how far the shutdown is.
    fn notify_stage(&mut self) {
        if self.stage != Stage::Serving {
            self.server.notify(KeeperEvent::Stopping);
        }
        if matches!(self.stage, Stage::Finishing { .. }) {
            self.server.notify(KeeperEvent::Finish);
        }
    }

    fn reap(&mut self) {
        while let Some(ended) = reap::next_ended() {
            let now = Instant::now();
            if self.server.pid() == Some(ended.pid) {
                reap::reap(ended.pid);
                self.server_exited(ended.status, now);
            } else if self.server.trial_pid() == Some(ended.pid) {
                let verdict = (self.server).trial_exited(ended.status, &mut self.poller, now);
                reap::reap(ended.pid);
                self.tell_verdict(verdict.as_ref());
            } else {
                let (poller, server) = (&mut self.poller, &mut self.server);
                self.terminals.reap_child(ended, poller, server, now);
            }
        }
        self.terminals.sweep();
    }

    fn server_exited(&mut self, status: WaitStatus, now: Instant) {
        self.terminals.server_gone();
        let after = self.server.exited(status, &mut self.poller, now);
        let is_finished =
            matches!(self.stage, Stage::Finishing { .. }) && status == WaitStatus::Exited(0);
        match after {
            AfterExit::GiveUp(code) => {
                self.exit = Some(code);
                self.reporter.server_failed(code);
            }
            _ if is_finished => self.exit = Some(0),
            AfterExit::HandOver => {}
            AfterExit::Restart => {
                let said = format!("The server {status}; starting the next");
                // What it wrote to its standard error stands before this in the log.
                let _ = writeln!(io::stderr(), "termd: {said}");
                self.notifier.send(&format!("STATUS={said}"));
            }
        }
    }

    /// Stops the daemon. A second call leaves at once.
    fn stop(&mut self, now: Instant) {
        if self.stage != Stage::Serving {
            self.server.kill();
            self.exit = Some(1);
            return;
        }
        self.stage = Stage::EndingTerminals;
        self.server.cancel_reload();
        self.notifier.send("STOPPING=1\nSTATUS=Ending terminals");
        self.server.notify(KeeperEvent::Stopping);
        self.terminals.end_all(self.kill_grace, now);
    }

    fn progress_shutdown(&mut self, now: Instant) {
        match self.stage {
            Stage::EndingTerminals if self.terminals.is_idle() => {
                self.stage = Stage::EndingOrphans;
                self.terminals.end_orphans(now);
            }
            Stage::EndingOrphans if self.terminals.is_idle() => {
                self.stage = Stage::Finishing {
                    give_up_at: now + FINISH_LIMIT,
                };
                self.server.finish(now);
            }
            Stage::Finishing { give_up_at } if now >= give_up_at => {
                self.server.kill();
                self.exit.get_or_insert(0);
            }
            _ => {}
        }
    }
}

/// Blocks the signals that the keeper reads from a descriptor.
fn take_signals() -> nix::Result<SignalFd> {
    let mut taken = SigSet::empty();
    for signal in [
        Signal::SIGCHLD,
        Signal::SIGHUP,
        Signal::SIGTERM,
        Signal::SIGINT,
    ] {
        taken.add(signal);
        // An ignored signal (nohup) would never reach the descriptor.
        sys::default_disposition(signal as i32);
    }
    nix::sys::signal::sigprocmask(SigmaskHow::SIG_BLOCK, Some(&taken), None)?;
    sys::remember_dispositions();
    SignalFd::with_flags(&taken, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Raises the soft limit on open files to the hard one: the keeper has four for each terminal and
/// one for each process that is being ended. Returns the limit as it was.
fn raise_open_files() -> Rlimit {
    let original = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: original.maximum,
        maximum: original.maximum,
    };
    // Where it fails, the original limit is enough for a while.
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
    original
}
