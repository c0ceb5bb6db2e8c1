//! Whether the command that was typed is done. Pure.
//!
//! The shell's marks say so for certain. Without them the reader of the tty does: a line editor takes the
//! tty out of canonical mode to read, and puts it back before it runs anything; and the foreground
//! process group is the shell's own again when its command has ended. Otherwise a program is busy, and
//! the command is not done.
//!
//! A program that sleeps in a read of its tty awaits input, whatever it has printed: the kernel would
//! wake it if there were any. A program that sleeps in select(2) or poll(2) may wait for anything. It
//! counts where it watches nothing but its tty, or has given the tty the settings of a line editor.

use std::time::Duration;

use termd_proto::interact::{AwaitedInput, DoneBy, InputKind, InputKnownBy};
use termd_proto::screen::CommandState;

use super::prompt::{PromptKind, PromptLook};
use crate::terminal::output::shell_log::Step;

/// How long a shell is at a prompt before it has run all lines that were typed ahead: what it needs
/// between a prompt and running a line that it has already.
const AT_PROMPT: Duration = Duration::from_millis(60);
/// The same for a shell that has not drawn its prompt: it may run programs for it.
const PROMPT_PATIENCE: Duration = Duration::from_millis(500);
/// The same for a shell that has run nothing yet: it may still read its startup files.
const AT_FIRST_PROMPT: Duration = Duration::from_millis(600);
/// How long a program that sleeps in a read of its tty is quiet before it counts as waiting: what comes
/// at once after its last output is waited for, such as the end of a prompt that is written in pieces.
const READ_QUIET: Duration = Duration::from_millis(100);
/// How much longer to wait where less was printed than the input's echo. Input reaches a sleeping reader
/// within milliseconds.
const READ_PATIENCE: Duration = Duration::from_millis(200);
/// How long a program is quiet that sleeps in poll(2) with a line editor's settings and shows no prompt.
const POLL_QUIET: Duration = Duration::from_millis(300);
/// How long a shell that has taken a line and not run it is quiet before it counts as waiting for the
/// rest of it.
const CONTINUATION_QUIET: Duration = Duration::from_millis(150);
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
/// How much longer to wait where a shell's prompt is not the one that was there all the time: it may be
/// output, and the shell at work.
const STRANGE_PATIENCE: Duration = Duration::from_millis(3_500);
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
    /// A line was given to the shell, which has not run it: [`by_shell`] decides.
    AskShell,
    /// The shell is at a prompt, and fewer prompts came than lines were given: [`by_reader`] decides.
    AskReader,
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
    /// Whether something stands on the cursor's line.
    pub shows_prompt: bool,
}

impl Marks {
    /// The shell's state now.
    pub fn state(&self) -> CommandState {
        (self.since.last()).map_or(self.at_typing, |step| step.state())
    }

    fn count(&self, step: Step) -> usize {
        self.since.iter().filter(|it| **it == step).count()
    }
}

/// Takes off the prompt that was on its way when the input was typed, and answers nothing of it. Returns
/// the shell's state after it.
pub fn take_prompt(since: &mut Vec<Step>) -> CommandState {
    let prompt = [Step::PromptStart, Step::PromptEnd].iter();
    let drawn = since.iter().zip(prompt).take_while(|(step, of)| step == of);
    let mut taken = since.drain(..drawn.count());
    taken.next_back().map_or(CommandState::Unknown, Step::state)
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
            CommandState::Input => Completion::Done(DoneBy::Marks),
            CommandState::Prompt => at_prompt(marks, quiet),
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
    if marks.since.last() == Some(&Step::Continued) {
        return after(AT_PROMPT, quiet, DoneBy::Foreground);
    }
    let (began, ended) = (marks.count(Step::OutputStart), marks.count(Step::Finished));
    // fish does not tell where its prompt ends.
    let may_read = |state| matches!(state, CommandState::Input | CommandState::Prompt);
    let at_input = may_read(marks.at_typing);
    // After a command's end the prompt is still to come.
    let is_between = marks.since.last() == Some(&Step::Finished);
    // The line was run, and its command has ended.
    if at_input && lines == 1 && began > 0 && ended > 0 {
        return match state {
            CommandState::Input => Completion::Done(DoneBy::Marks),
            CommandState::Prompt => at_prompt(marks, quiet),
            _ => after(AT_PROMPT, quiet, DoneBy::Marks),
        };
    }
    // Each line has a prompt; an empty line has no other marks. One more was on its way before.
    let prompts = marks.count(Step::PromptStart);
    if at_input && lines > 0 && prompts >= lines {
        if state == CommandState::Input {
            return Completion::Done(DoneBy::Marks);
        }
        if state == CommandState::Prompt {
            return at_prompt(marks, quiet);
        }
    }
    if !may_read(state) || is_between {
        return Completion::NotYet;
    }
    if lines > 0 && marks.since.is_empty() {
        return match CONTINUATION_QUIET.checked_sub(quiet) {
            None | Some(Duration::ZERO) => Completion::AskShell,
            Some(left) => Completion::NotBefore(left),
        };
    }
    // A program was typed to, so the shell has run something.
    let has_run = began > 0 || marks.at_typing == CommandState::Running;
    let needed = if has_run || lines == 0 {
        AT_PROMPT
    } else {
        AT_FIRST_PROMPT
    };
    match after(needed, quiet, DoneBy::Marks) {
        Completion::Done(_) if prompts < lines => Completion::AskReader,
        verdict => verdict,
    }
}

/// Judges a shell whose prompt has begun. Before the mark of its end it may still be drawn; fish tells no
/// such end.
fn at_prompt(marks: &Marks, quiet: Duration) -> Completion {
    let needed = if marks.shows_prompt {
        AT_PROMPT
    } else {
        PROMPT_PATIENCE
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
    /// It sleeps in select(2) or poll(2), for the tty or anything else.
    Polls,
    /// It sleeps in select(2) for input of nothing but its tty.
    SelectsTty,
    /// It sleeps in a read of a tty.
    ReadsTty,
}

impl ProcessState {
    /// Whether it sleeps until its tty has input.
    pub fn waits_for_tty(self) -> bool {
        matches!(self, Self::SelectsTty | Self::ReadsTty)
    }

    /// Whether it may sleep until its tty has input.
    pub fn may_wait_for_tty(self) -> bool {
        self.waits_for_tty() || matches!(self, Self::Sleeps | Self::Polls)
    }
}

/// How the tty takes input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TtyMode {
    /// It gathers lines (ICANON).
    Canonical,
    /// The same, and it does not show them: a secret is asked for.
    Secret,
    /// A line editor reads keys: ICANON is off, signals and output are still the tty's.
    Editor,
    /// The program passes everything on, as ssh does.
    Raw,
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
    /// Whether it is the terminal's own program.
    pub is_root: bool,
    pub doing: ProcessState,
    pub tty: TtyMode,
    /// The look of the last line.
    pub prompt: PromptLook,
    pub printed: Printed,
}

impl ForegroundState {
    fn looks_like_prompt(&self) -> bool {
        self.prompt.confidence >= PROMPT_CONFIDENCE
    }

    fn is_canonical(&self) -> bool {
        matches!(self.tty, TtyMode::Canonical | TtyMode::Secret)
    }

    /// Whether the kernel says that the program waits for its tty. While a tty gathers lines, programs
    /// select(2) from it beside their work, to be interrupted.
    fn waits_for_tty(&self) -> bool {
        match self.doing {
            ProcessState::ReadsTty => true,
            ProcessState::SelectsTty => !self.is_canonical(),
            _ => false,
        }
    }

    /// Whether the program sleeps in poll(2), and its tty has the settings of a line editor.
    fn polls_as_editor(&self) -> bool {
        self.doing == ProcessState::Polls && self.tty == TtyMode::Editor
    }

    /// What the program awaits, where it awaits something. The terminal's own shell is in a command of
    /// its own while its marks say that one runs (`read` in fish edits lines).
    pub fn awaited(&self, runs_in: RunsIn) -> AwaitedInput {
        let is_at_prompt = match self.kind {
            ProgramKind::EditingShell if self.is_root && runs_in == RunsIn::Command => false,
            ProgramKind::EditingShell => !self.is_canonical(),
            ProgramKind::PlainShell | ProgramKind::Program => self.looks_like_prompt(),
        };
        AwaitedInput {
            kind: match (is_at_prompt, self.prompt.kind) {
                (true, PromptKind::Command | PromptKind::Strange) => InputKind::Command,
                (true, PromptKind::Continuation) => InputKind::Continuation,
                (true, PromptKind::Question) | (false, _) => InputKind::Line,
            },
            known_by: self.known_by(),
        }
    }

    /// How it is known that a shell awaits the rest of a line.
    pub fn continuation_known_by(&self) -> InputKnownBy {
        match self.kind {
            ProgramKind::EditingShell => InputKnownBy::Kernel,
            ProgramKind::PlainShell | ProgramKind::Program => InputKnownBy::Prompt,
        }
    }

    /// A program that selects from its tty beside its work shows no prompt there.
    fn known_by(&self) -> InputKnownBy {
        if self.doing.waits_for_tty() || self.polls_as_editor() {
            InputKnownBy::Kernel
        } else {
            InputKnownBy::Prompt
        }
    }
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
    if seen.waits_for_tty() {
        let by = match seen.kind {
            ProgramKind::Program if seen.looks_like_prompt() => DoneBy::Prompt,
            _ => DoneBy::Foreground,
        };
        let quiet = match seen.printed {
            Printed::None | Printed::Part => quiet.saturating_sub(READ_PATIENCE),
            Printed::Whole => quiet,
        };
        return after(READ_QUIET, quiet, by);
    }
    let quiet = match seen.prompt.kind {
        PromptKind::Strange => quiet.saturating_sub(STRANGE_PATIENCE),
        _ => quiet,
    };
    let quiet = match seen.printed {
        _ if !seen.doing.may_wait_for_tty() => return Completion::NotYet,
        Printed::None => return Completion::NotYet,
        Printed::Part => quiet.saturating_sub(ECHO_PATIENCE),
        Printed::Whole => quiet,
    };
    let looks_like_prompt = seen.looks_like_prompt();
    if runs_in == RunsIn::Command {
        // A mark will show the command's end. Before that, only a sure prompt counts. That of su(1) is
        // known by the tty alone: what a process of another user sleeps in is not readable.
        return if looks_like_prompt && seen.tty != TtyMode::Canonical {
            after(WITHIN_COMMAND_QUIET, quiet, DoneBy::Prompt)
        } else if seen.polls_as_editor() {
            after(POLL_QUIET, quiet, DoneBy::Foreground)
        } else {
            Completion::NotYet
        };
    }
    match seen.kind {
        ProgramKind::EditingShell if !seen.is_canonical() => {
            after(SHELL_QUIET, quiet, DoneBy::Foreground)
        }
        ProgramKind::PlainShell if looks_like_prompt => {
            after(SHELL_QUIET, quiet, DoneBy::Foreground)
        }
        ProgramKind::Program if looks_like_prompt && !seen.is_canonical() => {
            after(EDITOR_QUIET, quiet, DoneBy::Prompt)
        }
        ProgramKind::Program | ProgramKind::EditingShell if looks_like_prompt => {
            after(COOKED_QUIET, quiet, DoneBy::Prompt)
        }
        _ if seen.polls_as_editor() => after(POLL_QUIET, quiet, DoneBy::Foreground),
        _ => Completion::NotYet,
    }
}

/// Judges a shell that has taken a line and not run it: it may be busy, or read the rest of it.
pub fn by_shell(seen: &ForegroundState, quiet: Duration) -> Completion {
    let has_taken_it = seen.waits_for_tty() || seen.printed != Printed::None;
    if !has_taken_it || !seen.doing.may_wait_for_tty() || seen.is_canonical() {
        return Completion::NotYet;
    }
    match seen.kind {
        ProgramKind::EditingShell => after(CONTINUATION_QUIET, quiet, DoneBy::Foreground),
        // The shell is on another machine.
        _ if seen.looks_like_prompt() => after(COOKED_QUIET, quiet, DoneBy::Prompt),
        _ => Completion::NotYet,
    }
}

/// Judges a shell at a prompt that may have more to run: what was typed ahead has no mark where it begins
/// in a shell that leaves editing to the tty.
pub fn by_reader(seen: &ForegroundState) -> Completion {
    if seen.doing.may_wait_for_tty() {
        Completion::Done(DoneBy::Marks)
    } else {
        Completion::NotYet
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
