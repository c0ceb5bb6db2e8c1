//! One wait under way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::{DoneBy, MatchedText, WaitEnd, WaitForResult};
use tokio::sync::watch;
use tokio::time::sleep_until;

use super::activity::{activity, command_since};
use super::completion_probe::{CompletionProbe, Probed};
use super::condition::WaitCondition;
use super::output_follower::{ECHO_QUIET, OutputFollower, Reached};
use super::own_input::OwnInput;
use super::pattern_matcher::{Match, Quiet};
use crate::store::Store;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::output::shell_log::{Mark, Step};

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
) -> Result<WaitForResult, TerminalError> {
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
    waiter.answer(store, end).await
}

/// How a wait ended.
#[derive(Debug)]
enum End {
    Matched(Match),
    Done(DoneBy),
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
                Probed::Done(by) => return Ok(Look::End(End::Done(by))),
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
        let output_start = match (&self.follower, typed_at) {
            (_, None) => None,
            (Some(follower), Some(_)) => follower.output_start(),
            (None, Some(typed_at)) => self.output_start(&progress, typed_at).await?,
        };
        let (ended_by, done_by, matched) = match end {
            End::Matched(found) => (WaitEnd::Matched, None, Some(found)),
            End::Done(by) => (WaitEnd::Done, Some(by), None),
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
            output_start: output_start.unwrap_or(self.since).max(self.since),
            end: seen.max(self.since),
            command: command_since(terminal, self.since, typed_at),
            sent: None,
            activity: activity(store, terminal).await?,
        })
    }

    /// Where the echo of the input ends: at the mark C, or where its text does.
    async fn output_start(
        &self,
        progress: &Progress,
        typed_at: Offset,
    ) -> Result<Option<Offset>, TerminalError> {
        let mark = self.terminal.shell(|log| {
            let marks = log.between(typed_at, log.read_to());
            let began = |mark: &&Mark| mark.step == Step::OutputStart;
            marks.iter().find(began).map(|mark| mark.offset)
        });
        if mark.is_some() {
            return Ok(mark);
        }
        let follower = OutputFollower::begin(self.terminal, self.since).await?;
        follower.find_output_start(self.terminal, progress).await
    }
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
