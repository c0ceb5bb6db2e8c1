//! Looks at a terminal to tell whether the command that was typed is done. [`super::completion`]
//! judges.

use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::DoneBy;
use termd_proto::screen::CommandState;

use super::completion::{
    Completion, ForegroundState, Marks, Printed, ProcessState, by_marks, by_process,
};
use super::own_input::OwnInput;
use super::program::foreground;
use super::prompt::{self, CursorLine};
use crate::terminal::handle::Terminal;
use crate::terminal::input::typed_log::TypedText;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::output::shell_log::Step;
use termd_vt::Model;

/// The first and the longest pause between two looks at processes, which send no events.
const FIRST_POLL: Duration = Duration::from_millis(20);
const MAX_POLL: Duration = Duration::from_millis(100);

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probed {
    Done(DoneBy),
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
        let marks = terminal.shell(|log| {
            let to = log.read_to().min(progress.end);
            let from = typed_at.unwrap_or(to);
            let since = log.between(from, to);
            Marks {
                are_expected: terminal.record.shell_nonce.is_some(),
                // A prompt that was on its way is no printed to the input.
                at_typing: if log.is_between_prompts(from) {
                    CommandState::Unknown
                } else {
                    log.state_at(from)
                },
                since: since
                    .into_iter()
                    .map(|mark| mark.step)
                    .collect::<Vec<Step>>(),
                lines,
            }
        });
        let mut last = progress.screen.changed_at;
        if typed_at.is_some() {
            last = last.max(begun);
        }
        let quiet = now.saturating_duration_since(last);
        let verdict = match by_marks(&marks, quiet) {
            Completion::AskProcess(runs_in) => {
                let printed =
                    typed_at.map_or(Printed::Whole, |at| printed(&typed, progress.end.since(at)));
                let seen = self.see(terminal, printed).await;
                // Output that came during the look has ended the quiet.
                let seen = seen.filter(|_| terminal.end() == progress.end);
                let verdict =
                    seen.map_or(Completion::NotYet, |seen| by_process(&seen, runs_in, quiet));
                self.polled(verdict)
            }
            verdict => verdict,
        };
        match verdict {
            Completion::Done(by) => Probed::Done(by),
            Completion::NotBefore(left) => Probed::Again(Some(now + left)),
            Completion::NotYet | Completion::AskProcess(_) => Probed::Again(None),
        }
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

    async fn see(&self, terminal: &Terminal, printed: Printed) -> Option<ForegroundState> {
        let program = foreground(terminal.record.pid)?;
        if program.doing == ProcessState::Runs {
            return None;
        }
        let tty = terminal.line_discipline().await?;
        let (before, after) = terminal.screen.look(Model::cursor_line)?;
        let line = CursorLine {
            before: &before,
            after: &after,
        };
        let home = self.own_input.and_then(|own| own.program);
        Some(ForegroundState {
            kind: program.kind(),
            doing: program.doing,
            is_home: home == Some(program.pid) || (program.is_roots_group && program.is_leader),
            canonical: tty.canonical,
            prompt: prompt::confidence(line),
            printed,
        })
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
