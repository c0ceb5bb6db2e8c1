//! One wait under way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::{
    AwaitedInput, DoneBy, InputKnownBy, LineOutput, MatchedText, WaitEnd, WaitForResult,
};
use tokio::sync::watch;
use tokio::time::sleep_until;

use super::activity::{activity, command_since, shown_prompt};
use super::completion_probe::{CompletionProbe, Probed};
use super::condition::WaitCondition;
use super::output_follower::{ECHO_QUIET, OutputFollower, Reached};
use super::own_input::OwnInput;
use super::pattern_matcher::{Match, Quiet};
use super::prompt::CursorLine;
use crate::store::Store;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::typed_log::TypedText;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::output::shell_log::{Mark, Step};
use crate::terminal::read::unfiltered::Unfiltered;

/// The pause between two looks of one wait while output keeps coming. The first look after a pause is
/// at once.
const PAUSE: Duration = Duration::from_millis(2);
/// This many waits on one terminal lengthen the pause by one [`PAUSE`]. A look takes up to 0.1 ms, and
/// all of them together take no more than a part of one processor.
const WAITS_PER_PAUSE: u32 = 8;
const MAX_PAUSE: Duration = Duration::from_millis(100);
/// When output whose marks are not read yet is looked at again: the screen follows at once.
const UNREAD_RETRY: Duration = Duration::from_millis(3);

/// Waits for what comes at or after `since`, until `deadline` at the latest. `own_input` is what the
/// caller has typed at `since`.
pub async fn wait_for(
    store: &Store,
    terminal: &Terminal,
    since: Offset,
    condition: &WaitCondition,
    own_input: Option<OwnInput>,
    deadline: Instant,
) -> Result<Unfiltered<WaitForResult>, TerminalError> {
    let _counted = WaitCount::new(&terminal.waits);
    let follower = match &condition.pattern {
        Some(_) => Some(OutputFollower::begin(terminal, since).await?),
        None => None,
    };
    let mut waiter = Waiter {
        terminal,
        condition,
        since,
        begun: Instant::now(),
        follower,
        own_input,
        probe: condition
            .done
            .then(|| CompletionProbe::new(since, own_input)),
    };
    let end = waiter.run(deadline).await?;
    Ok(Unfiltered::new(waiter.answer(store, end).await?))
}

/// Waits until the line that was typed at `since` is done, or another one is awaited; until `deadline`
/// at the latest.
pub async fn until_awaited(
    terminal: &Terminal,
    since: Offset,
    deadline: Instant,
) -> Result<(), TerminalError> {
    let condition = WaitCondition::DONE;
    let mut waiter = Waiter {
        terminal,
        condition: &condition,
        since,
        begun: Instant::now(),
        follower: None,
        own_input: None,
        probe: Some(CompletionProbe::new(since, None)),
    };
    waiter.run(deadline).await.map(drop)
}

/// How a wait ended.
#[derive(Debug)]
enum End {
    Matched(Match),
    /// The command is done, or this input is awaited.
    Done(DoneBy, Option<AwaitedInput>),
    Settled,
    Exited,
    Timeout,
}

/// What a look at a terminal gives.
#[derive(Debug)]
enum Look {
    End(End),
    /// Look again when something changes, or at this time.
    Again(Option<Instant>),
    /// Look again at once: there is more output.
    AtOnce,
}

struct Waiter<'a> {
    terminal: &'a Terminal,
    condition: &'a WaitCondition,
    since: Offset,
    begun: Instant,
    follower: Option<OutputFollower>,
    own_input: Option<OwnInput>,
    probe: Option<CompletionProbe>,
}

impl Waiter<'_> {
    async fn run(&mut self, deadline: Instant) -> Result<End, TerminalError> {
        let terminal = self.terminal;
        let mut watch = terminal.watch();
        loop {
            let progress = watch.borrow_and_update().clone();
            let looked_at = Instant::now();
            let again = match self.look(&progress).await? {
                Look::End(end) => return Ok(end),
                _ if deadline <= Instant::now() => return Ok(End::Timeout),
                Look::AtOnce => {
                    tokio::task::yield_now().await;
                    continue;
                }
                Look::Again(at) => at.map_or(deadline, |at| at.min(deadline)),
            };
            changed_or_at(&mut watch, again).await?;
            let rested = looked_at + self.pause();
            if Instant::now() < rested {
                sleep_until(rested.min(deadline).into()).await;
            }
        }
    }

    fn pause(&self) -> Duration {
        let waits = self.terminal.waits.load(Ordering::Relaxed);
        let waits = u32::try_from(waits).unwrap_or(u32::MAX);
        PAUSE
            .saturating_mul(1 + waits / WAITS_PER_PAUSE)
            .min(MAX_PAUSE)
    }

    async fn look(&mut self, progress: &Progress) -> Result<Look, TerminalError> {
        let now = Instant::now();
        let has_exited = progress.exit.is_some();
        // Input is answered after the call begins.
        let last = progress.screen.changed_at.max(self.begun);
        let mut again = Earliest::default();
        if let Some(follower) = self.follower.take() {
            let quiet_at = last + ECHO_QUIET;
            let quiet = if has_exited || quiet_at <= now {
                Quiet::Yes
            } else {
                Quiet::No
            };
            let pattern = self.condition.pattern.as_ref();
            let (follower, found, reached) = follower
                .go_on(self.terminal, progress, pattern, quiet)
                .await?;
            if follower.is_expecting() && quiet == Quiet::No {
                again.add(quiet_at);
            }
            self.follower = Some(follower);
            match (found, reached) {
                (Some(found), _) => return Ok(Look::End(End::Matched(found))),
                (None, Reached::More) => return Ok(Look::AtOnce),
                (None, Reached::Unread) => again.add(now + UNREAD_RETRY),
                (None, Reached::End) => {}
            }
        }
        if has_exited {
            return Ok(Look::End(End::Exited));
        }
        if let Some(probe) = &mut self.probe {
            match probe.look(self.terminal, progress, self.begun).await {
                Probed::Done(by, awaited) => return Ok(Look::End(End::Done(by, awaited))),
                Probed::Drawn => return Ok(Look::End(End::Settled)),
                Probed::Again(at) => at.into_iter().for_each(|at| again.add(at)),
            }
        }
        if let Some(settle) = self.condition.settle {
            if last + settle <= now {
                return Ok(Look::End(End::Settled));
            }
            again.add(last + settle);
        }
        Ok(Look::Again(again.0))
    }

    async fn answer(self, store: &Store, end: End) -> Result<WaitForResult, TerminalError> {
        let terminal = self.terminal;
        let typed = terminal.typed.since(self.since);
        let remembered_at = typed.first().map(|typed| typed.offset);
        let typed_at = remembered_at.or(self.own_input.map(|_| self.since));
        let progress = terminal.progress();
        let seen = match &self.follower {
            Some(follower) => follower.seen(),
            None => progress.end,
        };
        let marks = terminal.shell(|log| {
            let from = typed_at.unwrap_or(self.since);
            log.between(from, seen.min(log.read_to()))
        });
        let output_start = match (&self.follower, typed_at) {
            (_, None) => None,
            (Some(follower), Some(_)) => follower.output_start(),
            (None, Some(_)) => self.output_start(self.since, &progress, &marks).await?,
        };
        let output_end = last_output_end(&marks);
        let line_outputs = self.line_outputs(&typed, &progress, seen).await?;
        // The echoes of lines that print nothing follow each other.
        let first_line = line_outputs.first().map(|line| line.start);
        let output_start = first_line.or(output_start).unwrap_or(self.since);
        let output_start = output_start.max(self.since);
        let mut activity = activity(store, terminal).await?.into_printed();
        let (ended_by, done_by, matched) = match end {
            End::Matched(found) => (WaitEnd::Matched, None, Some(found)),
            End::Done(by, awaited) => {
                let is_at_prompt = |now: AwaitedInput| now.known_by == InputKnownBy::Marks;
                let by = match awaited {
                    // The command has ended meanwhile.
                    Some(_) if activity.awaited_input.is_some_and(is_at_prompt) => DoneBy::Marks,
                    Some(_) => {
                        activity.awaited_input = awaited;
                        by
                    }
                    None => by,
                };
                (WaitEnd::Done, Some(by), None)
            }
            End::Settled => (WaitEnd::Settled, None, None),
            End::Exited => (WaitEnd::Exited, None, None),
            End::Timeout => (WaitEnd::Timeout, None, None),
        };
        Ok(WaitForResult {
            ended_by,
            done_by,
            matched: matched.map(|found| MatchedText {
                text: found.text,
                line: found.line,
                start: found.start,
                end: found.end,
            }),
            start: self.since,
            output_start,
            output_end: output_end.map(|end| end.max(output_start)),
            line_outputs,
            end: seen.max(self.since),
            command: command_since(activity.last_command.as_ref(), self.since, typed_at),
            sent: None,
            activity,
        })
    }

    /// The output of each of several lines that were given one after the other.
    async fn line_outputs(
        &self,
        typed: &[TypedText],
        progress: &Progress,
        seen: Offset,
    ) -> Result<Vec<LineOutput>, TerminalError> {
        let mut outputs = Vec::new();
        if !self.condition.done || !are_lines(typed) {
            return Ok(outputs);
        }
        for (index, line) in typed.iter().enumerate() {
            let next = typed.get(index + 1);
            let limit = next.map_or(seen, |next| next.offset);
            let marks = self.terminal.shell(|log| {
                let read_to = log.read_to();
                log.between(line.offset, limit.min(read_to))
            });
            let start = self.output_start(line.offset, progress, &marks).await?;
            let start = start
                .unwrap_or(line.offset)
                .clamp(line.offset, limit.max(line.offset));
            let marked = last_output_end(&marks).map(|end| end.max(start));
            let prompt = next.filter(|_| marked.is_none()).and_then(|next| {
                let before = CursorLine {
                    before: &next.before,
                    after: "",
                };
                shown_prompt(before, &self.terminal.typed.lines_before(next.group))
            });
            outputs.push(LineOutput {
                start,
                end: marked.unwrap_or(limit.max(start)),
                prompt,
            });
        }
        Ok(outputs)
    }

    /// Where the echo of the input ends: at the mark C, or where its text does. A line that runs nothing
    /// has no mark C.
    async fn output_start(
        &self,
        since: Offset,
        progress: &Progress,
        marks: &[Mark],
    ) -> Result<Option<Offset>, TerminalError> {
        let mark = first_output_start(marks);
        if mark.is_some() {
            return Ok(mark);
        }
        let follower = OutputFollower::begin(self.terminal, since).await?;
        let prompt = marks.iter().find(|mark| mark.step == Step::PromptStart);
        let Some(prompt) = prompt else {
            return follower.find_output_start(self.terminal, progress).await;
        };
        let typed = self.terminal.typed.since(since);
        if typed.iter().all(|typed| typed.text.trim().is_empty()) {
            return Ok(Some(prompt.offset));
        }
        let follower = follower.without_marks();
        follower.find_output_start(self.terminal, progress).await
    }
}

/// Whether each input is one line, as they are that were given one after the other.
fn are_lines(typed: &[TypedText]) -> bool {
    let is_line = |it: &TypedText| it.text.find('\n') == Some(it.text.len().saturating_sub(1));
    typed.len() > 1 && typed.iter().all(is_line)
}

/// Where the output of the first command begins: after all lines of it, or, while the shell reads more
/// of them, at its further prompt.
fn first_output_start(marks: &[Mark]) -> Option<Offset> {
    let (mut start, mut further_prompt) = (None, None);
    for mark in marks {
        match mark.step {
            Step::OutputStart => start = start.or(Some(mark.offset)),
            Step::Continued => (start, further_prompt) = (None, Some(mark.offset)),
            Step::PromptStart | Step::PromptEnd | Step::Finished if start.is_some() => break,
            Step::PromptStart | Step::PromptEnd | Step::Finished => {}
        }
    }
    start.or(further_prompt)
}

/// Where the output of the last command ends, if the shell is at a prompt since.
fn last_output_end(marks: &[Mark]) -> Option<Offset> {
    let began = marks
        .iter()
        .rposition(|mark| mark.step == Step::OutputStart);
    let later = marks
        .get(began.map_or(0, |at| at + 1)..)
        .unwrap_or_default();
    let is_end = |step: Step| move |mark: &&Mark| mark.step == step;
    let ended = later.iter().rfind(is_end(Step::Finished));
    let ended = ended.or_else(|| later.iter().find(is_end(Step::PromptStart)));
    ended.map(|mark| mark.offset)
}

async fn changed_or_at(
    watch: &mut watch::Receiver<Progress>,
    at: Instant,
) -> Result<(), TerminalError> {
    tokio::select! {
        changed = watch.changed() => changed.map_err(|_| TerminalError::Stopping),
        () = sleep_until(at.into()) => Ok(()),
    }
}

/// The earliest of some times.
#[derive(Debug, Default)]
struct Earliest(Option<Instant>);

impl Earliest {
    fn add(&mut self, at: Instant) {
        self.0 = Some(self.0.map_or(at, |earliest| earliest.min(at)));
    }
}

/// Counts a wait for as long as it lasts.
struct WaitCount<'a>(&'a AtomicUsize);

impl<'a> WaitCount<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitCount<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str) -> Vec<Mark> {
        let steps = text.char_indices().map(|(at, step)| Mark {
            offset: Offset(at as u64),
            step: match step {
                'A' => Step::PromptStart,
                'B' => Step::PromptEnd,
                'C' => Step::OutputStart,
                'P' => Step::Continued,
                _ => Step::Finished,
            },
        });
        steps.collect()
    }

    #[test]
    fn output_is_between_the_first_commands_start_and_the_last_ones_end() {
        let table = [
            ("", None, None),
            ("AB", None, Some(0)),
            ("DAB", None, Some(0)),
            ("C", Some(0), None),
            ("CDAB", Some(0), Some(1)),
            ("CDABCDAB", Some(0), Some(5)),
            ("CDABC", Some(0), None),
            ("CDABDAB", Some(0), Some(4)),
            ("CP", Some(1), None),
            ("CPCDAB", Some(2), Some(3)),
        ];
        for (text, start, end) in table {
            let marks = marks(text);
            let found = (first_output_start(&marks), last_output_end(&marks));
            assert_eq!(found, (start.map(Offset), end.map(Offset)), "{text}");
        }
    }
}
