//! Whether the command that was typed is done. Pure.
//!
//! The shell's marks say so for certain. Without them the reader of the tty does: a line editor takes the
//! tty out of canonical mode to read, and puts it back before it runs anything; and the foreground
//! process group is the shell's own again when its command has ended. Otherwise a program is busy, and
//! the command is not done.

use std::time::Duration;

use termd_proto::interact::DoneBy;
use termd_proto::screen::CommandState;

use crate::terminal::output::shell_log::Step;

/// How long a shell is at a prompt before it has run all lines that were typed ahead: what it needs
/// between a prompt and running a line that it has already.
const AT_PROMPT: Duration = Duration::from_millis(60);
/// The same for a shell that has run nothing yet: it may still read its startup files.
const AT_FIRST_PROMPT: Duration = Duration::from_millis(600);
/// How long a shell without marks is quiet before it counts as waiting.
const SHELL_QUIET: Duration = Duration::from_millis(100);
/// The same for a program that edits lines itself and shows a prompt.
const EDITOR_QUIET: Duration = Duration::from_millis(150);
/// The same for a program that leaves editing to the tty, as busy programs do too.
const COOKED_QUIET: Duration = Duration::from_millis(500);
/// The same within a command whose end a mark will show.
const WITHIN_COMMAND_QUIET: Duration = Duration::from_millis(400);
/// How much longer to wait where less was printed than the input's echo, which may be on its way: on a
/// busy machine a shell's prompt comes late, too.
const ECHO_PATIENCE: Duration = Duration::from_secs(1);
/// The least confidence that the last line is a prompt.
const PROMPT_CONFIDENCE: f32 = 0.6;

/// Whether the command is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    Done(DoneBy),
    /// Not before so much time has passed without output.
    NotBefore(Duration),
    /// Not before something happens.
    NotYet,
    /// The marks do not say: [`by_process`] decides.
    AskProcess(RunsIn),
}

/// Where the foreground program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsIn {
    /// In a terminal whose shell prints no marks; or it is the program that was typed to.
    Terminal,
    /// In a command that a mark has started.
    Command,
}

/// The shell's marks around the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    /// Whether termd has given the shell its marks.
    pub are_expected: bool,
    /// The shell's state when the input was typed; without input, when the wait began.
    pub at_typing: CommandState,
    /// The marks since then.
    pub since: Vec<Step>,
    /// How many lines were typed; `None` if nothing was.
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

/// Judges by the marks, after so much time without output.
pub fn by_marks(marks: &Marks, quiet: Duration) -> Completion {
    let speaks =
        marks.are_expected || marks.at_typing != CommandState::Unknown || !marks.since.is_empty();
    if !speaks {
        return Completion::AskProcess(RunsIn::Terminal);
    }
    let state = marks.state();
    let Some(lines) = marks.lines else {
        return match state {
            CommandState::Running => Completion::AskProcess(RunsIn::Command),
            CommandState::Prompt | CommandState::Input => Completion::Done(DoneBy::Marks),
            CommandState::Unknown => Completion::NotYet,
        };
    };
    if state == CommandState::Running {
        let runs_in = if marks.at_typing == CommandState::Running && marks.since.is_empty() {
            RunsIn::Terminal
        } else {
            RunsIn::Command
        };
        return Completion::AskProcess(runs_in);
    }
    let (began, ended) = (marks.count(Step::OutputStart), marks.count(Step::Finished));
    // fish does not tell where its prompt ends.
    let may_read = |state| matches!(state, CommandState::Input | CommandState::Prompt);
    let at_input = may_read(marks.at_typing);
    // After a command's end the prompt is still to come.
    let is_between = marks.since.last() == Some(&Step::Finished);
    // The line was run, and its command has ended.
    if at_input && lines == 1 && began > 0 && ended > 0 {
        return if is_between {
            after(AT_PROMPT, quiet, DoneBy::Marks)
        } else {
            Completion::Done(DoneBy::Marks)
        };
    }
    // Each line has a prompt; an empty line has no other marks. One more was on its way before.
    let prompts = marks.count(Step::PromptStart);
    if at_input && lines > 0 && prompts >= lines {
        if state == CommandState::Input {
            return Completion::Done(DoneBy::Marks);
        }
        if state == CommandState::Prompt {
            return after(AT_PROMPT, quiet, DoneBy::Marks);
        }
    }
    let is_past = lines == 0 || !marks.since.is_empty();
    if !may_read(state) || !is_past || is_between {
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
    /// It runs.
    Runs,
    /// It sleeps, for the tty or anything else.
    Sleeps,
    /// It sleeps, but not for the tty.
    SleepsElsewhere,
    /// It sleeps in a read of a tty.
    ReadsTty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramKind {
    /// A shell that edits lines itself: bash, zsh, fish.
    EditingShell,
    /// A shell that leaves editing to the tty: dash.
    PlainShell,
    Program,
}

/// What is known of the foreground program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForegroundState {
    pub kind: ProgramKind,
    pub doing: ProcessState,
    /// Whether it is the terminal's own program, or the one that was typed to.
    pub is_home: bool,
    /// ICANON: the tty gathers lines.
    pub canonical: bool,
    /// The confidence that the last line is a prompt.
    pub prompt: f32,
    pub printed: Printed,
}

/// What was printed since the input, its echo included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    None,
    /// Less than the tty's echo of the input.
    Part,
    /// At least as much; or there is no echo to come.
    Whole,
}

/// Judges by the foreground program, after so much time without output.
pub fn by_process(seen: &ForegroundState, runs_in: RunsIn, quiet: Duration) -> Completion {
    let reads = matches!(seen.doing, ProcessState::Sleeps | ProcessState::ReadsTty);
    let quiet = match seen.printed {
        _ if !reads => return Completion::NotYet,
        Printed::None => return Completion::NotYet,
        Printed::Part => quiet.saturating_sub(ECHO_PATIENCE),
        Printed::Whole => quiet,
    };
    let looks_like_prompt = seen.prompt >= PROMPT_CONFIDENCE;
    if runs_in == RunsIn::Command {
        // A mark will show the command's end. Before that, only a sure prompt counts.
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
