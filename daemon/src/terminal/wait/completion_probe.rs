//! A terminal looked at for whether the command that was typed is done: [`super::completion`] judges.

use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::DoneBy;
use termd_proto::screen::CommandState;

use super::Typing;
use super::completion::{Answer, Doing, Marks, Seen, Verdict, by_marks, by_process};
use super::foreground_process::foreground;
use super::prompt::{self, CursorLine};
use crate::terminal::handle::Terminal;
use crate::terminal::input::typed_log::Typed;
use crate::terminal::lifecycle::record::Progress;
use crate::terminal::output::shell_log::Step;
use termd_vt::Model;

/// The first pause between two looks at processes, and the longest: they say nothing by themselves.
const FIRST_POLL: Duration = Duration::from_millis(20);
const LONGEST_POLL: Duration = Duration::from_millis(100);

/// What a look gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It is done.
    Done(DoneBy),
    /// Not yet; look again when something changes, or then.
    Again(Option<Instant>),
}

/// Whether the command is done, asked again and again.
#[derive(Debug)]
pub struct Doneness {
    since: Offset,
    typing: Option<Typing>,
    poll: Duration,
}

impl Doneness {
    /// Of what was typed since then; by the caller this.
    pub fn new(since: Offset, typing: Option<Typing>) -> Self {
        Self {
            since,
            typing,
            poll: FIRST_POLL,
        }
    }

    /// Looks; `begun`: the wait did.
    pub async fn look(&mut self, terminal: &Terminal, progress: &Progress, begun: Instant) -> Look {
        let now = Instant::now();
        let typed = terminal.typed_since(self.since);
        let remembered_at = typed.first().map(|typed| typed.offset);
        let typed_at = remembered_at.or(self.typing.map(|_| self.since));
        let lines = typed.iter().map(|typed| typed.text.matches('\n').count());
        // Keys and secrets are not remembered, and count all the same.
        let lines = lines.sum::<usize>();
        let lines = typed_at.map(|_| self.typing.map_or(lines, |typing| lines.max(typing.lines)));
        let marks = terminal.shell(|log| {
            let to = log.read_to().min(progress.end);
            let from = typed_at.unwrap_or(to);
            let since = log.between(from, to);
            Marks {
                are_expected: terminal.record.shell_nonce.is_some(),
                // The prompt that is on its way then is no answer to what was typed.
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
            Verdict::AskProcess(within) => {
                let answer =
                    typed_at.map_or(Answer::Whole, |at| answer(&typed, progress.end.since(at)));
                let seen = self.see(terminal, answer).await;
                // What was printed while it was looked has ended the quiet.
                let seen = seen.filter(|_| terminal.end() == progress.end);
                let verdict = seen.map_or(Verdict::NotYet, |seen| by_process(&seen, within, quiet));
                self.polled(verdict)
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Done(by) => Look::Done(by),
            Verdict::NotBefore(left) => Look::Again(Some(now + left)),
            Verdict::NotYet | Verdict::AskProcess(_) => Look::Again(None),
        }
    }

    /// A program's state does not tell of its change: it is looked at again, ever more seldom.
    fn polled(&mut self, verdict: Verdict) -> Verdict {
        let poll = self.poll;
        self.poll = (poll * 2).min(LONGEST_POLL);
        match verdict {
            Verdict::NotBefore(left) => Verdict::NotBefore(left.min(LONGEST_POLL)),
            Verdict::NotYet => Verdict::NotBefore(poll),
            verdict => verdict,
        }
    }

    async fn see(&self, terminal: &Terminal, answer: Answer) -> Option<Seen> {
        let program = foreground(terminal.record.pid)?;
        if program.doing == Doing::Runs {
            return None;
        }
        let tty = terminal.line_discipline().await?;
        let (before, after) = terminal.screen.look(Model::cursor_line)?;
        let line = CursorLine {
            before: &before,
            after: &after,
        };
        let home = self.typing.and_then(|typing| typing.home);
        Some(Seen {
            kind: program.kind(),
            doing: program.doing,
            is_home: home == Some(program.pid) || (program.is_roots_group && program.is_leader),
            canonical: tty.canonical,
            prompt: prompt::confidence(line),
            answer,
        })
    }
}

/// What so many bytes of output are to these inputs.
fn answer(typed: &[Typed], output: u64) -> Answer {
    let echoed = typed.iter().filter(|it| it.tty.echo && it.tty.canonical);
    // No character's echo is shorter than it is.
    let echo = echoed.map(|it| it.text.len() as u64).sum::<u64>();
    match output {
        0 => Answer::None,
        _ if output < echo => Answer::Part,
        _ => Answer::Whole,
    }
}
