//! One server that has been started and not reaped.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::libc::SIGKILL;
use rustix::event::epoll::EventFlags;

use super::health::{Due, Health};
use super::link::{Broken, Link};
use crate::inventory::Inventory;
use crate::poll::{Poller, Token};
use crate::process_tree::RequestNumber;
use crate::protocol::channel::{ChannelError, Received};
use crate::protocol::message::{KeeperEvent, ToServer};
use crate::sys::{self, Unreaped};

/// How long a server has to leave after a request to, or after it closed its control socket.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);

/// Whether the server is to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stay {
    Wanted,
    /// It is leaving, by its own will or because the daemon stops; SIGKILL follows then.
    Leaving {
        kill_at: Instant,
    },
    /// It hands over to the next server, which starts at once.
    HandingOver {
        kill_at: Instant,
    },
    /// SIGKILL was sent; only its reaping is left.
    Killed {
        hand_over: bool,
    },
}

/// One server, and the keeper's end of its control socket.
#[derive(Debug)]
pub(super) struct Running {
    pid: i32,
    link: Link,
    started: Instant,
    health: Health,
    stay: Stay,
    /// It closed its end of the control socket.
    is_closed: bool,
    /// It has sent its hello. Before that it gets no messages; with it, the inventory.
    is_introduced: bool,
    is_ready: bool,
    token: Token,
    watched_events: EventFlags,
}

impl Running {
    pub(super) fn new(pid: i32, control: OwnedFd, token: Token, now: Instant) -> Self {
        Self {
            pid,
            link: Link::new(control),
            started: now,
            health: Health::new(now),
            stay: Stay::Wanted,
            is_closed: false,
            is_introduced: false,
            is_ready: false,
            token,
            watched_events: EventFlags::IN,
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) fn age(&self, now: Instant) -> Duration {
        now.duration_since(self.started)
    }

    /// When something is due by time alone.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        match self.stay {
            Stay::Wanted => match self.health.due(now) {
                Due::Nothing(until) => Some(until),
                Due::Ping | Due::Kill => Some(now),
            },
            Stay::Leaving { kill_at } | Stay::HandingOver { kill_at } => Some(kill_at),
            Stay::Killed { .. } => None,
        }
    }

    /// Pings the server or ends it, where that is due.
    pub(super) fn progress(&mut self, now: Instant) {
        match self.stay {
            Stay::Wanted => match self.health.due(now) {
                Due::Nothing(_) => {}
                Due::Kill => self.kill(),
                Due::Ping => {
                    self.health.pinged(now);
                    self.send(|link| link.queue(0, &ToServer::Ping));
                }
            },
            Stay::Leaving { kill_at } | Stay::HandingOver { kill_at } if now >= kill_at => {
                self.kill();
            }
            _ => {}
        }
    }

    /// The next packet, if one is there. A server that breaks the protocol is ended.
    pub(super) fn receive(&mut self, now: Instant) -> Option<Received> {
        match self.link.receive() {
            Ok(received) => {
                self.health.heard(now);
                return Some(received);
            }
            Err(ChannelError::WouldBlock) => {}
            // It is exiting, most likely; its exit status says more than the closed socket.
            Err(ChannelError::Closed) => {
                self.expect_to_leave(now);
                self.is_closed = true;
            }
            Err(ChannelError::Cut | ChannelError::Malformed(_) | ChannelError::Io(_)) => {
                self.kill();
            }
        }
        None
    }

    /// The server said hello. Whether for the first time.
    pub(super) fn introduce(&mut self) -> bool {
        !std::mem::replace(&mut self.is_introduced, true)
    }

    /// The server serves.
    pub(super) fn ready(&mut self) {
        self.is_ready = true;
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether it serves and is to stay.
    pub(super) fn is_serving(&self) -> bool {
        self.is_ready && self.stay == Stay::Wanted
    }

    pub(super) fn is_introduced(&self) -> bool {
        self.is_introduced
    }

    /// Queues messages. A server whose queue is full is ended: the next one gets the inventory.
    pub(super) fn send(&mut self, queue: impl FnOnce(&mut Link) -> Result<(), Broken>) {
        if queue(&mut self.link).is_err() {
            self.kill();
        }
    }

    pub(super) fn answer(&mut self, request: RequestNumber, message: &ToServer) {
        self.send(|link| link.queue(request, message));
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// Sends what is queued. Watches the socket for output where it is full.
    pub(super) fn flush(&mut self, inventory: &Inventory, poller: &Poller) {
        if !self.is_silenced() && self.link.flush(inventory).is_err() {
            self.kill();
        }
        let events = self.wanted_events();
        if events != self.watched_events {
            poller.modify(&self.link, self.token, events);
            self.watched_events = events;
        }
    }

    /// None once its socket is closed: epoll would report the hang-up again and again.
    fn wanted_events(&self) -> EventFlags {
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

    /// Sends SIGKILL. The server was not reaped, so the pid is its own.
    pub(super) fn kill(&mut self) {
        if !matches!(self.stay, Stay::Killed { .. }) {
            let hand_over = self.hands_over();
            sys::kill_unreaped(Unreaped::Child(self.pid), SIGKILL);
            self.stay = Stay::Killed { hand_over };
        }
    }

    /// Gives the server a limit to leave by; an earlier limit stands.
    pub(super) fn expect_to_leave(&mut self, now: Instant) {
        if self.stay == Stay::Wanted {
            self.stay = Stay::Leaving {
                kill_at: now + LEAVE_LIMIT,
            };
        }
    }

    /// Tells the server to hand over to the next one.
    pub(super) fn hand_over(&mut self, now: Instant) {
        match self.stay {
            Stay::Wanted | Stay::Leaving { .. } => {
                self.stay = Stay::HandingOver {
                    kill_at: now + LEAVE_LIMIT,
                };
                if self.is_introduced {
                    self.answer(0, &ToServer::Event(KeeperEvent::HandOver));
                } else {
                    // It serves no client yet, so it has nothing to hand over.
                    self.kill();
                }
            }
            Stay::HandingOver { .. } => {}
            Stay::Killed { .. } => self.stay = Stay::Killed { hand_over: true },
        }
    }

    /// Whether the next server starts at once.
    pub(super) fn hands_over(&self) -> bool {
        matches!(
            self.stay,
            Stay::HandingOver { .. } | Stay::Killed { hand_over: true }
        )
    }

    /// Takes a reaped server's socket out of the epoll.
    pub(super) fn unwatch(self, poller: &mut Poller) {
        poller.unwatch(self.token, self.link.as_fd());
    }
}
