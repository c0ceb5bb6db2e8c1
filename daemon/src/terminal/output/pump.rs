//! From the PTY or the pipes into the spool, and from the spool onto the screen.
//!
//! Reading comes first: a program that prints as fast as it is read must not wait for its screen. The
//! screen is fed while the PTY is empty, and is up to date whenever the PTY has nothing more.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use termd_proto::Offset;
use termd_vt::Event;

use super::screen_feeder::ScreenFeeder;
use super::shell_commands::{CommandChange, ShellCommands};
use super::source::Pipes;
use super::spool::Spool;
use super::spool_writer::{Meanwhile, PumpStop, SpoolWriter};
use crate::terminal::handle::Terminal;
use crate::terminal::input::InputQueue;

/// Bytes fed at a time while the PTY is empty: some tens of µs of log lines.
const MAX_PIECE_BYTES: u64 = 64 << 10;
/// During a flood the screen is fed in pieces of at least this. Most lines of a large piece scroll off
/// before anybody can see them: of 8 KiB a third is drawn.
const MIN_PIECE_BYTES: u64 = 32 << 10;
/// How far the screen may lag behind a flood, in bytes.
const MAX_LAG_BYTES: u64 = 256 << 10;

/// Moves one terminal's output.
#[derive(Debug)]
pub struct OutputPump {
    /// A PTY's way into the spool; pipes need none.
    writer: Option<SpoolWriter>,
    feeder: ScreenFeeder,
}

impl OutputPump {
    /// Goes on where the screen is fed up to the end of the output; `events` came of that.
    pub fn new(
        writer: Option<SpoolWriter>,
        terminal: Arc<Terminal>,
        commands: ShellCommands,
        events: Vec<(u64, Event)>,
    ) -> Self {
        Self {
            writer,
            feeder: ScreenFeeder::new(terminal, commands, events),
        }
    }

    /// The next start or end of a command for the store.
    pub fn next_change(&mut self) -> Option<CommandChange> {
        self.feeder.next_change()
    }

    pub fn has_changes(&self) -> bool {
        self.feeder.has_changes()
    }

    /// No output follows.
    pub fn finish(&mut self, input: &mut InputQueue) {
        self.feed_all(input);
        self.feeder.finish();
    }

    /// The screen shows the output up to here.
    pub fn fed(&self) -> Offset {
        self.feeder.fed()
    }

    /// The end of the output.
    pub fn end(&self) -> Offset {
        let spool = self.feeder.terminal().transcript.spool();
        spool.map_or(Offset::ZERO, Spool::end)
    }

    /// Moves what the PTY has, up to a budget. The screen's answers go into `input`.
    pub fn pump(&mut self, master: &OwnedFd, input: &mut InputQueue) -> io::Result<PumpStop> {
        let terminal = Arc::clone(self.feeder.terminal());
        let (Some(spool), Some(writer)) = (terminal.transcript.spool(), &mut self.writer) else {
            return Ok(PumpStop::HungUp);
        };
        let feeder = &mut self.feeder;
        let stop = writer.pump(master, spool, |end| {
            if end.since(feeder.fed()) < MIN_PIECE_BYTES {
                return Meanwhile::Idle;
            }
            let until = end.min(feeder.fed() + MAX_PIECE_BYTES);
            feeder.feed(spool, until, input);
            Meanwhile::Worked
        });
        self.follow(spool, &stop, input);
        stop
    }

    /// Moves what the pipes have, a turn of each. The screen's answers go into `input`, which a
    /// command on pipes cannot read.
    pub fn pump_pipes(
        &mut self,
        pipes: &mut Pipes,
        input: &mut InputQueue,
    ) -> io::Result<PumpStop> {
        let terminal = Arc::clone(self.feeder.terminal());
        let transcript = &terminal.transcript;
        let (Some(spool), Some(streams)) = (transcript.spool(), transcript.streams()) else {
            return Ok(PumpStop::HungUp);
        };
        let stop = pipes.pump(spool, streams);
        self.follow(spool, &stop, input);
        stop
    }

    /// Feeds the screen, unless more output waits and the screen is not far behind.
    fn follow(&mut self, spool: &Spool, stop: &io::Result<PumpStop>, input: &mut InputQueue) {
        let end = spool.end();
        let in_flood = matches!(stop, Ok(PumpStop::Budget));
        if !in_flood || end.since(self.feeder.fed()) > MAX_LAG_BYTES {
            self.feeder.feed(spool, end, input);
        }
    }

    /// Brings the screen up to the end of the output.
    pub fn feed_all(&mut self, input: &mut InputQueue) {
        let terminal = Arc::clone(self.feeder.terminal());
        if let Some(spool) = terminal.transcript.spool() {
            self.feeder.feed(spool, spool.end(), input);
        }
    }
}
