//! The server's life: started, asked whether it lives, replaced. Terminals never depend on it.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::libc::SIGKILL;
use rustix::event::epoll::EventFlags;

use super::event_loop::{Keeper, Source, Token};
use super::health::{self, Due, Health};
use super::inventory::{Inventory, RequestNumber, Start};
use super::link::{Broken, Link};
use super::stopping::Stage;
use super::sys::{self, Unreaped};
use crate::protocol::message::{KeeperEvent, ToServer, WaitStatus};

/// How long a server has to leave after it was told to, or closed its control socket.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);

/// `EX_UNAVAILABLE` and `EX_CONFIG` of sysexits.h: trying again would not help.
const HOPELESS: [i32; 2] = [69, 78];

/// The server, if there is one.
#[derive(Debug)]
pub(super) enum Server {
    /// None; the next is to start then.
    Down {
        /// When.
        start_at: Instant,
    },
    /// There is one, or it has not been reaped yet.
    Up(Running),
}

/// Whether a server is to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stay {
    Wanted,
    /// It is leaving, by its own will or by the stop's; SIGKILL follows then.
    Leaving {
        kill_at: Instant,
    },
    /// It was told to hand over: the next one starts at once.
    HandingOver {
        kill_at: Instant,
    },
    /// SIGKILL was sent; only its reaping is left.
    Killed {
        hand_over: bool,
    },
}

/// One server.
#[derive(Debug)]
pub(super) struct Running {
    pid: i32,
    link: Link,
    started: Instant,
    health: Health,
    stay: Stay,
    /// It closed its end of the control socket.
    is_closed: bool,
    /// It said hello, so it has the inventory and may be told more.
    pub(super) introduced: bool,
    pub(super) token: Token,
    pub(super) watched_events: EventFlags,
}

impl Server {
    /// When something is due by time alone.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Down { start_at } => Some(*start_at),
            Self::Up(running) => match running.stay {
                Stay::Wanted => match running.health.due(now) {
                    Due::Nothing(until) => Some(until),
                    Due::Ping | Due::Kill => Some(now),
                },
                Stay::Leaving { kill_at } | Stay::HandingOver { kill_at } => Some(kill_at),
                Stay::Killed { .. } => None,
            },
        }
    }

    /// Its pid, until it was reaped.
    pub(super) fn pid(&self) -> Option<i32> {
        match self {
            Self::Down { .. } => None,
            Self::Up(running) => Some(running.pid),
        }
    }
}

impl Running {
    /// Sends it a message. What cannot be queued ends it: the next gets the inventory.
    pub(super) fn send(&mut self, request: RequestNumber, message: &ToServer) {
        let queued = self.link.queue(request, message);
        self.or_kill(&queued);
    }

    /// Ends it if its queue is full.
    pub(super) fn or_kill(&mut self, queued: &Result<(), Broken>) {
        if queued.is_err() {
            self.kill();
        }
    }

    /// Its control socket.
    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// Its control socket.
    pub(super) fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }

    /// It said something: it lives.
    pub(super) fn heard(&mut self, now: Instant) {
        self.health.heard(now);
    }

    pub(super) fn flush(&mut self, inventory: &Inventory) -> Result<(), Broken> {
        if self.is_silenced() {
            return Ok(());
        }
        self.link.flush(inventory)
    }

    /// What epoll is to tell of it. Nothing once its socket is closed: epoll would not stop.
    pub(super) fn wanted_events(&self) -> EventFlags {
        if self.is_silenced() {
            EventFlags::empty()
        } else if self.link.is_waiting() {
            EventFlags::IN | EventFlags::OUT
        } else {
            EventFlags::IN
        }
    }

    fn is_silenced(&self) -> bool {
        self.is_closed || matches!(self.stay, Stay::Killed { .. })
    }

    /// It closed its socket: there is nothing more to hear or to say.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// SIGKILL. It was not reaped, so the pid is its own.
    pub(super) fn kill(&mut self) {
        if !matches!(self.stay, Stay::Killed { .. }) {
            let hand_over = matches!(self.stay, Stay::HandingOver { .. });
            sys::kill_unreaped(Unreaped::Child(self.pid), SIGKILL);
            self.stay = Stay::Killed { hand_over };
        }
    }

    /// It is to leave soon; an earlier limit stands.
    pub(super) fn expect_to_leave(&mut self, now: Instant) {
        if self.stay == Stay::Wanted {
            self.stay = Stay::Leaving {
                kill_at: now + LEAVE_LIMIT,
            };
        }
    }
}

impl Keeper {
    /// Does what is due for the server.
    pub(super) fn supervise(&mut self, now: Instant) {
        match &mut self.server {
            Server::Down { start_at } if now >= *start_at => self.start_server(now),
            Server::Down { .. } => {}
            Server::Up(running) => match running.stay {
                Stay::Wanted => match running.health.due(now) {
                    Due::Nothing(_) => {}
                    Due::Kill => running.kill(),
                    Due::Ping => {
                        running.health.asked(now);
                        running.send(0, &ToServer::Ping);
                    }
                },
                Stay::Leaving { kill_at } | Stay::HandingOver { kill_at } if now >= kill_at => {
                    running.kill();
                }
                _ => {}
            },
        }
        self.feed_watchdog(now);
    }

    fn start_server(&mut self, now: Instant) {
        let started = self.server_command.start(self.listener.as_fd());
        let watched = started.ok().and_then(|(pid, control)| {
            let token = self.watch(control.as_fd(), Source::Control);
            if token.is_none() {
                sys::kill_unreaped(Unreaped::Child(pid), SIGKILL);
            }
            Some((pid, control, token?))
        });
        self.server = match watched {
            Some((pid, control, token)) => Server::Up(Running {
                pid,
                link: Link::new(control),
                started: now,
                health: Health::new(now),
                stay: Stay::Wanted,
                is_closed: false,
                introduced: false,
                token,
                watched_events: EventFlags::IN,
            }),
            None => Server::Down {
                start_at: now + self.back_off.after(Duration::ZERO),
            },
        };
    }

    /// SIGHUP: the server is to be replaced by the program on disk.
    pub(super) fn hand_over(&mut self, now: Instant) {
        if self.stage != Stage::Serving {
            return;
        }
        self.notifier.reloading();
        match &mut self.server {
            Server::Down { start_at } => *start_at = now,
            Server::Up(running) => match running.stay {
                Stay::Wanted | Stay::Leaving { .. } => {
                    running.stay = Stay::HandingOver {
                        kill_at: now + LEAVE_LIMIT,
                    };
                    if running.introduced {
                        running.send(0, &ToServer::Event(KeeperEvent::HandOver));
                    } else {
                        // It serves nobody yet; there is nothing to hand over.
                        running.kill();
                    }
                }
                Stay::HandingOver { .. } => {}
                Stay::Killed { .. } => running.stay = Stay::Killed { hand_over: true },
            },
        }
    }

    /// The server was reaped.
    pub(super) fn server_exited(&mut self, status: WaitStatus, now: Instant) {
        let down = Server::Down { start_at: now };
        let Server::Up(running) = std::mem::replace(&mut self.server, down) else {
            return;
        };
        self.unwatch(running.token);
        self.ignore(running.link.as_fd());
        self.failed_held.clear();
        for (_, terminal) in self.inventory.iter_mut() {
            terminal.waiters.clear();
            if let Start::Pending { asked_by, gate, .. } = &mut terminal.start {
                *asked_by = None;
                gate.give_up();
            }
        }
        if let WaitStatus::Exited(code) = status
            && HOPELESS.contains(&code)
            && !self.was_ready
        {
            let code = u8::try_from(code).unwrap_or(1);
            self.exit = Some(code);
            if let Some(reporter) = self.reporter.take() {
                reporter.server_failed(code);
            }
            return;
        }
        if matches!(self.stage, Stage::Finishing { .. }) && status == WaitStatus::Exited(0) {
            self.exit = Some(0);
            return;
        }
        let hands_over = matches!(
            running.stay,
            Stay::HandingOver { .. } | Stay::Killed { hand_over: true }
        );
        if !hands_over {
            let wait = self.back_off.after(now.duration_since(running.started));
            self.server = Server::Down {
                start_at: now + wait,
            };
            self.notifier
                .send("STATUS=The server ended unexpectedly; starting the next");
        }
    }

    /// The server serves.
    pub(super) fn server_ready(&mut self) {
        self.was_ready = true;
        if self.stage == Stage::Serving {
            self.notifier.send("READY=1\nSTATUS=Serving");
        }
        if let Some(reporter) = self.reporter.take() {
            reporter.ready();
        }
    }

    fn feed_watchdog(&mut self, now: Instant) {
        let Some(interval) = self.notifier.watchdog_interval() else {
            return;
        };
        if self.next_watchdog.is_some_and(|due| now >= due) {
            if health::may_vouch(self.last_sign_of_life, now) {
                self.notifier.send("WATCHDOG=1");
            }
            self.next_watchdog = Some(now + interval);
        }
    }
}
