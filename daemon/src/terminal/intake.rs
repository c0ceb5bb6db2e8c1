//! From the PTY into the spool, and from the spool onto the screen.
//!
//! Reading comes first: a program that prints as fast as it is read must not wait for its screen.
//! The screen follows in the moments in which the PTY is empty, and is up to date whenever the PTY
//! has nothing more.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use termd_proto::Offset;

use super::handle::Terminal;
use super::input::InputQueue;
use super::spool::{Intake, Meanwhile, PumpStop, Spool};

/// What the screen is fed while the PTY is empty, in bytes: it takes as long as a program needs to
/// fill the PTY again.
const MORSEL_BYTES: u64 = 8 << 10;
/// How far the screen may be behind a flood, in bytes; from then on it is fed all the same.
const LONGEST_LAG_BYTES: u64 = 256 << 10;

/// The way of one terminal's output.
#[derive(Debug)]
pub struct Reading {
    intake: Intake,
    follower: Follower,
}

/// What brings the screen up to the output.
#[derive(Debug)]
struct Follower {
    terminal: Arc<Terminal>,
    /// The screen shows the output up to here.
    fed: Offset,
}

impl Reading {
    /// Whoever made the terminal has fed its screen with the output so far.
    pub fn new(intake: Intake, terminal: Arc<Terminal>) -> Self {
        let fed = terminal.end();
        Self {
            intake,
            follower: Follower { terminal, fed },
        }
    }

    /// The screen shows the output up to here.
    pub fn fed(&self) -> Offset {
        self.follower.fed
    }

    /// The end of the output.
    pub fn end(&self) -> Offset {
        let spool = self.follower.terminal.transcript.spool();
        spool.map_or(Offset::ZERO, Spool::end)
    }

    /// Moves what the PTY has, up to a budget. The screen's answers go into `input`.
    pub fn pump(&mut self, master: &OwnedFd, input: &mut InputQueue) -> io::Result<PumpStop> {
        let terminal = Arc::clone(&self.follower.terminal);
        let Some(spool) = terminal.transcript.spool() else {
            return Ok(PumpStop::HungUp);
        };
        let follower = &mut self.follower;
        let stop = self.intake.pump(master, spool, |end| {
            if follower.fed >= end {
                return Meanwhile::Idle;
            }
            let until = end.min(follower.fed + MORSEL_BYTES);
            follower.feed(spool, until, input);
            Meanwhile::Worked
        });
        let end = spool.end();
        let in_flood = matches!(stop, Ok(PumpStop::Budget));
        if !in_flood || end.since(follower.fed) > LONGEST_LAG_BYTES {
            follower.feed(spool, end, input);
        }
        stop
    }

    /// Brings the screen up to the end of the output.
    pub fn feed_all(&mut self, input: &mut InputQueue) {
        let terminal = Arc::clone(&self.follower.terminal);
        if let Some(spool) = terminal.transcript.spool() {
            self.follower.feed(spool, spool.end(), input);
        }
    }
}

impl Follower {
    fn feed(&mut self, spool: &Spool, until: Offset, input: &mut InputQueue) {
        let terminal = &self.terminal;
        let fed = terminal.screen.feed(spool, self.fed, until, |fed| {
            if !fed.replies.is_empty() {
                terminal.answer_queued(input.push_answer(fed.replies));
            }
        });
        match fed {
            // Where bytes are gone, the screen goes on after them.
            Ok(_) => self.fed = until,
            Err(error) => {
                tracing::error!(terminal = %terminal.id(), %error, "the screen cannot follow");
                self.fed = until;
            }
        }
    }
}
