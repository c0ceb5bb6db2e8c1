//! Which input a terminal awaits: by the shell's marks, by the kernel, and by the look of its last line.
//! Pure.

use std::time::Duration;

use termd_proto::interact::{AwaitedInput, InputKind, InputKnownBy};
use termd_proto::screen::CommandState;

use super::completion::{Completion, ForegroundState, RunsIn, by_process, by_shell};

/// What the shell says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellState {
    pub command_state: CommandState,
    /// Whether its last mark says that the command line goes on.
    pub is_continued: bool,
    /// Whether a line was given to it at its prompt, since its last mark.
    pub has_line: bool,
}

impl ShellState {
    fn is_at_prompt(self) -> bool {
        matches!(
            self.command_state,
            CommandState::Prompt | CommandState::Input
        )
    }
}

/// What is awaited after so much time without output, where the foreground program is `seen`.
pub fn awaited_input(
    shell: ShellState,
    seen: Option<&ForegroundState>,
    quiet: Duration,
) -> Option<AwaitedInput> {
    if shell.is_at_prompt() && !shell.has_line {
        return Some(AwaitedInput {
            kind: if shell.is_continued {
                InputKind::Continuation
            } else {
                InputKind::Command
            },
            known_by: InputKnownBy::Marks,
        });
    }
    let seen = seen?;
    let verdict = match shell.command_state {
        CommandState::Prompt | CommandState::Input => by_shell(seen, quiet),
        CommandState::Running => by_process(seen, RunsIn::Command, quiet),
        CommandState::Unknown => by_process(seen, RunsIn::Terminal, quiet),
    };
    matches!(verdict, Completion::Done(_)).then(|| awaited_by(shell, seen))
}

/// What the foreground program awaits, where it is known that it awaits something.
pub fn awaited_by(shell: ShellState, seen: &ForegroundState) -> AwaitedInput {
    if shell.is_at_prompt() {
        AwaitedInput {
            kind: InputKind::Continuation,
            known_by: seen.continuation_known_by(),
        }
    } else {
        seen.awaited(match shell.command_state {
            CommandState::Running => RunsIn::Command,
            _ => RunsIn::Terminal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::completion::{Printed, ProcessState, ProgramKind, TtyMode};
    use super::super::prompt::{PromptKind, PromptLook};
    use super::*;

    const LONG: Duration = Duration::from_secs(10);
    const LOOK: PromptLook = PromptLook {
        confidence: 0.9,
        kind: PromptKind::Command,
    };
    const BASH: ForegroundState = ForegroundState {
        kind: ProgramKind::EditingShell,
        is_root: true,
        doing: ProcessState::SelectsTty,
        tty: TtyMode::Editor,
        prompt: LOOK,
        printed: Printed::Whole,
    };

    fn at(command_state: CommandState, has_line: bool) -> ShellState {
        ShellState {
            command_state,
            is_continued: false,
            has_line,
        }
    }

    #[test]
    fn a_shell_with_a_line_that_is_not_run_awaits_the_rest_and_is_not_at_its_prompt() {
        let prompt = awaited_input(at(CommandState::Input, false), Some(&BASH), Duration::ZERO);
        let expected = AwaitedInput {
            kind: InputKind::Command,
            known_by: InputKnownBy::Marks,
        };
        assert_eq!(prompt, Some(expected));
        let shell = at(CommandState::Input, true);
        assert_eq!(awaited_input(shell, Some(&BASH), Duration::ZERO), None);
        let expected = AwaitedInput {
            kind: InputKind::Continuation,
            known_by: InputKnownBy::Kernel,
        };
        assert_eq!(awaited_input(shell, Some(&BASH), LONG), Some(expected));
        let busy = ForegroundState {
            doing: ProcessState::Runs,
            ..BASH
        };
        assert_eq!(awaited_input(shell, Some(&busy), LONG), None);
        // The shell is on another machine, and ssh passes everything on.
        let ssh = ForegroundState {
            kind: ProgramKind::Program,
            doing: ProcessState::Polls,
            tty: TtyMode::Raw,
            ..BASH
        };
        let expected = AwaitedInput {
            known_by: InputKnownBy::Prompt,
            ..expected
        };
        assert_eq!(awaited_input(shell, Some(&ssh), LONG), Some(expected));
    }

    #[test]
    fn a_program_that_reads_its_tty_awaits_a_line_whatever_it_shows() {
        let cat = ForegroundState {
            kind: ProgramKind::Program,
            doing: ProcessState::ReadsTty,
            tty: TtyMode::Canonical,
            prompt: PromptLook {
                confidence: 0.0,
                ..LOOK
            },
            ..BASH
        };
        let running = at(CommandState::Running, false);
        let expected = AwaitedInput {
            kind: InputKind::Line,
            known_by: InputKnownBy::Kernel,
        };
        assert_eq!(awaited_input(running, Some(&cat), LONG), Some(expected));
        // A build that sleeps in poll(2).
        let build = ForegroundState {
            doing: ProcessState::Polls,
            ..cat
        };
        assert_eq!(awaited_input(running, Some(&build), LONG), None);
        // python3 at its prompt, and its input() with a question.
        let python = ForegroundState {
            doing: ProcessState::SelectsTty,
            tty: TtyMode::Editor,
            prompt: LOOK,
            ..cat
        };
        let asks = ForegroundState {
            prompt: PromptLook {
                kind: PromptKind::Question,
                ..LOOK
            },
            ..python
        };
        let kind = |seen| awaited_input(running, Some(seen), LONG).unwrap().kind;
        assert_eq!(
            (kind(&python), kind(&asks)),
            (InputKind::Command, InputKind::Line)
        );
    }
}
