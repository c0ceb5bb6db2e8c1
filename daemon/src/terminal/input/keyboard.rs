//! From the queue of input into the PTY, after a look at the tty.
//!
//! A line that a tty in canonical mode would cut waits for a moment, because a shell between two
//! prompts is raw again soon. It is refused if the tty still reads lines then (`typing` says why).

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use termd_proto::Offset;

use super::queue::{Input, InputQueue, LineCare, Outcome, Place, Secrecy};
use super::shell_prompt::PromptState;
use super::tty::{self, HiddenEcho};
use super::typed_log::TypedText;
use super::typing::pending_after;
use crate::terminal::handle::Terminal;
use termd_vt::Model;

/// How long a line that is too long for a canonical tty waits: longer than a shell takes from a
/// command's end to its next prompt.
const MAX_HOLD: Duration = Duration::from_millis(500);
/// How often the tty is looked at meanwhile. There is no event for its settings.
const HOLD_POLL: Duration = Duration::from_millis(5);
/// How often input is offered to a PTY whose other side is not open. There is no event for its
/// opening.
const NO_READER_POLL: Duration = Duration::from_millis(250);

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    /// How many bytes the tty has taken.
    Taken(usize),
    /// The tty takes no more for now.
    Full,
    /// The next piece waits for the tty to become raw.
    Held,
    /// The tty will take nothing any more.
    Failed,
}

/// Why input waits, and when it is looked at again.
#[derive(Debug, Clone, Copy)]
enum Hold {
    /// A line is too long for a tty that reads lines. It is refused at `until`.
    LongLine { look_at: Instant, until: Instant },
    /// The other side is not open, and the PTY is full.
    NoReader { look_at: Instant },
}

impl Hold {
    fn look_at(self) -> Instant {
        match self {
            Self::LongLine { look_at, .. } | Self::NoReader { look_at } => look_at,
        }
    }
}

/// One terminal's input on its way to the tty.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    queue: InputQueue,
    hold: Option<Hold>,
    hidden: Option<HiddenEcho>,
    /// While the tty reads lines: how many bytes of an unfinished line it has.
    pending: usize,
}

impl Keyboard {
    /// The queue, for the screen's answers.
    pub(crate) fn queue(&mut self) -> &mut InputQueue {
        &mut self.queue
    }

    pub(crate) fn may_write(&self) -> bool {
        !self.queue.is_empty() && self.hold.is_none()
    }

    /// When [`look`](Self::look) is to be called.
    pub(crate) fn look_at(&self) -> Option<Instant> {
        self.hold.map(Hold::look_at)
    }

    /// Queues a piece and remembers how its echo looks, or refuses it. Returns how many of its bytes
    /// are not queued.
    pub(crate) fn push(&mut self, input: Input, terminal: &Terminal, master: &OwnedFd) -> usize {
        if input.care.place == Place::Prompt {
            let state = PromptState::of(terminal, input.offset)
                .with_line_buffer(terminal, || tty::is_canonical(master));
            if state != PromptState::Free {
                let length = input.bytes.len();
                input.refuse(Outcome::NotAtPrompt(state));
                return length;
            }
        }
        let tty = match input.care.secrecy {
            Secrecy::NotShown | Secrecy::Forced => None,
            Secrecy::Shown(_) | Secrecy::Awaited => tty::line_discipline(master),
        };
        match (&input.care.secrecy, tty) {
            // The secret was awaited at the request, and is no more.
            (Secrecy::Awaited, Some(tty)) if !tty.awaits_secret() => {
                input.facts.refused();
                let _ = input.done.send(Outcome::NoSecretAwaited);
                return input.bytes.len();
            }
            (Secrecy::Shown(text), Some(tty)) if !tty.awaits_secret() && !text.is_empty() => {
                let offset: Offset = terminal.end();
                let text = text.clone();
                terminal.touch();
                let line = terminal.screen.look(Model::cursor_line);
                let (before, _) = line.unwrap_or_default();
                terminal.typed.push(TypedText {
                    offset,
                    text,
                    tty,
                    before,
                    group: tty::foreground_group(master),
                });
            }
            _ => {}
        }
        terminal.typed.touch(terminal.end());
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
                look_at: now + HOLD_POLL,
                until: now + MAX_HOLD,
            });
            return Write::Held;
        }
        if care.secrecy == Secrecy::Forced && self.hidden.is_none() {
            self.hidden = HiddenEcho::begin(master);
        }
        if let (Some(facts), Some(tty)) = (self.queue.facts(), discipline) {
            facts.written(tty.echo, tty.awaits_secret());
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
                    self.restore_echo(master);
                }
                Write::Taken(bytes)
            }
            Err(Errno::AGAIN) => Write::Full,
            Err(Errno::INTR) => Write::Taken(0),
            Err(_) => Write::Failed,
        }
    }

    /// Waits before the next write: the PTY is full and its other side is not open.
    pub(crate) fn await_reader(&mut self, now: Instant) {
        self.hold = Some(Hold::NoReader {
            look_at: now + NO_READER_POLL,
        });
    }

    /// Looks whether a held piece may go or must be refused. Returns how many bytes were refused.
    pub(crate) fn look(&mut self, terminal: &Terminal, master: &OwnedFd, now: Instant) -> usize {
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
            let look_at = now + HOLD_POLL;
            self.hold = Some(Hold::LongLine { look_at, until });
            return 0;
        }
        self.hold = None;
        if let Some(Secrecy::Shown(text)) = self.queue.care().map(|care| &care.secrecy) {
            terminal.typed.take_back(text);
        }
        self.queue.refuse(Outcome::LineTooLong)
    }

    /// Drops everything, as no program will read it, and returns the number of bytes.
    pub(crate) fn abandon(&mut self, master: Option<&OwnedFd>) -> usize {
        self.hold = None;
        if let Some(master) = master {
            self.restore_echo(master);
        }
        self.queue.abandon()
    }

    fn restore_echo(&mut self, master: &OwnedFd) {
        if let Some(hidden) = self.hidden.take() {
            hidden.end(master);
        }
    }
}
