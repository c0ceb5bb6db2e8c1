//! The loop: one epoll, everything that can happen, and what is due by time alone.
//!
//! Each turn handles what is ready, then reaps, then lets endings, server and stopping take their
//! next step, then sends what is queued. So an exit is told before the end of its tree is, whatever
//! order the kernel reports them in.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{Timespec, epoll};
use rustix::process::{Resource, Rlimit};
use termd_proto::TerminalId;

use super::confine::OwnPlaces;
use super::detach::Reporter;
use super::health::BackOff;
use super::inventory::Inventory;
use super::lock::Lock;
use super::notify::Notifier;
use super::server_process::ServerCommand;
use super::socket::{self, Listener};
use super::stopping::Stage;
use super::supervision::Server;
use super::sys;
use super::{KeeperOptions, KeeperStartError};
use crate::protocol::message::ProcessId;
use crate::protocol::message::SpawnFailure;

/// Events taken from the kernel at once.
const EVENTS_A_TURN: usize = 256;

/// What a descriptor in the epoll is.
#[derive(Debug)]
pub(super) enum Source {
    Signals,
    /// The control socket of the server that is there now.
    Control,
    /// How a terminal's start went.
    ErrorPipe(TerminalId),
    /// A process of a terminal that is being ended.
    Member {
        terminal: TerminalId,
        process: ProcessId,
        pidfd: OwnedFd,
    },
}

/// The number by which epoll names a source. Never reused, so that an event of a source that was
/// dropped in the same turn finds nothing.
pub(super) type Token = u64;

/// Everything that the keeper holds.
pub(super) struct Keeper {
    pub(super) options: KeeperOptions,
    pub(super) listener: Listener,
    pub(super) inventory: Inventory,
    /// Held commands that came to nothing before they were let go: whoever does is told.
    pub(super) failed_held: BTreeMap<TerminalId, SpawnFailure>,
    pub(super) server_command: ServerCommand,
    pub(super) server: Server,
    pub(super) back_off: BackOff,
    /// A server was ready once: from then on there is something to lose.
    pub(super) was_ready: bool,
    /// When a server last said something.
    pub(super) last_sign_of_life: Instant,
    pub(super) next_watchdog: Option<Instant>,
    pub(super) notifier: Notifier,
    pub(super) reporter: Option<Reporter>,
    pub(super) stage: Stage,
    /// No scan of /proc before: scanning takes half of the keeper's time at the most.
    pub(super) next_scan: Instant,
    /// The limit on open files that children get back.
    pub(super) open_files: Rlimit,
    /// What no sandbox shows.
    pub(super) own_places: OwnPlaces,
    pub(super) exit: Option<u8>,
    sources: HashMap<Token, Source>,
    next_token: Token,
    epoll: OwnedFd,
    signals: SignalFd,
    _locks: [Lock; 2],
}

impl Keeper {
    /// Takes locks, socket and signals. Nothing is started yet.
    pub(super) fn new(options: KeeperOptions) -> Result<Self, KeeperStartError> {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        // Before the socket is there, so that no SIGTERM leaves one behind.
        let signals =
            take_signals().map_err(|errno| KeeperStartError::system("take over signals", errno))?;
        let socket_path = &options.socket_path;
        socket::prepare_directory(socket_path)?;
        socket::private_directory(&options.state_dir)?;
        let mut beside = socket_path.clone().into_os_string();
        beside.push(".lock");
        let locks = [
            Lock::take(beside.as_ref(), socket_path)?,
            Lock::take(&options.state_dir.join("termd.lock"), socket_path)?,
        ];
        let listener = match Listener::from_systemd(&environment)? {
            Some(listener) => listener,
            None => Listener::bind(socket_path)?,
        };
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(|errno| KeeperStartError::system("become a subreaper", errno))?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| KeeperStartError::system("make an epoll", errno))?;
        let now = Instant::now();
        let notifier = Notifier::new(&environment);
        let server_command = ServerCommand::new(
            options.server_program.clone().into_os_string(),
            options.server_args.clone(),
            environment,
        )
        .map_err(|source| KeeperStartError::system("prepare the server", source))?;
        let own_places = OwnPlaces::of(&options)?;
        let mut keeper = Self {
            next_watchdog: notifier.watchdog_interval().map(|interval| now + interval),
            options,
            listener,
            inventory: Inventory::default(),
            failed_held: BTreeMap::new(),
            server_command,
            server: Server::Down { start_at: now },
            back_off: BackOff::new(),
            was_ready: false,
            last_sign_of_life: now,
            notifier,
            reporter: None,
            stage: Stage::Serving,
            next_scan: now,
            open_files: raise_open_files(),
            own_places,
            exit: None,
            sources: HashMap::new(),
            next_token: 0,
            epoll,
            signals,
            _locks: locks,
        };
        let token = keeper.add_token(Source::Signals);
        epoll::add(
            &keeper.epoll,
            &keeper.signals,
            epoll::EventData::new_u64(token),
            epoll::EventFlags::IN,
        )
        .map_err(|errno| KeeperStartError::system("watch for signals", errno))?;
        Ok(keeper)
    }

    /// Runs until the daemon ends.
    pub(super) fn run(mut self, reporter: Reporter) -> ExitCode {
        self.reporter = Some(reporter);
        let code = self.turn_until_the_end();
        self.listener.unlink();
        code
    }

    fn turn_until_the_end(&mut self) -> ExitCode {
        let mut events = Vec::with_capacity(EVENTS_A_TURN);
        loop {
            if let Some(code) = self.exit {
                return ExitCode::from(code);
            }
            let now = Instant::now();
            self.supervise(now);
            self.progress_endings(now);
            self.progress_stopping(now);
            self.flush();
            if let Some(code) = self.exit {
                return ExitCode::from(code);
            }
            self.wait(&mut events, now);
            for event in events.drain(..) {
                self.handle(event);
            }
            // Not only on SIGCHLD: a pidfd may have told of an end before the signal.
            self.reap();
        }
    }

    fn wait(&self, events: &mut Vec<epoll::Event>, now: Instant) {
        let timeout = self
            .next_deadline(now)
            .map(|deadline| deadline.saturating_duration_since(now) + ROUND_UP)
            .and_then(|left| Timespec::try_from(left).ok());
        let spare = rustix::buffer::spare_capacity(events);
        // EINTR is a turn with no events; nothing else can fail on a valid epoll.
        let _ = epoll::wait(&self.epoll, spare, timeout.as_ref());
    }

    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        [
            self.server.deadline(now),
            self.endings_deadline(),
            self.stage.deadline(),
            self.next_watchdog,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn handle(&mut self, event: epoll::Event) {
        let token = event.data.u64();
        match self.sources.get(&token) {
            // Dropped earlier in this turn.
            None => {}
            Some(Source::Signals) => self.take_signals(),
            Some(Source::Control) => self.converse(event.flags),
            Some(Source::ErrorPipe(id)) => {
                let id = id.clone();
                self.conclude_start(&id, token);
            }
            Some(Source::Member { .. }) => {
                if let Some(Source::Member {
                    terminal, process, ..
                }) = self.unwatch(token)
                {
                    self.member_gone(&terminal, process);
                }
            }
        }
    }

    fn take_signals(&mut self) {
        while let Ok(Some(info)) = self.signals.read_signal() {
            match Signal::try_from(info.ssi_signo.cast_signed()) {
                Ok(Signal::SIGHUP) => self.hand_over(Instant::now()),
                Ok(Signal::SIGTERM | Signal::SIGINT) => self.stop(Instant::now()),
                // SIGCHLD: every turn reaps.
                _ => {}
            }
        }
    }

    fn add_token(&mut self, source: Source) -> Token {
        let token = self.next_token;
        self.next_token += 1;
        self.sources.insert(token, source);
        token
    }

    /// Watches a descriptor for input. `None` where the kernel has no room for it.
    pub(super) fn watch(&mut self, fd: BorrowedFd<'_>, source: Source) -> Option<Token> {
        let token = self.add_token(source);
        let data = epoll::EventData::new_u64(token);
        if epoll::add(&self.epoll, fd, data, epoll::EventFlags::IN).is_err() {
            self.sources.remove(&token);
            return None;
        }
        Some(token)
    }

    /// Watches a process's end. `None` where the kernel has no room for it.
    pub(super) fn watch_member(
        &mut self,
        terminal: &TerminalId,
        process: ProcessId,
        pidfd: OwnedFd,
    ) -> Option<Token> {
        let token = self.next_token;
        self.next_token += 1;
        let data = epoll::EventData::new_u64(token);
        epoll::add(&self.epoll, &pidfd, data, epoll::EventFlags::IN).ok()?;
        let terminal = terminal.clone();
        self.sources.insert(
            token,
            Source::Member {
                terminal,
                process,
                pidfd,
            },
        );
        Some(token)
    }

    /// Forgets a source. Its descriptor leaves the epoll too: a child that was forked and has not
    /// executed its program yet may still hold a copy, which would keep it there.
    pub(super) fn unwatch(&mut self, token: Token) -> Option<Source> {
        let source = self.sources.remove(&token)?;
        if let Source::Member { pidfd, .. } = &source {
            let _ = epoll::delete(&self.epoll, pidfd);
        }
        Some(source)
    }

    /// Takes a descriptor out of the epoll before it is closed.
    pub(super) fn ignore(&self, fd: BorrowedFd<'_>) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// The processes of one terminal that are watched already.
    pub(super) fn watched(&self, terminal: &TerminalId) -> HashMap<ProcessId, Token> {
        self.sources
            .iter()
            .filter_map(|(&token, source)| match source {
                Source::Member {
                    terminal: of,
                    process,
                    ..
                } if of == terminal => Some((*process, token)),
                _ => None,
            })
            .collect()
    }

    /// Sends what is queued for the server, and waits for room where it does not fit.
    fn flush(&mut self) {
        let Server::Up(running) = &mut self.server else {
            return;
        };
        if running.flush(&self.inventory).is_err() {
            running.kill();
        }
        let wanted = running.wanted_events();
        if wanted != running.watched_events {
            let data = epoll::EventData::new_u64(running.token);
            // A hang-up is told whatever is wanted, for as long as the socket is there.
            let _ = if wanted.is_empty() {
                epoll::delete(&self.epoll, running.link())
            } else {
                epoll::modify(&self.epoll, running.link(), data, wanted)
            };
            running.watched_events = wanted;
        }
    }
}

/// `epoll_pwait2(2)` may return just before a deadline by the clock's grain; a turn for nothing.
const ROUND_UP: Duration = Duration::from_micros(200);

/// Blocks the signals that the keeper reads from a descriptor.
fn take_signals() -> nix::Result<SignalFd> {
    let mut taken = SigSet::empty();
    for number in [
        Signal::SIGCHLD,
        Signal::SIGHUP,
        Signal::SIGTERM,
        Signal::SIGINT,
    ] {
        taken.add(number);
        // One that was ignored (nohup) would never reach the descriptor.
        sys::default_disposition(number as i32);
    }
    nix::sys::signal::sigprocmask(SigmaskHow::SIG_BLOCK, Some(&taken), None)?;
    sys::remember_dispositions();
    SignalFd::with_flags(&taken, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Raises the soft limit on open files to the hard one: four a terminal and one a process that is
/// being ended. Returns the limit as it was.
fn raise_open_files() -> Rlimit {
    let original = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: original.maximum,
        maximum: original.maximum,
    };
    // The limit as it is does for a while.
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
    original
}
