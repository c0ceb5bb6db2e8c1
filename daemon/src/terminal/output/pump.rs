//! From the PTY into the spool, and from the spool onto the screen.
//!
//! Reading comes first: a program that prints as fast as it is read must not wait for its screen.
//! The screen follows in the moments in which the PTY is empty, and is up to date whenever the PTY
//! has nothing more.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use termd_proto::Offset;

use super::shell_commands::{CommandChange, ShellCommands, ShellMark};
use super::shell_log::Step;
use super::source::Pipes;
use super::spool::{Intake, Meanwhile, PumpStop, Spool};
use crate::clock::now_ms;
use crate::terminal::handle::Terminal;
use crate::terminal::input::queue::InputQueue;
use termd_vt::Event;

/// What the screen is fed at a time while the PTY is empty, in bytes: some tens of µs of log lines.
const MORSEL_BYTES: u64 = 64 << 10;
/// So far it is behind before it is fed while more comes: of many lines fed at once only the last
/// are ever drawn, and of 8 KiB that is a third.
const LEAST_MORSEL_BYTES: u64 = 32 << 10;
/// How far the screen may be behind a flood, in bytes; from then on it is fed all the same.
const LONGEST_LAG_BYTES: u64 = 256 << 10;

/// Beginnings and ends of commands that wait for the store; of more, the latest are not recorded. A
/// shell that runs thousands of commands while the disk takes nothing loses rows, not output.
const MAX_WAITING_CHANGES: usize = 4_096;

/// The way of one terminal's output.
#[derive(Debug)]
pub struct Reading {
    /// The way of a PTY's; pipes need none.
    intake: Option<Intake>,
    follower: Follower,
}

/// What brings the screen up to the output.
#[derive(Debug)]
struct Follower {
    terminal: Arc<Terminal>,
    /// The screen shows the output up to here.
    fed: Offset,
    /// What is run in its shell.
    commands: ShellCommands,
    /// What the store is to be told of that.
    changes: VecDeque<CommandChange>,
}

impl Reading {
    /// Whoever made the terminal has fed its screen with the output so far; `events` came of that.
    pub fn new(
        intake: Option<Intake>,
        terminal: Arc<Terminal>,
        commands: ShellCommands,
        events: Vec<(u64, Event)>,
    ) -> Self {
        let mut follower = Follower {
            fed: terminal.end(),
            terminal,
            commands,
            changes: VecDeque::new(),
        };
        follower.heed(events);
        let fed = follower.fed;
        follower.terminal.shell(|log| log.has_read(fed));
        Self { intake, follower }
    }

    /// The next beginning or end of a command that the store is to be told of.
    pub fn next_change(&mut self) -> Option<CommandChange> {
        self.follower.changes.pop_front()
    }

    /// Whether there is one.
    pub fn has_changes(&self) -> bool {
        !self.follower.changes.is_empty()
    }

    /// No output follows: what still runs in the shell has ended with it.
    pub fn finish(&mut self, input: &mut InputQueue) {
        self.feed_all(input);
        let follower = &mut self.follower;
        let ended = follower.commands.terminal_ended(follower.fed, now_ms());
        follower.tell(ended.as_slice());
        follower.changes.extend(ended);
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
        let Some(intake) = &mut self.intake else {
            return Ok(PumpStop::HungUp);
        };
        let follower = &mut self.follower;
        let stop = intake.pump(master, spool, |end| {
            if end.since(follower.fed) < LEAST_MORSEL_BYTES {
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

    /// Moves what the pipes have, a turn of each. What the screen answers goes into `input`, where
    /// nobody takes it: the command cannot read it.
    pub fn pump_pipes(
        &mut self,
        pipes: &mut Pipes,
        input: &mut InputQueue,
    ) -> io::Result<PumpStop> {
        let terminal = Arc::clone(&self.follower.terminal);
        let (Some(spool), Some(origins)) =
            (terminal.transcript.spool(), terminal.transcript.origins())
        else {
            return Ok(PumpStop::HungUp);
        };
        let stop = pipes.pump(spool, origins);
        let end = spool.end();
        let in_flood = matches!(stop, Ok(PumpStop::Budget));
        if !in_flood || end.since(self.follower.fed) > LONGEST_LAG_BYTES {
            self.follower.feed(spool, end, input);
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
        let terminal = Arc::clone(&self.terminal);
        let from = self.fed;
        let fed = terminal.screen.feed(spool, from, until, |fed| {
            if !fed.replies.is_empty() {
                terminal.answer_queued(input.push_answer(fed.replies));
            }
            if !fed.events.is_empty() {
                self.heed(fed.events);
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
        terminal.shell(|log| log.has_read(until));
    }

    /// Takes what the shell says of the commands that are run in it.
    fn heed(&mut self, events: Vec<(u64, Event)>) {
        for (offset, event) in events {
            if let Some(step) = Step::of(&event) {
                (self.terminal).shell(|log| log.push(Offset(offset), step));
            }
            let Some(mark) = self.mark(Offset(offset), event) else {
                continue;
            };
            let changes = self.commands.on(mark, now_ms());
            self.tell(&changes);
            if self.changes.len() + changes.len() <= MAX_WAITING_CHANGES {
                self.changes.extend(changes);
            } else {
                tracing::warn!(terminal = %self.terminal.id(), "a command is not recorded");
            }
        }
    }

    /// Tells whoever waits what the marks mean.
    fn tell(&self, changes: &[CommandChange]) {
        let id = self.terminal.id();
        (self.terminal).shell(|log| changes.iter().for_each(|change| log.on(id, change)));
    }

    fn mark(&self, offset: Offset, event: Event) -> Option<ShellMark> {
        match event {
            Event::PromptStart => Some(ShellMark::PromptStart(offset)),
            Event::CommandLine { text, nonce } => {
                let own = self.terminal.record.shell_nonce.as_ref();
                let trusted = own.is_some_and(|own| nonce.as_deref() == Some(own.as_str()));
                Some(ShellMark::CommandLine { text, trusted })
            }
            Event::OutputStart => Some(ShellMark::OutputStart(offset)),
            Event::CommandFinished { exit } => Some(ShellMark::CommandFinished { exit, offset }),
            Event::Cwd(cwd) => Some(ShellMark::Cwd(cwd)),
            _ => None,
        }
    }
}
