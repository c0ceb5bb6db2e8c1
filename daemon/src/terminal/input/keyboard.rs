//! What is typed, on its last step: from the queue into the PTY, with a look at the tty before it.
//!
//! The terminal's task owns it. It writes what the tty takes. A line that a tty in canonical mode
//! would cut waits for a moment, as a shell between two prompts is raw again soon, and is refused if
//! the tty still reads lines then (`typing` says why). It must not know what output is.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use termd_proto::Offset;

use super::queue::{Input, InputQueue, LineCare, Outcome, Secrecy};
use super::tty::{self, HiddenEcho};
use super::typed_log::TypedText;
use super::typing::pending_after;
use crate::terminal::handle::Terminal;

/// How long a line that is too long for a canonical tty waits for it to become raw: longer than a
/// shell takes from a command's end to its next prompt.
const LONGEST_HOLD: Duration = Duration::from_millis(500);
/// How often the tty is looked at meanwhile; there is no event for its settings.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// How often input is offered to a PTY whose other side nobody has open: there is no event for its
/// being opened.
const OFFER_AGAIN: Duration = Duration::from_millis(250);

/// What came of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    /// So many bytes are the tty's.
    Taken(usize),
    /// It takes no more for now.
    Full,
    /// What comes next waits for the tty to become raw.
    Held,
    /// It will take nothing any more.
    Failed,
}

/// Why input waits, and when it is looked at again.
#[derive(Debug, Clone, Copy)]
enum Hold {
    /// A line is too long for a tty that reads lines; it waits until then for the tty to become raw.
    LongLine { look_at: Instant, until: Instant },
    /// Nobody has the other side open, and the PTY holds no more.
    NoReader { look_at: Instant },
}

impl Hold {
    fn look_at(self) -> Instant {
        match self {
            Self::LongLine { look_at, .. } | Self::NoReader { look_at } => look_at,
        }
    }
}

/// The way of one terminal's input.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    queue: InputQueue,
    hold: Option<Hold>,
    hidden: Option<HiddenEcho>,
    /// Bytes that the tty has of a line that is not ended, while it reads lines.
    pending: usize,
}

impl Keyboard {
    /// Where the screen's answers go.
    pub(crate) fn queue(&mut self) -> &mut InputQueue {
        &mut self.queue
    }

    /// Whether there is something that may be written now.
    pub(crate) fn may_write(&self) -> bool {
        !self.queue.is_empty() && self.hold.is_none()
    }

    /// When [`look`](Self::look) wants to be called.
    pub(crate) fn look_at(&self) -> Option<Instant> {
        self.hold.map(Hold::look_at)
    }

    /// Queues a piece and remembers how its echo will look, or refuses it; how many of its bytes are
    /// then not queued.
    pub(crate) fn push(&mut self, input: Input, terminal: &Terminal, master: &OwnedFd) -> usize {
        let tty = match input.care.secrecy {
            Secrecy::NotShown | Secrecy::Forced => None,
            Secrecy::Shown(_) | Secrecy::Awaited => tty::line_discipline(master),
        };
        match (&input.care.secrecy, tty) {
            // It was awaited when it was asked for, and is no more.
            (Secrecy::Awaited, Some(tty)) if !tty.awaits_secret() => {
                input.seen.refused();
                let _ = input.done.send(Outcome::NoSecretAwaited);
                return input.bytes.len();
            }
            (Secrecy::Shown(text), Some(tty)) if !tty.awaits_secret() && !text.is_empty() => {
                let offset: Offset = terminal.end();
                let text = text.clone();
                terminal.touch();
                terminal.typed.push(TypedText { offset, text, tty });
            }
            _ => {}
        }
        self.queue.push(input);
        0
    }

    /// Writes what the tty takes of the next piece.
    pub(crate) fn write(&mut self, master: &OwnedFd, now: Instant) -> Write {
        let discipline = tty::line_discipline(master);
        let canonical = discipline.is_some_and(|tty| tty.canonical);
        if !canonical {
            self.pending = 0;
        }
        let Some(care) = self.queue.care() else {
            return Write::Taken(0);
        };
        if canonical
            && !self.queue.is_begun()
            && let LineCare::Whole(lines) = care.lines
            && lines.are_cut(self.pending)
        {
            self.hold = Some(Hold::LongLine {
                look_at: now + LOOK_AGAIN,
                until: now + LONGEST_HOLD,
            });
            return Write::Held;
        }
        if care.secrecy == Secrecy::Forced && self.hidden.is_none() {
            self.hidden = HiddenEcho::begin(master);
        }
        if let (Some(seen), Some(tty)) = (self.queue.seen(), discipline) {
            seen.written(tty.echo, tty.awaits_secret());
        }
        let next = self.queue.next();
        match rustix::io::write(master, next) {
            Ok(bytes) => {
                if canonical {
                    let written = next.get(..bytes).unwrap_or(next);
                    self.pending = pending_after(self.pending, written);
                }
                self.queue.advance(bytes);
                if !self.queue.is_begun() {
                    self.show_again(master);
                }
                Write::Taken(bytes)
            }
            Err(Errno::AGAIN) => Write::Full,
            Err(Errno::INTR) => Write::Taken(0),
            Err(_) => Write::Failed,
        }
    }

    /// The PTY is full and nobody has its other side open: waits before the next write.
    pub(crate) fn await_reader(&mut self, now: Instant) {
        self.hold = Some(Hold::NoReader {
            look_at: now + OFFER_AGAIN,
        });
    }

    /// Looks whether what is held back may go, or must be refused; how many bytes were.
    pub(crate) fn look(&mut self, master: &OwnedFd, now: Instant) -> usize {
        let until = match self.hold {
            Some(Hold::LongLine { look_at, until }) if look_at <= now => until,
            Some(Hold::NoReader { look_at }) if look_at <= now => {
                self.hold = None;
                return 0;
            }
            _ => return 0,
        };
        if !tty::is_canonical(master) {
            self.hold = None;
            return 0;
        }
        if until > now {
            let look_at = now + LOOK_AGAIN;
            self.hold = Some(Hold::LongLine { look_at, until });
            return 0;
        }
        self.hold = None;
        self.queue.refuse(Outcome::LineTooLong)
    }

    /// Nobody will read: drops what waits, and returns how many bytes that was.
    pub(crate) fn abandon(&mut self, master: Option<&OwnedFd>) -> usize {
        self.hold = None;
        if let Some(master) = master {
            self.show_again(master);
        }
        self.queue.abandon()
    }

    fn show_again(&mut self, master: &OwnedFd) {
        if let Some(hidden) = self.hidden.take() {
            hidden.end(master);
        }
    }
}
