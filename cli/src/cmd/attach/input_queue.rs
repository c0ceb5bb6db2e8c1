//! A person's input on its way to the terminal.
//!
//! Input that was under way when the connection broke may have arrived or not. Nothing that is typed
//! after it may join what has arrived to one line: a shell would run that. So the line that is under
//! way is cleared in the terminal, and the rest of it is dropped.

use std::time::Duration;

use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::screen::{ReadScreen, ScreenFormat};
use termd_proto::{ErrorKind, TerminalRef};
use tokio::time::Instant;

use super::ending::Ending;
use crate::confirm::Consent;
use crate::error::CliError;
use crate::input::{has_ended, send_bytes};

/// What a person is told whose keys were under way when the daemon went away.
pub(in crate::cmd) const IN_DOUBT: &str = "some of what was typed may not have arrived";

/// Most input that waits for a program that does not read. More is dropped, as a tty drops it.
const PENDING_BYTES: usize = 1 << 20;
/// The key that clears a line (VKILL of termios(3), and in line editors).
const KILL_LINE: u8 = 0x15;
/// A pause in typing after which a person has seen that the line is cleared, and begins it again.
const SEEN: Duration = Duration::from_secs(1);
/// How long keys are dropped without a pause: those of a program that reads no lines have no Enter.
const MAX_DROPPING: Duration = Duration::from_secs(5);

/// Input that was typed and has not arrived yet.
#[derive(Debug, Default)]
pub(in crate::cmd) struct InputQueue {
    /// Input that waits for the input before it.
    pending: Vec<u8>,
    /// Whether input is under way.
    is_sending: bool,
    /// Whether the input that was sent last ends within a line.
    is_within_line: bool,
    /// The rest of a line is dropped.
    dropping: Option<Dropping>,
    delivery: Delivery,
}

/// Whether all input has arrived, as far as is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Delivery {
    #[default]
    Whole,
    /// The terminal's command had ended before it got the last of the input.
    Unread,
    /// The connection broke while input was under way, or input was dropped.
    Uncertain,
}

/// The rest of a line is dropped, until its Enter or a pause.
#[derive(Debug, Clone, Copy)]
struct Dropping {
    since: Instant,
    /// The newest key that was dropped.
    newest: Instant,
}

impl Dropping {
    fn begins(now: Instant) -> Self {
        Self {
            since: now,
            newest: now,
        }
    }

    fn goes_on(self, now: Instant) -> bool {
        now.duration_since(self.newest) < SEEN && now.duration_since(self.since) < MAX_DROPPING
    }
}

impl InputQueue {
    /// Queues input, up to a bound.
    pub(in crate::cmd) fn add(&mut self, typed: &[u8], now: Instant) {
        let mut typed = typed;
        if let Some(dropping) = self.dropping.take_if(|_| !typed.is_empty())
            && dropping.goes_on(now)
        {
            let (rest, is_whole) = rest_of_line(typed);
            typed = typed.get(rest..).unwrap_or_default();
            self.dropping = (!is_whole).then_some(Dropping {
                newest: now,
                ..dropping
            });
        }
        if self.pending.len() < PENDING_BYTES {
            self.pending.extend(typed);
        } else if !typed.is_empty() {
            self.doubt();
        }
    }

    pub(in crate::cmd) fn is_sending(&self) -> bool {
        self.is_sending
    }

    /// The input that can be sent now, which is under way then.
    pub(in crate::cmd) fn take(&mut self) -> Option<Vec<u8>> {
        if self.is_sending || self.pending.is_empty() {
            return None;
        }
        let bytes = std::mem::take(&mut self.pending);
        self.is_within_line = bytes.last().is_some_and(|byte| !ends_line(*byte));
        self.is_sending = true;
        Some(bytes)
    }

    /// Input is no longer under way. Returns what a person is told.
    pub(in crate::cmd) fn settle(&mut self, sent: Sent, now: Instant) -> Option<String> {
        self.is_sending = false;
        match sent {
            Sent::Arrived => None,
            Sent::Refused(why) => Some(why),
            Sent::Unread => {
                self.delivery = self.delivery.max(Delivery::Unread);
                None
            }
            Sent::InDoubt(Reader::WholeScreen) => {
                self.doubt();
                Some(IN_DOUBT.to_owned())
            }
            Sent::InDoubt(Reader::Lines) => {
                self.doubt();
                if self.is_within_line {
                    let (rest, is_whole) = rest_of_line(&self.pending);
                    self.pending.drain(..rest);
                    self.dropping = (!is_whole).then(|| Dropping::begins(now));
                }
                self.pending.insert(0, KILL_LINE);
                Some(format!("{IN_DOUBT}; the line is cleared"))
            }
        }
    }

    /// Input is given up on.
    pub(in crate::cmd) fn doubt(&mut self) {
        self.delivery = Delivery::Uncertain;
    }

    /// Whether the person has to be told that input may not have arrived, whatever comes.
    pub(in crate::cmd) fn is_in_doubt(&self) -> bool {
        self.delivery == Delivery::Uncertain
    }

    /// The same of a terminal that is lost, which has read none of what came late.
    pub(in crate::cmd) fn is_lost(&self) -> bool {
        self.delivery != Delivery::Whole || self.is_unsent()
    }

    fn is_unsent(&self) -> bool {
        self.is_sending || !self.pending.is_empty()
    }

    /// Whether the person has to be told that input may not have arrived, where attach ends so.
    pub(super) fn is_lost_at(&self, ending: &Result<Ending, CliError>) -> bool {
        self.is_in_doubt()
            || match ending {
                Ok(Ending::Detached | Ending::Listed | Ending::Signalled(_)) => self.is_unsent(),
                Ok(Ending::Lost) => self.is_lost(),
                Err(CliError::Client(error)) => self.is_unsent() && error.is_unreachable(),
                Ok(Ending::Exited(_) | Ending::Closed(..)) | Err(_) => false,
            }
    }
}

/// Whether a key ends a line: Enter, or what clears it.
fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0x03 | KILL_LINE)
}

/// The length of the rest of a line, with its Enter, and whether that is all of it. A key that clears
/// the line is none of it.
fn rest_of_line(typed: &[u8]) -> (usize, bool) {
    match typed.iter().position(|byte| ends_line(*byte)) {
        Some(at) if matches!(typed.get(at), Some(b'\r' | b'\n')) => (at + 1, true),
        Some(at) => (at, true),
        None => (typed.len(), false),
    }
}

/// What became of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd) enum Sent {
    Arrived,
    /// The command has ended, and got none of it.
    Unread,
    /// The daemon has typed none of it, and says why.
    Refused(String),
    /// The connection broke before the answer. If termctl sent a line twice, it might run twice.
    InDoubt(Reader),
}

/// How a program reads, as far as can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd) enum Reader {
    /// Line by line, or on no screen of its own.
    Lines,
    /// On its alternate screen, where there is no line to be run.
    WholeScreen,
}

/// Sends input. A command that has ended gets none, which is no error.
pub(in crate::cmd) async fn send_pending(
    link: &Link,
    id: &TerminalRef,
    bytes: Vec<u8>,
    consent: Consent,
) -> Result<Sent, CliError> {
    match send_bytes(link, id, &bytes, consent).await {
        Ok(_) => Ok(Sent::Arrived),
        Err(CliError::Client(ClientError::InDoubt)) => Ok(Sent::InDoubt(reader(link, id).await)),
        Err(error) if has_ended(error.refusal()) => Ok(Sent::Unread),
        Err(error) if is_said(&error) => Ok(Sent::Refused(error.to_string())),
        Err(error) => Err(error),
    }
}

/// How the program reads that is in the terminal now.
pub(in crate::cmd) async fn reader(link: &Link, id: &TerminalRef) -> Reader {
    let look = ReadScreen {
        format: Some(ScreenFormat::Text),
        ..ReadScreen::of(id.clone())
    };
    match link.repeat(&look).await {
        Ok(result) if result.screen.alternate => Reader::WholeScreen,
        Ok(_) | Err(_) => Reader::Lines,
    }
}

/// Whether a refusal is said, and attach goes on: nobody can do anything about it by leaving. A question
/// of the gate ends attach, for it is an agent that is asked.
fn is_said(error: &CliError) -> bool {
    let kind = error.refusal().and_then(kind_of);
    matches!(kind, Some(ErrorKind::AuditUnavailable | ErrorKind::Denied))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys, each with the milliseconds since those before it.
    type Keys<'a> = &'a [(u64, &'a str)];

    /// What is sent after `sent` was in doubt, with `pending` typed meanwhile, and `typed` then.
    fn after_doubt(reader: Reader, sent: &str, pending: &str, typed: Keys<'_>) -> String {
        let mut now = Instant::now();
        let mut queue = InputQueue::default();
        queue.add(sent.as_bytes(), now);
        queue.take().unwrap();
        queue.add(pending.as_bytes(), now);
        assert!(queue.settle(Sent::InDoubt(reader), now).is_some());
        for (ms, typed) in typed {
            now += Duration::from_millis(*ms);
            queue.add(typed.as_bytes(), now);
        }
        assert!(queue.is_in_doubt());
        let bytes = queue.take().unwrap_or_default();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn nothing_is_joined_to_a_line_in_doubt() {
        let held_down = [(900, "j"); 7];
        let table: [(&str, &str, Keys<'_>, &str); 11] = [
            ("one", "", &[(100, "\r"), (100, "two\r")], "\x15two\r"),
            ("j", "", &held_down, "\x15jj"),
            ("one\r", "two\r", &[], "\x15two\r"),
            ("one", " more\rtwo\r", &[], "\x15two\r"),
            (
                "one\rtw",
                "o",
                &[(500, "!"), (900, "\rthree\r")],
                "\x15three\r",
            ),
            // A pause: the person begins again.
            ("one", "", &[(1_100, "one\r")], "\x15one\r"),
            ("one", " more", &[(900, "x"), (1_100, "one\r")], "\x15one\r"),
            ("one", "", &[(100, "x\x03")], "\x15\x03"),
            ("one", "", &[(100, "x\x15two")], "\x15\x15two"),
            ("one\x03", "two", &[], "\x15two"),
            ("one\r", "", &[(0, "two\r")], "\x15two\r"),
        ];
        for (sent, pending, typed, want) in table {
            let left = after_doubt(Reader::Lines, sent, pending, typed);
            assert_eq!(left, want, "{sent:?} {pending:?} {typed:?}");
        }
        let left = after_doubt(Reader::WholeScreen, "dd", "p", &[(0, "u")]);
        assert_eq!(left, "pu", "a full-screen program");
    }
}
