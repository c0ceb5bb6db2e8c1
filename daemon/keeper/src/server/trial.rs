//! The trial of the program on disk, before the server that serves is replaced by it.
//!
//! The program runs as a server would, up to its hello, and is then ended. It gets neither terminals
//! nor clients. A server checks before its hello that it can serve the database.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::libc::SIGKILL;

use super::command::{ServerCommand, TrialProcess};
use crate::poll::{Poller, Source, Token};
use crate::protocol::channel::{self, ChannelError};
use crate::protocol::message::{PROTOCOL_VERSION, ToKeeper, WaitStatus};
use crate::sys::{self, Unreaped};

/// How long a program has until its hello.
const LIMIT: Duration = Duration::from_secs(10);
/// How much of the end of its standard error is kept, in bytes.
const MAX_KEPT: usize = 512;
/// How many lines of that are told: a program that floods says no more with more of them.
const MAX_TOLD_LINES: usize = 2;
/// What a pipe holds (pipe(7)).
const PIPE_BYTES: usize = 64 * 1024;

/// What a trial has shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The program can serve.
    Passed,
    /// It cannot: why, in one line.
    Failed(String),
}

/// A program that was started for a trial and is not reaped.
#[derive(Debug)]
pub(super) struct Trial {
    pid: i32,
    control: Watched,
    stderr: Watched,
    give_up_at: Instant,
    /// The end of what it wrote to its standard error.
    said: Vec<u8>,
    /// It was judged, and SIGKILL was sent.
    is_over: bool,
}

/// A descriptor in the epoll, until its end.
#[derive(Debug)]
struct Watched {
    fd: OwnedFd,
    token: Option<Token>,
}

impl Watched {
    fn new(fd: OwnedFd, poller: &mut Poller) -> Self {
        // Without memory for it the trial ends by its limit.
        let token = poller.watch(fd.as_fd(), Source::Trial).ok();
        Self { fd, token }
    }

    fn unwatch(&mut self, poller: &mut Poller) {
        if let Some(token) = self.token.take() {
            poller.unwatch(token, self.fd.as_fd());
        }
    }
}

impl Trial {
    /// Starts the program on disk.
    pub(super) fn start(
        command: &ServerCommand,
        poller: &mut Poller,
        now: Instant,
    ) -> std::io::Result<Self> {
        let TrialProcess {
            pid,
            control,
            stderr,
        } = command.start_trial()?;
        Ok(Self {
            pid,
            control: Watched::new(control, poller),
            stderr: Watched::new(stderr, poller),
            give_up_at: now + LIMIT,
            said: Vec::new(),
            is_over: false,
        })
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// When something is due by time alone.
    pub(super) fn deadline(&self) -> Option<Instant> {
        (!self.is_over).then_some(self.give_up_at)
    }

    /// Judges a program that has had its time.
    pub(super) fn progress(&mut self, now: Instant) -> Option<Verdict> {
        if self.is_over || now < self.give_up_at {
            return None;
        }
        let why = format!("did not answer within {} s", LIMIT.as_secs());
        Some(self.fail(&why))
    }

    /// Takes what has arrived from the program.
    pub(super) fn receive(&mut self, poller: &mut Poller) -> Option<Verdict> {
        if self.is_over {
            self.control.unwatch(poller);
            self.stderr.unwatch(poller);
            return None;
        }
        self.drain_stderr(poller);
        self.control.token?;
        let packet = match channel::receive(self.control.fd.as_fd()) {
            Ok(received) => received.packet,
            Err(ChannelError::WouldBlock) => return None,
            // Its exit status, or its silence, says more.
            Err(_) => {
                self.control.unwatch(poller);
                return None;
            }
        };
        match ToKeeper::decode(packet.kind, &packet.body) {
            Ok(Some(ToKeeper::Hello { version, .. })) if version == PROTOCOL_VERSION => {
                self.end();
                Some(Verdict::Passed)
            }
            Ok(Some(ToKeeper::Hello { version, .. })) => Some(self.fail(&format!(
                "speaks protocol {version} and the running keeper {PROTOCOL_VERSION}: it can only replace \
                 a daemon that is stopped, which ends the terminals"
            ))),
            _ => Some(self.fail("did not begin with a hello")),
        }
    }

    /// Judges a program that has ended. It is not reaped yet.
    pub(super) fn exited(&mut self, status: WaitStatus, poller: &mut Poller) -> Option<Verdict> {
        // A hello may have arrived before the end.
        let received = self.receive(poller);
        if self.is_over {
            return received;
        }
        Some(self.fail(&status.to_string()))
    }

    /// Ends the program and what it has started. It was not reaped, so its pid is its own.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        sys::kill_unreaped(Unreaped::GroupOf(self.pid), SIGKILL);
        // It may not have made its group yet.
        sys::kill_unreaped(Unreaped::Child(self.pid), SIGKILL);
    }

    /// Takes a trial that is about to be reaped out of the epoll.
    pub(super) fn unwatch(mut self, poller: &mut Poller) {
        self.end();
        self.control.unwatch(poller);
        self.stderr.unwatch(poller);
    }

    fn fail(&mut self, how: &str) -> Verdict {
        self.end();
        let said = one_line(&self.said);
        Verdict::Failed(if said.is_empty() {
            format!("it {how}")
        } else {
            format!("it {how}: {said}")
        })
    }

    /// Reads at most what fits a pipe: a program that writes without end holds nobody up.
    fn drain_stderr(&mut self, poller: &mut Poller) {
        let mut chunk = vec![0; PIPE_BYTES];
        match rustix::io::read(&self.stderr.fd, &mut chunk) {
            Ok(0) => self.stderr.unwatch(poller),
            Ok(length) => {
                self.said
                    .extend_from_slice(chunk.get(..length).unwrap_or_default());
                keep_end(&mut self.said);
            }
            Err(_) => {}
        }
    }
}

/// Drops what is too much at the beginning of a text, and the line that this cuts.
fn keep_end(text: &mut Vec<u8>) {
    let excess = text.len().saturating_sub(MAX_KEPT);
    if excess == 0 {
        return;
    }
    text.drain(..excess);
    let line_end = text.iter().position(|&byte| byte == b'\n');
    // A single line is kept in part.
    if let Some(line_end) = line_end.filter(|line_end| line_end + 1 < text.len()) {
        text.drain(..=line_end);
    }
}

/// The last lines of a text as one line, with no character that a tty or a log would obey.
fn one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut lines: Vec<&str> = lines.collect();
    lines.dedup();
    let lines = lines.split_off(lines.len().saturating_sub(MAX_TOLD_LINES));
    let plain = |character: char| {
        if character.is_control() {
            character.escape_default().collect()
        } else {
            String::from(character)
        }
    };
    lines.join(" / ").chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_wrote_is_one_plain_line() {
        assert_eq!(
            one_line(b"\n a\n\n b \x1b[31m\xff\n"),
            "a / b \\u{1b}[31m\u{fffd}"
        );
        assert_eq!(one_line(b" \n"), "");
        assert_eq!(one_line(&b"bad thing\n".repeat(50)), "bad thing");
        assert_eq!(one_line(b"1\n2\n3\n4\n"), "3 / 4");
    }

    #[test]
    fn of_a_flood_whole_lines_are_kept() {
        let kept = |text: &[u8]| {
            let mut text = text.to_vec();
            keep_end(&mut text);
            text
        };
        assert_eq!(one_line(&kept(&b"bad thing\n".repeat(99))), "bad thing");
        assert_eq!(kept(&[b'x'; 600]).len(), MAX_KEPT);
        assert_eq!(kept(b"a\nb\n"), b"a\nb\n");
    }
}
