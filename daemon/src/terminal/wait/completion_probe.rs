//! Looks at a terminal to tell whether the command that was typed is done. [`super::completion`]
//! judges.

use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::{AwaitedInput, DoneBy};

use super::awaited_input::{ShellState, awaited_by};
use super::completion::{
    Completion, ForegroundState, Marks, Printed, ProcessState, TtyMode, by_marks, by_process,
    by_reader, by_shell, take_prompt,
};
use super::own_input::OwnInput;
use super::program::{Program, foreground, foreground_leader};
use super::prompt::{self, CursorLine, PromptLook};
use super::screen_wait::settles_at;
use crate::terminal::handle::Terminal;
use crate::terminal::input::tty::LineDiscipline;
use crate::terminal::input::typed_log::TypedText;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::lifecycle::request::Request;
use crate::terminal::output::shell_log::Step;
use termd_vt::Model;

/// The first and the longest pause between two looks at processes, which send no events.
const FIRST_POLL: Duration = Duration::from_millis(20);
const MAX_POLL: Duration = Duration::from_millis(100);
/// How long the screen of a full-screen program is quiet before it counts as drawn. Over a slow line the
/// parts of one screen come some 100 ms apart.
const FULL_SCREEN_QUIET: Duration = Duration::from_millis(250);
/// The same for one that still works on something, as vim does until its file is on the disk. One that
/// computes for minutes is shown as it is.
const FULL_SCREEN_AT_WORK: Duration = Duration::from_secs(3);

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probed {
    /// It is done, or the foreground program awaits this input.
    Done(DoneBy, Option<AwaitedInput>),
    /// A full-screen program has drawn its screen.
    Drawn,
    /// Not yet. Look again when something changes, or at this time.
    Again(Option<Instant>),
}

/// One wait's view of the command.
#[derive(Debug)]
pub struct CompletionProbe {
    since: Offset,
    own_input: Option<OwnInput>,
    poll: Duration,
}

impl CompletionProbe {
    /// For input since `since`, of which `own_input` is the caller's own.
    pub fn new(since: Offset, own_input: Option<OwnInput>) -> Self {
        Self {
            since,
            own_input,
            poll: FIRST_POLL,
        }
    }

    /// Looks now. `begun` is when the wait began.
    pub async fn look(
        &mut self,
        terminal: &Terminal,
        progress: &Progress,
        begun: Instant,
    ) -> Probed {
        let now = Instant::now();
        let typed = terminal.typed.since(self.since);
        let remembered_at = typed.first().map(|typed| typed.offset);
        let typed_at = remembered_at.or(self.own_input.map(|_| self.since));
        let lines = typed.iter().map(|typed| typed.text.matches('\n').count());
        // Keys and secrets are not remembered, and count too.
        let lines = lines.sum::<usize>();
        let lines = typed_at.map(|_| self.own_input.map_or(lines, |own| lines.max(own.lines)));
        let cursor_line = terminal.screen.look(Model::cursor_line);
        let shows_prompt = cursor_line.is_none_or(|(before, _)| !before.trim().is_empty());
        let marks = terminal.shell(|log| {
            let to = log.read_to().min(progress.end);
            let from = typed_at.unwrap_or(to);
            let since = log.between(from, to).into_iter();
            let mut since: Vec<Step> = since.map(|mark| mark.step).collect();
            let at_typing = if log.is_between_prompts(from) {
                take_prompt(&mut since)
            } else {
                log.state_at(from)
            };
            Marks {
                are_expected: terminal.record.shell_nonce.is_some(),
                at_typing,
                since,
                lines,
                shows_prompt,
            }
        });
        // A secret and a key are not remembered, but the program has to read them, too.
        let newest_typed = terminal.typed.newest_at();
        let mut last = newest_typed.map_or(progress.screen.changed_at, |at| {
            at.max(progress.screen.changed_at)
        });
        if typed_at.is_some() {
            last = last.max(begun);
        }
        let quiet = now.saturating_duration_since(last);
        let verdict = by_marks(&marks, quiet);
        let asks = matches!(
            verdict,
            Completion::AskProcess(_) | Completion::AskShell | Completion::AskReader
        );
        if !asks {
            return probed(verdict, None, now);
        }
        if is_full_screen(terminal).await {
            let drawn_after = |quiet| settles_at(progress.screen, quiet).max(last + quiet);
            return if drawn_after(FULL_SCREEN_QUIET) > now {
                Probed::Again(Some(drawn_after(FULL_SCREEN_QUIET)))
            } else if drawn_after(FULL_SCREEN_AT_WORK) > now && is_at_work(terminal) {
                probed(self.polled(Completion::NotYet), None, now)
            } else {
                Probed::Drawn
            };
        }
        let was_typed = terminal.typed.newest_offset() >= Some(self.since);
        let printed_from = typed_at.or(was_typed.then_some(self.since));
        let printed =
            printed_from.map_or(Printed::Whole, |at| printed(&typed, progress.end.since(at)));
        let program = match verdict {
            Completion::AskShell => foreground_leader(terminal.record.pid),
            _ => foreground(terminal.record.pid),
        };
        let seen = match program {
            Some(program) => see(terminal, &program, printed).await,
            None => None,
        };
        // What was printed before the look has ended the quiet, read or not.
        let is_quiet = seen.is_some()
            && terminal.ask(Request::HasOutput).await == Some(false)
            && terminal.end() == progress.end;
        let seen = seen.filter(|_| is_quiet);
        let judge = |seen: &ForegroundState| match verdict {
            Completion::AskProcess(runs_in) => by_process(seen, runs_in, quiet),
            Completion::AskReader => by_reader(seen),
            _ => by_shell(seen, quiet),
        };
        let judged = seen.as_ref().map_or(Completion::NotYet, judge);
        let shell = ShellState {
            command_state: marks.state(),
            is_continued: false,
            has_line: true,
        };
        let awaited = seen.map(|seen| awaited_by(shell, &seen));
        let awaited = awaited.filter(|_| verdict != Completion::AskReader);
        probed(self.polled(judged), awaited, now)
    }

    /// Sets when to look at the program again: ever less often, as nothing announces its changes.
    fn polled(&mut self, verdict: Completion) -> Completion {
        let poll = self.poll;
        self.poll = (poll * 2).min(MAX_POLL);
        match verdict {
            Completion::NotBefore(left) => Completion::NotBefore(left.min(MAX_POLL)),
            Completion::NotYet => Completion::NotBefore(poll),
            verdict => verdict,
        }
    }
}

fn probed(verdict: Completion, awaited: Option<AwaitedInput>, now: Instant) -> Probed {
    match verdict {
        Completion::Done(by) => Probed::Done(by, awaited),
        Completion::NotBefore(left) => Probed::Again(Some(now + left)),
        Completion::NotYet
        | Completion::AskProcess(_)
        | Completion::AskShell
        | Completion::AskReader => Probed::Again(None),
    }
}

async fn see(terminal: &Terminal, program: &Program, printed: Printed) -> Option<ForegroundState> {
    if program.doing == ProcessState::Runs {
        return None;
    }
    let tty = terminal.line_discipline().await?;
    let (before, after) = terminal.screen.look(Model::cursor_line)?;
    let line = CursorLine {
        before: &before,
        after: &after,
    };
    let lines_before = terminal.typed.lines_before(Some(program.group));
    let look = prompt::look(line, &lines_before);
    Some(foreground_state(terminal, program, tty, look, printed))
}

fn is_at_work(terminal: &Terminal) -> bool {
    foreground(terminal.record.pid).is_some_and(|program| program.doing == ProcessState::Runs)
}

async fn is_full_screen(terminal: &Terminal) -> bool {
    let look = |model: &Model| (model.is_full_screen(), model.hides_cursor());
    match terminal.screen.look(look) {
        Some((true, _)) => true,
        Some((false, true)) => draws_screen(terminal.line_discipline().await),
        _ => false,
    }
}

/// Whether a program that hides the cursor draws the whole screen, as top does without the alternate one.
/// One that only shows its progress leaves the tty to gather lines.
pub(super) fn draws_screen(tty: Option<LineDiscipline>) -> bool {
    tty.is_some_and(|tty| !tty.canonical)
}

/// What is known of a program, by its tty and the cursor's line.
pub(super) fn foreground_state(
    terminal: &Terminal,
    program: &Program,
    tty: LineDiscipline,
    look: PromptLook,
    printed: Printed,
) -> ForegroundState {
    ForegroundState {
        kind: program.kind(),
        is_root: program.pid == terminal.record.pid,
        doing: program.doing,
        tty: match tty {
            tty if tty.awaits_secret() => TtyMode::Secret,
            LineDiscipline {
                canonical: true, ..
            } => TtyMode::Canonical,
            LineDiscipline { raw: true, .. } => TtyMode::Raw,
            LineDiscipline { .. } => TtyMode::Editor,
        },
        prompt: look,
        printed,
    }
}

/// How this many bytes of output compare to the echo of these inputs.
fn printed(typed: &[TypedText], output: u64) -> Printed {
    let echoed = typed.iter().filter(|it| it.tty.echo && it.tty.canonical);
    // A character's echo is never shorter than the character.
    let echo = echoed.map(|it| it.text.len() as u64).sum::<u64>();
    match output {
        0 => Printed::None,
        _ if output < echo => Printed::Part,
        _ => Printed::Whole,
    }
}
