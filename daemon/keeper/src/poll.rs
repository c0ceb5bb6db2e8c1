//! The keeper's one epoll, and what each descriptor in it is.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use termd_proto::TerminalId;

use crate::left_pipes::PipeNumber;
use crate::process_tree::TreeId;
use crate::protocol::message::ProcessId;

/// Events taken from the kernel at once.
const MAX_EVENTS: usize = 256;

/// `epoll_pwait2(2)` may return just before a deadline by the clock's grain, for a turn in vain.
const ROUND_UP: Duration = Duration::from_micros(200);

/// What a descriptor in the epoll is.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// The signalfd.
    Signals,
    /// The control socket of the present server.
    Server,
    /// The control socket or the standard error of a program that is tried.
    Trial,
    /// The error pipe of a start.
    Start(TerminalId),
    /// A pipe that a command has left to others.
    LeftPipe(PipeNumber),
    /// The pidfd of a process in a tree that is being ended.
    Process(TreeId, ProcessId),
}

/// The number of a source. Numbers are never reused: an event for a source that was removed in the
/// same turn finds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token(u64);

#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    sources: HashMap<Token, Source>,
    next_token: u64,
}

impl Poller {
    pub(crate) fn new() -> rustix::io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sources: HashMap::new(),
            next_token: 0,
        })
    }

    /// Watches a descriptor for input. Fails only where the kernel has no memory for it.
    pub(crate) fn watch(&mut self, fd: impl AsFd, source: Source) -> rustix::io::Result<Token> {
        let token = Token(self.next_token);
        self.next_token += 1;
        epoll::add(&self.epoll, fd, EventData::new_u64(token.0), EventFlags::IN)?;
        self.sources.insert(token, source);
        Ok(token)
    }

    /// Changes the events of a watched descriptor. Without any, the descriptor leaves the epoll,
    /// which would report a hang-up again and again.
    pub(crate) fn modify(&self, fd: impl AsFd, token: Token, events: EventFlags) {
        let _ = if events.is_empty() {
            epoll::delete(&self.epoll, fd)
        } else {
            epoll::modify(&self.epoll, fd, EventData::new_u64(token.0), events)
        };
    }

    /// Forgets a source. The descriptor has to leave the epoll before it is closed: a forked child
    /// that has not executed its program yet may have a copy, which would keep it there.
    pub(crate) fn unwatch(&mut self, token: Token, fd: impl AsFd) {
        self.sources.remove(&token);
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Waits for events, and returns each source that is still there with its events.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> Vec<(Token, EventFlags)> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout + ROUND_UP).ok());
        let mut events = Vec::with_capacity(MAX_EVENTS);
        let spare = rustix::buffer::spare_capacity(&mut events);
        // EINTR is a turn without events; nothing else can fail on a valid epoll.
        let _ = epoll::wait(&self.epoll, spare, timeout.as_ref());
        let tokens = events
            .iter()
            .map(|event| (Token(event.data.u64()), event.flags));
        tokens.collect()
    }

    /// What a token stands for; `None` once it is unwatched.
    pub(crate) fn source(&self, token: Token) -> Option<Source> {
        self.sources.get(&token).cloned()
    }
}
