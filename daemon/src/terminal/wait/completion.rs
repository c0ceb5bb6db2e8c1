//! Whether the command that was typed is done. Pure.
//!
//! The shell's marks say it for certain. Without them: who reads the tty, and how. A line editor
//! takes the tty out of canonical mode to read, and puts it back before it runs anything; the
//! foreground process group is a shell's own again when its command has ended. What says neither is
//! a program's business, and not done.
//!
//! It must not know: processes, terminals, clocks.

use std::time::Duration;

use termd_proto::interact::DoneBy;
use termd_proto::screen::CommandState;

use crate::terminal::output::shell_log::Step;

/// At a prompt for so long, every line that was typed is behind: what a shell needs between a
/// prompt and running a line that it has already.
const AT_PROMPT: Duration = Duration::from_millis(60);
/// The same where the shell has not run anything yet: it may be reading its files still.
const AT_FIRST_PROMPT: Duration = Duration::from_millis(600);
/// How long output is quiet before a shell without marks counts as having nothing to say.
const SHELL_QUIET: Duration = Duration::from_millis(100);
/// The same for a program that edits lines itself and shows its prompt.
const EDITOR_QUIET: Duration = Duration::from_millis(150);
/// The same for one that reads its lines from the tty's own editing, as running programs do, too.
const COOKED_QUIET: Duration = Duration::from_millis(500);
/// The same within a command whose end a mark will tell: it waits for somebody, or seems to.
const WITHIN_COMMAND_QUIET: Duration = Duration::from_millis(400);
/// So much longer where less was printed than the echo of what was typed, which may be on its way:
/// a shell's prompt, too, comes late on a machine that is busy.
const ECHO_PATIENCE: Duration = Duration::from_secs(1);
/// How much a last line must look like a prompt.
const PROMPT_CONFIDENCE: f32 = 0.6;

/// Whether it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// It is.
    Done(DoneBy),
    /// Not before so much time has passed without output.
    NotBefore(Duration),
    /// Not before something happens.
    NotYet,
    /// The marks do not say: [`by_process`] is to be asked.
    AskProcess(Within),
}

/// Where a program runs of which the marks say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// In a terminal whose shell sets no marks, or in a program that was typed to.
    Nothing,
    /// In a command that the marks told of.
    Command,
}

/// What the marks say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    /// Whether termd has given this shell its marks.
    pub are_expected: bool,
    /// What the shell did when the wait's input was typed; without input, at its beginning.
    pub at_typing: CommandState,
    /// The marks since then.
    pub since: Vec<Step>,
    /// Lines that were typed; `None`: nothing was.
    pub lines: Option<usize>,
}

impl Marks {
    fn state(&self) -> CommandState {
        (self.since.last()).map_or(self.at_typing, |step| step.state())
    }

    fn count(&self, step: Step) -> usize {
        self.since.iter().filter(|it| **it == step).count()
    }
}

/// What the marks say after so much time without output.
pub fn by_marks(marks: &Marks, quiet: Duration) -> Completion {
    let speaks =
        marks.are_expected || marks.at_typing != CommandState::Unknown || !marks.since.is_empty();
    if !speaks {
        return Completion::AskProcess(Within::Nothing);
    }
    let state = marks.state();
    let Some(lines) = marks.lines else {
        return match state {
            CommandState::Running => Completion::AskProcess(Within::Command),
            CommandState::Prompt | CommandState::Input => Completion::Done(DoneBy::Marks),
            CommandState::Unknown => Completion::NotYet,
        };
    };
    if state == CommandState::Running {
        let within = if marks.at_typing == CommandState::Running && marks.since.is_empty() {
            Within::Nothing
        } else {
            Within::Command
        };
        return Completion::AskProcess(within);
    }
    let (began, ended) = (marks.count(Step::OutputStart), marks.count(Step::Finished));
    // fish does not tell where its prompt ends.
    let may_read = |state| matches!(state, CommandState::Input | CommandState::Prompt);
    let at_input = may_read(marks.at_typing);
    // After a command's end its prompt is still to come, and with it where the shell is now.
    let is_between = marks.since.last() == Some(&Step::Finished);
    // The line was run, and that is over.
    if at_input && lines == 1 && began > 0 && ended > 0 {
        return if is_between {
            after(AT_PROMPT, quiet, DoneBy::Marks)
        } else {
            Completion::Done(DoneBy::Marks)
        };
    }
    // A prompt for each line: an empty line has no other marks. One more was on its way before.
    let prompts = marks.count(Step::PromptStart);
    if at_input && lines > 0 && prompts >= lines {
        if state == CommandState::Input {
            return Completion::Done(DoneBy::Marks);
        }
        if state == CommandState::Prompt {
            return after(AT_PROMPT, quiet, DoneBy::Marks);
        }
    }
    let is_behind = lines == 0 || !marks.since.is_empty();
    if !may_read(state) || !is_behind || is_between {
        return Completion::NotYet;
    }
    let needed = if began > 0 || lines == 0 {
        AT_PROMPT
    } else {
        AT_FIRST_PROMPT
    };
    after(needed, quiet, DoneBy::Marks)
}

/// What the foreground program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs, or has just been told to.
    Runs,
    /// It sleeps: for the tty, or for anything else.
    Sleeps,
    /// It sleeps, and not for the tty.
    SleepsElsewhere,
    /// It sleeps in a read of a tty.
    ReadsTty,
}

/// What kind of program is in the foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramKind {
    /// A shell that edits lines itself: bash, zsh, fish.
    EditingShell,
    /// A shell that leaves that to the tty: dash.
    PlainShell,
    /// Any other.
    Program,
}

/// What is seen of the foreground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForegroundState {
    /// What it is.
    pub kind: ProgramKind,
    /// What it does.
    pub doing: ProcessState,
    /// Whether it is the terminal's own program, or the one that the input was typed to.
    pub is_home: bool,
    /// ICANON: the tty gathers lines.
    pub canonical: bool,
    /// How much the last line looks like a prompt.
    pub prompt: f32,
    /// What was printed since the typing.
    pub answer: Printed,
}

/// What was printed since the typing, its echo included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// Nothing.
    None,
    /// Less than the tty's echo of it.
    Part,
    /// As much at least; or nothing was typed, or not where the tty echoes.
    Whole,
}

/// What the foreground says after so much time without output.
pub fn by_process(seen: &ForegroundState, within: Within, quiet: Duration) -> Completion {
    let reads = matches!(seen.doing, ProcessState::Sleeps | ProcessState::ReadsTty);
    let quiet = match seen.answer {
        _ if !reads => return Completion::NotYet,
        Printed::None => return Completion::NotYet,
        Printed::Part => quiet.saturating_sub(ECHO_PATIENCE),
        Printed::Whole => quiet,
    };
    let looks_like_prompt = seen.prompt >= PROMPT_CONFIDENCE;
    if within == Within::Command {
        // Its end will be told; only who surely waits for somebody ends the wait before.
        let waits = !seen.canonical || seen.doing == ProcessState::ReadsTty;
        return if looks_like_prompt && waits {
            after(WITHIN_COMMAND_QUIET, quiet, DoneBy::Prompt)
        } else {
            Completion::NotYet
        };
    }
    match seen.kind {
        ProgramKind::EditingShell if !seen.canonical => {
            after(SHELL_QUIET, quiet, DoneBy::Foreground)
        }
        ProgramKind::PlainShell if looks_like_prompt => {
            after(SHELL_QUIET, quiet, DoneBy::Foreground)
        }
        ProgramKind::Program if looks_like_prompt && !seen.canonical => {
            after(EDITOR_QUIET, quiet, DoneBy::Prompt)
        }
        ProgramKind::Program | ProgramKind::EditingShell if looks_like_prompt => {
            after(COOKED_QUIET, quiet, DoneBy::Prompt)
        }
        _ if seen.is_home && seen.canonical && seen.doing == ProcessState::ReadsTty => {
            after(COOKED_QUIET, quiet, DoneBy::Foreground)
        }
        _ => Completion::NotYet,
    }
}

fn after(needed: Duration, quiet: Duration, by: DoneBy) -> Completion {
    match needed.checked_sub(quiet) {
        None | Some(Duration::ZERO) => Completion::Done(by),
        Some(left) => Completion::NotBefore(left),
    }
}

#[cfg(test)]
mod tests;
