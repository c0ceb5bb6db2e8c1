use super::*;

const LONG: Duration = Duration::from_secs(10);

fn marks(at_typing: CommandState, since: &[Step], lines: Option<usize>) -> Marks {
    Marks {
        are_expected: true,
        at_typing,
        since: since.to_vec(),
        lines,
        shows_prompt: true,
    }
}

#[test]
fn a_prompt_that_was_on_its_way_answers_nothing() {
    use CommandState::{Input, Prompt, Unknown};
    use Step::{Finished as D, OutputStart as C, PromptEnd as B, PromptStart as A};
    let table: [(&[Step], CommandState, &[Step]); 5] = [
        (&[], Unknown, &[]),
        (&[A], Prompt, &[]),
        (&[A, B], Input, &[]),
        (&[A, A], Prompt, &[A]),
        (&[A, B, C, D, A, B], Input, &[C, D, A, B]),
    ];
    for (all, state, rest) in table {
        let mut since = all.to_vec();
        assert_eq!(take_prompt(&mut since), state, "{all:?}");
        assert_eq!(since, rest, "{all:?}");
    }
}

/// The shell's state at first, what it then says, lines typed, how long it is quiet; the verdict.
type Row<'a> = (
    CommandState,
    &'a [Step],
    Option<usize>,
    Duration,
    Completion,
);

#[test]
fn marks_are_followed_to_the_end_of_what_was_typed() {
    use CommandState::{Input, Prompt, Running, Unknown};
    use Completion::{AskProcess, AskReader, AskShell, NotBefore, NotYet};
    use Step::{Continued as P, Finished as D, OutputStart as C, PromptEnd as B, PromptStart as A};
    let done = Completion::Done(DoneBy::Marks);
    let (now, zero) = (LONG, Duration::ZERO);
    let table: &[Row<'_>] = &[
        // Nothing typed.
        (Input, &[], None, zero, done),
        (Prompt, &[], None, zero, NotBefore(AT_PROMPT)),
        (Prompt, &[], None, AT_PROMPT, done),
        (Unknown, &[], None, now, NotYet),
        (Running, &[], None, zero, AskProcess(RunsIn::Command)),
        (Running, &[D], None, AT_PROMPT, done),
        // One line.
        (Input, &[], Some(1), zero, NotBefore(CONTINUATION_QUIET)),
        (Input, &[], Some(1), now, AskShell),
        (Input, &[C], Some(1), zero, AskProcess(RunsIn::Command)),
        (Input, &[C, D], Some(1), zero, NotBefore(AT_PROMPT)),
        (Input, &[C, D], Some(1), AT_PROMPT, done),
        (Input, &[C, D, A], Some(1), zero, NotBefore(AT_PROMPT)),
        (Input, &[C, D, A], Some(1), AT_PROMPT, done),
        (Input, &[C, D, A, B], Some(1), zero, done),
        (Input, &[A, B], Some(1), zero, done),
        // A shell that marks its second prompt, and cannot tell before that the line is complete.
        (Input, &[C, P], Some(1), zero, NotBefore(AT_PROMPT)),
        (
            Input,
            &[C, P],
            Some(1),
            AT_PROMPT,
            Completion::Done(DoneBy::Foreground),
        ),
        // Two: the second one has not begun yet.
        (Input, &[C, D], Some(2), now, NotYet),
        (Input, &[C, D, A, B], Some(2), zero, NotBefore(AT_PROMPT)),
        (Input, &[C, D, A, B], Some(2), AT_PROMPT, AskReader),
        (Input, &[C, D, A, B, C, D, A, B], Some(2), zero, done),
        (
            Input,
            &[C, D, A, B, C],
            Some(2),
            now,
            AskProcess(RunsIn::Command),
        ),
        // fish, which has no B.
        (Prompt, &[], Some(1), now, AskShell),
        (Prompt, &[C, D, A], Some(1), zero, NotBefore(AT_PROMPT)),
        (Prompt, &[C, D, A], Some(1), AT_PROMPT, done),
        (Prompt, &[A], Some(1), zero, NotBefore(AT_PROMPT)),
        (Prompt, &[A], Some(1), AT_PROMPT, done),
        (
            Prompt,
            &[C, D, A, C],
            Some(2),
            now,
            AskProcess(RunsIn::Command),
        ),
        (Prompt, &[C, D, A, C, D, A], Some(2), AT_PROMPT, done),
        (Unknown, &[A], Some(1), zero, NotBefore(AT_FIRST_PROMPT)),
        // Typed before the first prompt.
        (Unknown, &[A, B], Some(1), zero, NotBefore(AT_FIRST_PROMPT)),
        (Unknown, &[A, B, C, D], Some(1), now, NotYet),
        (Unknown, &[A, B, C, D, A, B], Some(1), AT_PROMPT, done),
        // Typed to a program.
        (Running, &[], Some(1), now, AskProcess(RunsIn::Terminal)),
        (Running, &[D, A, B], Some(1), zero, NotBefore(AT_PROMPT)),
        (Running, &[D, A, B], Some(1), AT_PROMPT, done),
        // No Enter.
        (Input, &[], Some(0), AT_PROMPT, done),
    ];
    for (at_typing, since, lines, quiet, verdict) in table {
        let marks = marks(*at_typing, since, *lines);
        assert_eq!(by_marks(&marks, *quiet), *verdict, "{marks:?} {quiet:?}");
    }
    let undrawn: [(&[Step], _); 3] = [(&[C, D, A], Some(1)), (&[A], Some(1)), (&[A], None)];
    for (since, lines) in undrawn {
        let undrawn = Marks {
            shows_prompt: false,
            ..marks(Prompt, since, lines)
        };
        assert_eq!(
            by_marks(&undrawn, zero),
            NotBefore(PROMPT_PATIENCE),
            "{undrawn:?}"
        );
    }
    let silent = Marks {
        are_expected: false,
        ..marks(Unknown, &[], Some(1))
    };
    assert_eq!(by_marks(&silent, LONG), AskProcess(RunsIn::Terminal));
}

const SURE: PromptLook = PromptLook {
    confidence: 0.95,
    kind: PromptKind::Command,
};
const NONE: PromptLook = PromptLook {
    confidence: 0.0,
    ..SURE
};

/// Its system call is not known, as where Yama hides it.
const PYTHON_AT_PROMPT: ForegroundState = ForegroundState {
    is_root: false,
    kind: ProgramKind::Program,
    doing: ProcessState::Polls,
    tty: TtyMode::Editor,
    prompt: SURE,
    printed: Printed::Whole,
};

#[test]
fn who_reads_the_tty_is_done() {
    let python = PYTHON_AT_PROMPT;
    let busy_python = ForegroundState {
        prompt: NONE,
        tty: TtyMode::Canonical,
        ..python
    };
    let dash = ForegroundState {
        kind: ProgramKind::PlainShell,
        tty: TtyMode::Canonical,
        prompt: SURE,
        ..python
    };
    let bash = ForegroundState {
        kind: ProgramKind::EditingShell,
        prompt: NONE,
        ..python
    };
    let cat = ForegroundState {
        doing: ProcessState::ReadsTty,
        ..busy_python
    };
    let bc = ForegroundState {
        prompt: NONE,
        ..python
    };
    let doing = |doing, seen| ForegroundState { doing, ..seen };
    let (by_prompt, by_foreground) = (Some(DoneBy::Prompt), Some(DoneBy::Foreground));
    let table = [
        (python, by_prompt),
        (doing(ProcessState::SelectsTty, python), by_prompt),
        (doing(ProcessState::Sleeps, python), by_prompt),
        // time.sleep(2)
        (busy_python, None),
        (doing(ProcessState::Runs, python), None),
        (doing(ProcessState::SleepsElsewhere, python), None),
        (
            ForegroundState {
                printed: Printed::None,
                ..python
            },
            None,
        ),
        (dash, by_foreground),
        (
            ForegroundState {
                prompt: NONE,
                ..dash
            },
            None,
        ),
        (bash, by_foreground),
        (
            ForegroundState {
                tty: TtyMode::Canonical,
                ..bash
            },
            None,
        ),
        (bc, by_foreground),
        (doing(ProcessState::SelectsTty, bc), by_foreground),
        (doing(ProcessState::Sleeps, bc), None),
        // ssh runs something without a word.
        (
            ForegroundState {
                tty: TtyMode::Raw,
                ..bc
            },
            None,
        ),
        (cat, by_foreground),
        (
            ForegroundState {
                printed: Printed::None,
                ..cat
            },
            by_foreground,
        ),
        (doing(ProcessState::Sleeps, cat), None),
        // A build that looks for keys beside its work.
        (doing(ProcessState::SelectsTty, cat), None),
    ];
    for (seen, by) in table {
        let verdict = by.map_or(Completion::NotYet, Completion::Done);
        assert_eq!(
            by_process(&seen, RunsIn::Terminal, LONG),
            verdict,
            "{seen:?}"
        );
        let early = by_process(&seen, RunsIn::Terminal, Duration::ZERO);
        assert!(!matches!(early, Completion::Done(_)), "{seen:?}");
    }
}

/// A prompt that comes before the echo of a line is not the prompt after it.
#[test]
fn where_the_echo_is_still_to_come_more_patience_is_needed() {
    let early = ForegroundState {
        printed: Printed::Part,
        ..PYTHON_AT_PROMPT
    };
    let by = |quiet| by_process(&early, RunsIn::Terminal, quiet);
    let whole = Duration::from_millis(150);
    assert_eq!(by(whole), Completion::NotBefore(whole));
    assert_eq!(by(Duration::from_secs(1)), Completion::NotBefore(whole));
    assert_eq!(
        by(Duration::from_secs(1) + whole),
        Completion::Done(DoneBy::Prompt)
    );
}

#[test]
fn within_a_command_a_look_alike_is_not_enough() {
    let python = PYTHON_AT_PROMPT;
    let by = |seen| by_process(&seen, RunsIn::Command, LONG);
    assert_eq!(by(python), Completion::Done(DoneBy::Prompt));
    // printf 'x$ '; sleep 2
    let fake = ForegroundState {
        tty: TtyMode::Canonical,
        ..python
    };
    assert_eq!(by(fake), Completion::NotYet);
    // su
    let secret = ForegroundState {
        tty: TtyMode::Secret,
        doing: ProcessState::Sleeps,
        ..python
    };
    assert_eq!(by(secret), Completion::Done(DoneBy::Prompt));
    let silent = ForegroundState {
        doing: ProcessState::Sleeps,
        prompt: NONE,
        ..python
    };
    assert_eq!(by(silent), Completion::NotYet);
    // read x
    let reads = ForegroundState {
        doing: ProcessState::ReadsTty,
        tty: TtyMode::Canonical,
        ..silent
    };
    assert_eq!(by(reads), Completion::Done(DoneBy::Foreground));
}

#[test]
fn a_shell_that_edits_after_enter_reads_the_rest_of_the_line() {
    let zsh = ForegroundState {
        kind: ProgramKind::EditingShell,
        doing: ProcessState::ReadsTty,
        prompt: NONE,
        ..PYTHON_AT_PROMPT
    };
    let by = |seen| by_shell(&seen, LONG);
    assert_eq!(by(zsh), Completion::Done(DoneBy::Foreground));
    // A hook before the command runs something.
    let busy = ForegroundState {
        doing: ProcessState::SleepsElsewhere,
        ..zsh
    };
    let between = ForegroundState {
        tty: TtyMode::Canonical,
        ..zsh
    };
    assert_eq!(
        (by(busy), by(between)),
        (Completion::NotYet, Completion::NotYet)
    );
}

/// ssh, where `printf 'root@vm:~$ '; sleep 3` runs in a shell whose prompt is `root@vm:~# `.
#[test]
fn a_strange_prompt_needs_patience() {
    let ssh = ForegroundState {
        tty: TtyMode::Raw,
        prompt: PromptLook {
            kind: PromptKind::Strange,
            ..SURE
        },
        ..PYTHON_AT_PROMPT
    };
    let by = |quiet| by_process(&ssh, RunsIn::Terminal, quiet);
    let three = Duration::from_secs(3);
    assert!(matches!(by(three), Completion::NotBefore(_)));
    assert_eq!(by(LONG), Completion::Done(DoneBy::Prompt));
}
