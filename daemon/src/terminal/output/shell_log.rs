//! The recent marks of a terminal's shell, by offset, so that a wait tells prompt, input and a command's
//! output apart. Pure.
//!
//! Marks are in the order of their offsets, and bounded. The state before the oldest mark is known.

use std::collections::VecDeque;

use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::screen::CommandState;
use termd_proto::{Offset, TerminalId};

use super::shell_commands::CommandChange;
use termd_vt::Event;

/// Marks remembered: some 250 commands, 16 KiB. Waits look back to their caller's last read or send.
const MAX_MARKS: usize = 1_024;

/// One step of a shell from prompt to prompt (OSC 133, 633).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A: a prompt is being drawn.
    PromptStart,
    /// B: what is typed follows.
    PromptEnd,
    /// P;k=s: the command line is not complete, and goes on after this prompt.
    Continued,
    /// C: a command's output follows.
    OutputStart,
    /// D: the command has ended.
    Finished,
}

impl Step {
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::PromptStart => Some(Self::PromptStart),
            Event::PromptEnd => Some(Self::PromptEnd),
            Event::Continuation => Some(Self::Continued),
            Event::OutputStart => Some(Self::OutputStart),
            Event::CommandFinished { .. } => Some(Self::Finished),
            _ => None,
        }
    }

    /// The shell's state after this step.
    pub fn state(self) -> CommandState {
        match self {
            Self::PromptStart | Self::Finished => CommandState::Prompt,
            Self::PromptEnd | Self::Continued => CommandState::Input,
            Self::OutputStart => CommandState::Running,
        }
    }
}

/// A step in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The offset after the mark.
    pub offset: Offset,
    pub step: Step,
}

/// A shell at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellNow {
    pub state: CommandState,
    /// Whether its newest mark says that the command line goes on.
    pub is_continued: bool,
    /// From where on a line that was typed is one for the present prompt.
    pub reads_since: Offset,
    /// The newest command. It has ended where the state says that none runs.
    pub command: Option<CommandInfo>,
}

/// Where a command ends, as far as marks were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    At(Offset),
    /// It runs, or its mark was not read yet: all before this is its output.
    NotBefore(Offset),
    /// It has ended, and the next one has begun. The store will know where in a moment.
    NotYetStored,
}

/// The last marks of a terminal's shell.
#[derive(Debug, Default)]
pub struct ShellLog {
    /// The state before the oldest mark.
    before: CommandState,
    marks: VecDeque<Mark>,
    /// The newest command.
    last: Option<CommandInfo>,
    read_to: Offset,
}

impl ShellLog {
    /// Goes on where an earlier server has left a terminal: with the state at the end of the output,
    /// unless marks were read again, and the newest command.
    pub fn resume(&mut self, state: CommandState, last: Option<CommandInfo>) {
        if self.marks.is_empty() {
            self.before = state;
        }
        if self.last.is_none() {
            self.last = last.filter(|command| command.source == CommandSource::Shell);
        }
    }

    pub fn push(&mut self, offset: Offset, step: Step) {
        if self.marks.len() >= MAX_MARKS
            && let Some(oldest) = self.marks.pop_front()
        {
            self.before = oldest.step.state();
        }
        self.marks.push_back(Mark { offset, step });
    }

    /// The shell after the newest mark.
    pub fn now(&self) -> ShellNow {
        let newest = self.marks.back().map(|mark| mark.step);
        ShellNow {
            state: newest.map_or(self.before, Step::state),
            is_continued: newest == Some(Step::Continued),
            reads_since: self.reads_since(),
            command: self.last.clone(),
        }
    }

    /// From where on a line that was typed is one for the present prompt: the newest mark, or the end of the
    /// command before the prompt, behind which a line may be typed before the prompt is drawn.
    fn reads_since(&self) -> Offset {
        let mut earlier = self.marks.iter().rev().peekable();
        let newest = earlier.peek().map_or(Offset::ZERO, |mark| mark.offset);
        for step in [Step::PromptEnd, Step::PromptStart] {
            earlier.next_if(|mark| mark.step == step);
        }
        match earlier.peek() {
            Some(mark) if mark.step == Step::Finished => mark.offset,
            Some(_) => newest,
            None => Offset::ZERO,
        }
    }

    /// Takes a start or an end of a command.
    pub fn on(&mut self, terminal: &TerminalId, change: &CommandChange) {
        match change {
            CommandChange::Started(started) => {
                self.last = Some(CommandInfo {
                    terminal: terminal.clone(),
                    number: started.number,
                    source: CommandSource::Shell,
                    text: started.text.clone(),
                    agent_line: None,
                    cwd: started.cwd.clone(),
                    started_at_ms: started.at_ms,
                    ended_at_ms: None,
                    exit_code: None,
                    signal: None,
                    start: started.start_offset,
                    end: None,
                    output_sha256: None,
                    imported: false,
                });
            }
            CommandChange::Ended(ended) => {
                if let Some(last) = &mut self.last
                    && last.number == ended.number
                {
                    last.ended_at_ms = Some(ended.at_ms);
                    last.exit_code = ended.exit_code;
                    last.end = Some(ended.end_offset);
                }
            }
        }
    }

    /// Marks before `to` are known.
    pub fn has_read(&mut self, to: Offset) {
        self.read_to = self.read_to.max(to);
    }

    /// All marks before this offset are known.
    pub fn read_to(&self) -> Offset {
        self.read_to
    }

    /// The state before the oldest mark.
    pub fn first_state(&self) -> CommandState {
        self.before
    }

    /// The shell's state where the output ended here.
    pub fn state_at(&self, offset: Offset) -> CommandState {
        let mut earlier = self.marks.iter().rev();
        let newest = earlier.find(|mark| mark.offset <= offset);
        newest.map_or(self.before, |mark| mark.step.state())
    }

    /// Where the newest prompt begins; at the start of the output where none is remembered.
    pub fn newest_prompt(&self) -> Offset {
        self.newest(Step::PromptStart)
    }

    /// The newest mark of this step; the start of the output where none is remembered.
    pub fn newest(&self, step: Step) -> Offset {
        let mut earlier = self.marks.iter().rev();
        let newest = earlier.find(|mark| mark.step == step);
        newest.map_or(Offset::ZERO, |mark| mark.offset)
    }

    /// Whether a command has ended before this offset and the next prompt has not begun.
    pub fn is_between_prompts(&self, offset: Offset) -> bool {
        let mut earlier = self.marks.iter().rev();
        let newest = earlier.find(|mark| mark.offset <= offset);
        newest.is_some_and(|mark| mark.step == Step::Finished)
    }

    /// The marks between two offsets, in order: after `after`, and at most at `to`. The commands of marks
    /// up to [`read_to`](Self::read_to) are in [`last_command`](Self::last_command).
    pub fn between(&self, after: Offset, to: Offset) -> Vec<Mark> {
        let all = self.marks.iter();
        let between = all.filter(|mark| mark.offset > after && mark.offset <= to);
        between.copied().collect()
    }

    pub fn last_command(&self) -> Option<&CommandInfo> {
        self.last.as_ref()
    }

    /// Adds the end to a command that the store still counts as running.
    pub fn add_end(&self, command: &mut CommandInfo) {
        let last = self.last.as_ref();
        if command.ended_at_ms.is_none()
            && let Some(last) = last.filter(|last| last.number == command.number)
        {
            command.ended_at_ms = last.ended_at_ms;
            command.exit_code = last.exit_code;
            command.end = last.end;
        }
    }

    /// The end of a command that the store still counts as running.
    pub fn end_of(&self, number: u64) -> CommandEnd {
        match &self.last {
            Some(last) if last.number > number => CommandEnd::NotYetStored,
            Some(CommandInfo { end: Some(end), .. }) => CommandEnd::At(*end),
            Some(_) | None => CommandEnd::NotBefore(self.read_to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell_commands::{CommandEnded, CommandStarted};
    use super::*;

    #[test]
    fn a_state_is_that_of_the_mark_before() {
        let mut log = ShellLog::default();
        assert_eq!(log.state_at(Offset(5)), CommandState::Unknown);
        log.resume(CommandState::Input, None);
        log.push(Offset(10), Step::OutputStart);
        log.push(Offset(20), Step::Finished);
        let table = [
            (9, CommandState::Input, 2),
            (10, CommandState::Running, 1),
            (19, CommandState::Running, 1),
            (20, CommandState::Prompt, 0),
        ];
        assert!(!log.is_between_prompts(Offset(19)) && log.is_between_prompts(Offset(20)));
        for (offset, state, later) in table {
            assert_eq!(log.state_at(Offset(offset)), state, "{offset}");
            assert_eq!(
                log.between(Offset(offset), Offset(99)).len(),
                later,
                "{offset}"
            );
        }
    }

    #[test]
    fn a_line_for_the_prompt_may_be_typed_before_it_is_drawn() {
        use Step::{Continued, Finished, OutputStart, PromptEnd, PromptStart};
        for (steps, since) in [
            (&[][..], 0),
            (&[PromptStart, PromptEnd], 0),
            (&[OutputStart], 0),
            (&[PromptStart, PromptEnd, OutputStart, Finished], 3),
            (&[OutputStart, Finished, PromptStart], 1),
            (&[OutputStart, Finished, PromptStart, PromptEnd], 1),
            // The line before was cleared, or was empty.
            (&[Finished, PromptStart, PromptStart], 2),
            (
                &[Finished, PromptStart, PromptEnd, PromptStart, PromptEnd],
                4,
            ),
            (&[Finished, PromptStart, PromptEnd, Continued], 3),
        ] {
            let mut log = ShellLog::default();
            for (at, step) in (0..).zip(steps) {
                log.push(Offset(at), *step);
            }
            assert_eq!(log.now().reads_since, Offset(since), "{steps:?}");
        }
    }

    #[test]
    fn a_commands_end_is_known_with_its_mark() {
        let (mut log, id) = (ShellLog::default(), TerminalId::from_random(1));
        log.has_read(Offset(10));
        assert_eq!(log.end_of(1), CommandEnd::NotBefore(Offset(10)));
        let started = |number, offset| {
            CommandChange::Started(CommandStarted {
                number,
                text: String::new(),
                cwd: None,
                at_ms: 0,
                start_offset: Offset(offset),
            })
        };
        log.on(&id, &started(1, 10));
        log.has_read(Offset(20));
        assert_eq!(log.end_of(1), CommandEnd::NotBefore(Offset(20)));
        let ended = CommandEnded {
            number: 1,
            exit_code: Some(0),
            at_ms: 0,
            end_offset: Offset(15),
        };
        log.on(&id, &CommandChange::Ended(ended));
        assert_eq!(log.end_of(1), CommandEnd::At(Offset(15)));
        log.on(&id, &started(2, 20));
        assert_eq!(log.end_of(1), CommandEnd::NotYetStored);
    }

    #[test]
    fn the_oldest_marks_become_the_state_before() {
        let mut log = ShellLog::default();
        for n in 0..2_000 {
            let step = [Step::OutputStart, Step::Finished][n % 2];
            log.push(Offset(n as u64), step);
        }
        assert_eq!(log.between(Offset(0), Offset(9_999)).len(), MAX_MARKS);
        assert_eq!(log.state_at(Offset(1)), CommandState::Prompt);
    }
}
