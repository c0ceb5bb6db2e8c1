//! Feeds the screen from the spool, and heeds what the shell says of its commands.

use std::collections::VecDeque;
use std::sync::Arc;

use termd_proto::Offset;
use termd_proto::attention::ReportedState;
use termd_proto::screen::{CommandState, Progress};
use termd_vt::Event;

use super::shell_commands::{CommandChange, ShellCommands, ShellMark};
use super::shell_log::Step;
use super::spool::Spool;
use crate::clock::now_ms;
use crate::terminal::handle::Terminal;
use crate::terminal::input::InputQueue;
use crate::terminal::lifecycle::attention_log::Said;

/// Starts and ends of commands that wait for the store. Later ones are not recorded: a shell that runs
/// thousands of commands while the disk takes nothing loses rows, not output.
const MAX_WAITING_CHANGES: usize = 4_096;

/// Brings the screen up to the output.
#[derive(Debug)]
pub(super) struct ScreenFeeder {
    terminal: Arc<Terminal>,
    /// The screen shows the output up to here.
    fed: Offset,
    commands: ShellCommands,
    /// Starts and ends that the store does not have yet.
    changes: VecDeque<CommandChange>,
    /// Whether the log says that commands are not recorded.
    has_warned: bool,
}

impl ScreenFeeder {
    /// Goes on where the screen is fed up to the end of the output; `events` came of that.
    pub(super) fn new(
        terminal: Arc<Terminal>,
        commands: ShellCommands,
        events: Vec<(u64, Event)>,
    ) -> Self {
        let fed = terminal.end();
        let mut feeder = Self {
            terminal,
            fed,
            commands,
            changes: VecDeque::new(),
            has_warned: false,
        };
        feeder.heed(events);
        feeder.terminal.shell(|log| log.has_read(fed));
        feeder
    }

    pub(super) fn fed(&self) -> Offset {
        self.fed
    }

    pub(super) fn terminal(&self) -> &Arc<Terminal> {
        &self.terminal
    }

    pub(super) fn next_change(&mut self) -> Option<CommandChange> {
        self.changes.pop_front()
    }

    pub(super) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Feeds the screen up to `until`. Its answers to queries go into `input`.
    pub(super) fn feed(&mut self, spool: &Spool, until: Offset, input: &mut InputQueue) {
        let terminal = Arc::clone(&self.terminal);
        let fed = terminal.screen.feed(spool, self.fed, until, |fed| {
            if !fed.replies.is_empty() {
                terminal.typed.answered(until);
                terminal.input_budget.add(input.push_answer(fed.replies));
            }
            if !fed.events.is_empty() {
                self.hear(&fed.events);
                self.heed(fed.events);
            }
        });
        if let Err(error) = fed {
            tracing::error!(terminal = %terminal.id(), %error, "the screen cannot follow");
        }
        // Where bytes are gone, the screen goes on after them.
        self.fed = until;
        terminal.shell(|log| log.has_read(until));
    }

    /// No output follows: a command that still runs in the shell has ended.
    pub(super) fn finish(&mut self) {
        let ended = self.commands.terminal_ended(self.fed, now_ms());
        self.log(ended.as_slice());
        self.changes.extend(ended);
    }

    /// Notes what the programs say of themselves to a person. What an earlier server has heard is not said
    /// again.
    fn hear(&self, events: &[(u64, Event)]) {
        let attention = &self.terminal.attention;
        let mut state = self.terminal.shell(|log| log.now()).state;
        for (_, event) in events {
            state = Step::of(event).map_or(state, Step::state);
            match event {
                Event::Notification(text) => attention.say(Said {
                    state: ReportedState::Input,
                    text: text.clone(),
                    at_ms: now_ms(),
                }),
                // A shell rings at its prompt for what it cannot complete.
                Event::Bell if runs_something(state) => attention.say(Said {
                    state: ReportedState::Input,
                    text: "bell".to_owned(),
                    at_ms: now_ms(),
                }),
                Event::Progress(Some(Progress::Error(_))) => attention.say(Said {
                    state: ReportedState::Failed,
                    text: "its progress is an error".to_owned(),
                    at_ms: now_ms(),
                }),
                Event::OutputStart => attention.answered(),
                _ => {}
            }
        }
    }

    fn heed(&mut self, events: Vec<(u64, Event)>) {
        for (offset, event) in events {
            let step = Step::of(&event);
            let mark = self.mark(Offset(offset), event);
            let changes = mark.map(|mark| self.commands.on(mark, now_ms()));
            let changes = changes.unwrap_or_default();
            // At once, so that nobody sees a shell at its prompt whose command has not ended.
            let id = self.terminal.id();
            self.terminal.shell(|log| {
                if let Some(step) = step {
                    log.push(Offset(offset), step);
                }
                for change in &changes {
                    log.on(id, change);
                }
            });
            if self.changes.len() + changes.len() <= MAX_WAITING_CHANGES {
                self.changes.extend(changes);
            } else if !std::mem::replace(&mut self.has_warned, true) {
                // A program can print any number of marks.
                tracing::warn!(terminal = %self.terminal.id(), "commands are not recorded");
            }
        }
    }

    /// Shows the changes to those who wait.
    fn log(&self, changes: &[CommandChange]) {
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

fn runs_something(state: CommandState) -> bool {
    matches!(state, CommandState::Running | CommandState::Unknown)
}
