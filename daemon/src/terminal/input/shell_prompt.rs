//! Whether a line that is typed now is the next one that the shell runs. Pure.
//!
//! The marks say whether the shell is at its prompt, and what was typed since that prompt whether another
//! line waits there: it is not read yet, or is not whole (a continuation prompt has no marks). Lines that
//! were typed while a command ran may still be in the tty.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::screen::CommandState;

use crate::terminal::handle::Terminal;
use crate::terminal::output::shell_log::{Mark, Step};
use termd_vt::Model;

/// How long a shell is at a prompt before it has read the lines that were typed ahead.
const AT_PROMPT: Duration = Duration::from_millis(60);

/// Where a shell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptState {
    /// At its prompt, and nothing waits there.
    Free,
    /// At its prompt, where a line waits that was typed before, or a part of one.
    LineWaits,
    /// At its prompt, where answers of the terminal stand that a command asked for and did not read.
    AnswersStand,
    /// Not at its prompt, or not for certain.
    Elsewhere,
}

impl PromptState {
    /// Where the shell of a terminal is now. A mark after `offset` makes it [`Elsewhere`](Self::Elsewhere):
    /// the command of another line may have begun since.
    pub(crate) fn of(terminal: &Terminal, offset: Offset) -> Self {
        let progress = terminal.progress();
        let known = terminal.shell(|log| {
            // What is not read yet may be a mark.
            let is_read = log.read_to() >= progress.end;
            is_read.then(|| (log.first_state(), log.between(Offset::ZERO, log.read_to())))
        });
        let Some((before, marks)) = known else {
            return Self::Elsewhere;
        };
        if marks.last().is_some_and(|mark| mark.offset > offset) {
            return Self::Elsewhere;
        }
        let quiet = progress.screen.changed_at.elapsed();
        let state = Self::judge(
            before,
            &marks,
            &terminal.typed.lines(),
            terminal.typed.is_interrupted(),
            quiet,
        );
        match Unread::of(terminal).filter(|_| state == Self::Free) {
            None => state,
            Some(_) if quiet < AT_PROMPT => Self::Elsewhere,
            // That the shell has read it shows in its echo alone.
            Some(unread) => match terminal.screen.look(Model::cursor_left_prompt).flatten() {
                Some(true) => unread.at_prompt(),
                Some(false) | None => state,
            },
        }
    }

    /// The same at a prompt where the tty itself may hold answers as the beginning of a line, of which nothing
    /// is seen there.
    pub(crate) fn with_line_buffer(
        self,
        terminal: &Terminal,
        is_canonical: impl FnOnce() -> bool,
    ) -> Self {
        let may_hold_answers = self == Self::Free && Unread::of(terminal) == Some(Unread::Answers);
        if may_hold_answers && is_canonical() {
            Self::AnswersStand
        } else {
            self
        }
    }

    /// The same at a prompt of which the gate says whether a part of a line was typed and not ended.
    pub(crate) fn with_unended_text(self, terminal: &Terminal, holds_text: bool) -> Self {
        let typed = terminal.typed.newest_offset();
        // What was typed before the prompt was for a program.
        let prompt = terminal.shell(|log| log.newest_prompt());
        if self == Self::Free && holds_text && typed >= Some(prompt) {
            Self::LineWaits
        } else {
            self
        }
    }

    /// Judges by the state before the first of `marks`, where each line was `typed`, whether Ctrl-C was
    /// after the last, and the time without output.
    fn judge(
        before: CommandState,
        marks: &[Mark],
        typed: &[Offset],
        is_interrupted: bool,
        quiet: Duration,
    ) -> Self {
        let state = marks.last().map_or(before, |mark| mark.step.state());
        let has_ended = marks.last().is_some_and(|it| it.step == Step::Finished);
        if has_ended || !matches!(state, CommandState::Prompt | CommandState::Input) {
            return Self::Elsewhere;
        }
        let prompt = marks.iter().rev().find(|it| it.step == Step::PromptStart);
        let prompt = prompt.map_or(Offset::ZERO, |mark| mark.offset);
        // fish stays at its prompt after Ctrl-C.
        let waits = typed.last().is_some_and(|line| *line >= prompt);
        if waits && !is_interrupted {
            return Self::LineWaits;
        }
        if quiet < AT_PROMPT && (waits || may_be_ahead(marks, typed)) {
            return Self::Elsewhere;
        }
        Self::Free
    }
}

/// What the newest command may have left in the tty, where the shell reads it at its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    /// What somebody typed while it ran.
    Typed,
    /// The terminal's answers to its queries.
    Answers,
}

impl Unread {
    fn of(terminal: &Terminal) -> Option<Self> {
        let newest = |step| terminal.shell(|log| log.newest(step));
        let (command, prompt) = (newest(Step::OutputStart), newest(Step::PromptStart));
        let typed = terminal.typed.newest_offset();
        if typed.is_some_and(|typed| typed >= command && typed < prompt) {
            return Some(Self::Typed);
        }
        let is_answered = terminal.typed.newest_answer() > Some(command);
        is_answered.then_some(Self::Answers)
    }

    fn at_prompt(self) -> PromptState {
        match self {
            Self::Typed => PromptState::LineWaits,
            Self::Answers => PromptState::AnswersStand,
        }
    }
}

/// Whether fewer commands were begun than lines typed: some may have gone to programs, some still be on
/// their way.
fn may_be_ahead(marks: &[Mark], typed: &[Offset]) -> bool {
    let mut typed = typed.iter().peekable();
    let mut waiting = 0_usize;
    for mark in marks.iter().filter(|it| it.step == Step::OutputStart) {
        while typed.next_if(|line| **line < mark.offset).is_some() {
            waiting += 1;
        }
        waiting = waiting.saturating_sub(1);
    }
    waiting + typed.count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_next_one_only_at_a_prompt_where_none_waits() {
        use PromptState::{Elsewhere, Free, LineWaits};
        use Step::{Finished, OutputStart, PromptEnd, PromptStart};
        let long = Duration::from_secs(1);
        // The marks have the offsets 10, 20, …
        for (steps, typed, quiet, expected) in [
            (&[][..], &[][..], long, Elsewhere),
            (&[PromptStart], &[], Duration::ZERO, Free),
            (&[PromptStart, PromptEnd], &[], Duration::ZERO, Free),
            // Not read yet, or a continuation prompt.
            (&[PromptStart, PromptEnd], &[20], long, LineWaits),
            (&[PromptStart, PromptEnd], &[10], long, LineWaits),
            (&[PromptStart, OutputStart], &[10], long, Elsewhere),
            (
                &[PromptStart, OutputStart, Finished],
                &[10],
                long,
                Elsewhere,
            ),
            (
                &[PromptStart, OutputStart, Finished, PromptStart],
                &[10],
                Duration::ZERO,
                Free,
            ),
            // Two lines, and one command: the other may be on its way.
            (
                &[PromptStart, OutputStart, Finished, PromptStart],
                &[10, 20],
                Duration::ZERO,
                Elsewhere,
            ),
            (
                &[PromptStart, OutputStart, Finished, PromptStart],
                &[10, 20],
                long,
                Free,
            ),
            // Typed while the shell read its startup files.
            (&[PromptStart], &[5], Duration::ZERO, Elsewhere),
            (&[PromptStart], &[5], long, Free),
        ] {
            let marks: Vec<Mark> = (1..)
                .map(|at| Offset(at * 10))
                .zip(steps)
                .map(|(offset, step)| Mark {
                    offset,
                    step: *step,
                })
                .collect();
            let typed: Vec<Offset> = typed.iter().copied().map(Offset).collect();
            let state = PromptState::judge(CommandState::Unknown, &marks, &typed, false, quiet);
            assert_eq!(state, expected, "{steps:?} {typed:?}");
        }
        let resumed = PromptState::judge(CommandState::Input, &[], &[], false, Duration::ZERO);
        assert_eq!(resumed, Free);
        let line = [Offset(20)];
        for (quiet, expected) in [(Duration::ZERO, Elsewhere), (long, Free)] {
            let state = PromptState::judge(CommandState::Input, &[], &line, true, quiet);
            assert_eq!(state, expected);
        }
    }
}
