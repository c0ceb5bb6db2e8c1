//! Waiting for what comes of what was typed: a pattern, the command's end, quiet, the exit.
//!
//! A wait has no thread and no poll: it is woken by the terminal's watch channel and by its own
//! deadlines. Only one that waits for `done` where no marks come looks at `/proc` now and then, and
//! only as long as it waits. Dropped, it has ended.
//!
//! Pure parts: [`pattern`], [`echo`], [`pattern_matcher`], [`completion`], [`prompt`]. Nothing here knows
//! JSON-RPC or connections, nor takes output away from anybody.

pub mod activity;
pub mod completion;
pub mod completion_probe;
pub mod echo;
mod echo_filter;
pub mod foreground_process;
mod offset_text;
pub mod output_follower;
pub mod pattern;
pub mod pattern_matcher;
pub mod prompt;
pub mod screen_wait;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::{DoneBy, MatchedText, TypedInput, Until, WaitEnd, WaitForResult};
use tokio::time::sleep_until;

pub use activity::activity;
use completion_probe::Doneness;
use output_follower::{ECHO_QUIET, Following, Reached};
pub use pattern::Pattern;
use pattern_matcher::{Found, Quiet};

use crate::service::Terminals;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::record::Progress;

/// The pause between two looks of one wait while output goes on coming. The first look after a pause
/// is at once.
const PAUSE: Duration = Duration::from_millis(2);
/// For so many waits on one terminal the pause is longer by [`PAUSE`]: a look takes up to a tenth of
/// a millisecond, and all of them together no more than a part of one processor.
const WAITS_A_PAUSE: u32 = 8;
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// When output whose marks are not read yet is looked at again: the screen follows at once.
const UNREAD_AGAIN: Duration = Duration::from_millis(3);

/// Keys that end a line.
const ENTER_KEYS: [&str; 6] = ["enter", "return", "kp-enter", "ctrl-m", "c-m", "ctrl-j"];

/// What is waited for, checked.
#[derive(Debug, Clone)]
pub struct Wait {
    pattern: Option<Arc<Pattern>>,
    done: bool,
    settle: Option<Duration>,
}

impl Wait {
    /// As a call asks for it.
    pub fn new(until: &Until) -> Result<Self, TerminalError> {
        let pattern = until.pattern.as_deref().map(Pattern::new).transpose()?;
        Ok(Self {
            pattern: pattern.map(Arc::new),
            done: until.done,
            settle: until.settle_ms.map(Duration::from_millis),
        })
    }
}

/// What a caller who waits has typed itself, whether it is remembered or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typing {
    /// The program that it was typed to, where that can be seen.
    pub(super) home: Option<i32>,
    /// How often Enter was pressed.
    pub(super) lines: usize,
}

impl Typing {
    /// Of what is about to be typed.
    pub fn before(terminal: &Terminal, input: &TypedInput) -> Self {
        let program = foreground_process::foreground(terminal.record.pid);
        let text = input.text.as_deref().unwrap_or_default();
        let is_enter = |key: &&String| ENTER_KEYS.contains(&key.to_ascii_lowercase().as_str());
        let pressed = input.keys.iter().filter(is_enter).count();
        let ends = text
            .lines()
            .count()
            .saturating_sub(usize::from(!text.ends_with(['\n', '\r'])));
        // Bytes are not looked into: they are one line.
        let lines = ends + pressed + usize::from(input.enter || input.data.is_some());
        Self {
            home: program.map(|program| program.pid),
            lines,
        }
    }
}

/// Waits for what comes at or after `since`, until `until` at the longest. `typing`: what the caller
/// has typed there.
pub async fn wait_for(
    terminals: &Terminals,
    terminal: &Terminal,
    since: Offset,
    wait: &Wait,
    typing: Option<Typing>,
    until: Instant,
) -> Result<WaitForResult, TerminalError> {
    let _counted = Counted::new(terminal.waits());
    let mut waiting = Waiting::begin(terminal, since, wait, typing).await?;
    let end = waiting.run(until).await?;
    waiting.answer(terminals, end).await
}

/// How a wait ended.
#[derive(Debug)]
enum End {
    Matched(Found),
    Done(DoneBy),
    Settled,
    Exited,
    Timeout,
}

/// What a look at a terminal gives.
#[derive(Debug)]
enum Look {
    End(End),
    /// At this time at the latest, or when something changes.
    Again(Option<Instant>),
    /// At once: there is more.
    AtOnce,
}

/// A wait under way.
struct Waiting<'a> {
    terminal: &'a Terminal,
    wait: &'a Wait,
    since: Offset,
    begun: Instant,
    following: Option<Following>,
    typing: Option<Typing>,
    doneness: Option<Doneness>,
}

impl<'a> Waiting<'a> {
    async fn begin(
        terminal: &'a Terminal,
        since: Offset,
        wait: &'a Wait,
        typing: Option<Typing>,
    ) -> Result<Self, TerminalError> {
        let following = match &wait.pattern {
            Some(_) => Some(Following::begin(terminal, since).await?),
            None => None,
        };
        Ok(Self {
            terminal,
            wait,
            since,
            begun: Instant::now(),
            following,
            typing,
            doneness: wait.done.then(|| Doneness::new(since, typing)),
        })
    }

    async fn run(&mut self, until: Instant) -> Result<End, TerminalError> {
        let mut watch = self.terminal.watch();
        loop {
            let progress = watch.borrow_and_update().clone();
            let looked_at = Instant::now();
            let look = self.look(&progress).await?;
            let again = match look {
                Look::End(end) => return Ok(end),
                _ if until <= Instant::now() => return Ok(End::Timeout),
                Look::AtOnce => {
                    tokio::task::yield_now().await;
                    continue;
                }
                Look::Again(at) => at.map_or(until, |at| at.min(until)),
            };
            tokio::select! {
                changed = watch.changed() => {
                    if changed.is_err() { return Err(TerminalError::Stopping) }
                }
                () = sleep_until(again.into()) => {}
            }
            let rested = looked_at + self.pause();
            if Instant::now() < rested {
                sleep_until(rested.min(until).into()).await;
            }
        }
    }

    fn pause(&self) -> Duration {
        let waits = self.terminal.waits().load(Ordering::Relaxed);
        let waits = u32::try_from(waits).unwrap_or(u32::MAX);
        PAUSE
            .saturating_mul(1 + waits / WAITS_A_PAUSE)
            .min(LONGEST_PAUSE)
    }

    async fn look(&mut self, progress: &Progress) -> Result<Look, TerminalError> {
        let now = Instant::now();
        let has_exited = progress.exit.is_some();
        // What is typed is answered later than the call begins.
        let last = progress.screen.changed_at.max(self.begun);
        let mut again = Again::default();
        if let Some(following) = self.following.take() {
            let quiet_at = last + ECHO_QUIET;
            let quiet = if has_exited || quiet_at <= now {
                Quiet::Yes
            } else {
                Quiet::No
            };
            let pattern = self.wait.pattern.as_ref();
            let (following, found, reached) = following
                .go_on(self.terminal, progress, pattern, quiet)
                .await?;
            if following.is_expecting() && quiet == Quiet::No {
                again.at(quiet_at);
            }
            self.following = Some(following);
            match (found, reached) {
                (Some(found), _) => return Ok(Look::End(End::Matched(found))),
                (None, Reached::More) => return Ok(Look::AtOnce),
                (None, Reached::Unread) => again.at(now + UNREAD_AGAIN),
                (None, Reached::End) => {}
            }
        }
        if has_exited {
            return Ok(Look::End(End::Exited));
        }
        if let Some(doneness) = &mut self.doneness {
            match doneness.look(self.terminal, progress, self.begun).await {
                completion_probe::Look::Done(by) => return Ok(Look::End(End::Done(by))),
                completion_probe::Look::Again(at) => at.into_iter().for_each(|at| again.at(at)),
            }
        }
        if let Some(settle) = self.wait.settle {
            if last + settle <= now {
                return Ok(Look::End(End::Settled));
            }
            again.at(last + settle);
        }
        Ok(Look::Again(again.0))
    }

    async fn answer(self, terminals: &Terminals, end: End) -> Result<WaitForResult, TerminalError> {
        let terminal = self.terminal;
        let typed = terminal.typed_since(self.since);
        let remembered_at = typed.first().map(|typed| typed.offset);
        let typed_at = remembered_at.or(self.typing.map(|_| self.since));
        let progress = terminal.progress();
        let seen = match &self.following {
            Some(following) => following.seen(),
            None => progress.end,
        };
        let output_start = match (&self.following, typed_at) {
            (_, None) => None,
            (Some(following), Some(_)) => following.output_start(),
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
            command: activity::command_since(terminal, self.since, typed_at),
            sent: None,
            activity: activity(terminals, terminal).await?,
        })
    }

    /// Where the echo of this input ends: at the mark C, or where its text does.
    async fn output_start(
        &self,
        progress: &Progress,
        typed_at: Offset,
    ) -> Result<Option<Offset>, TerminalError> {
        let mark = self.terminal.shell(|log| {
            let marks = log.between(typed_at, log.read_to());
            let began = |mark: &&crate::terminal::output::shell_log::Mark| {
                mark.step == crate::terminal::output::shell_log::Step::OutputStart
            };
            marks.iter().find(began).map(|mark| mark.offset)
        });
        if mark.is_some() {
            return Ok(mark);
        }
        let following = Following::begin(self.terminal, self.since).await?;
        following.find_output_start(self.terminal, progress).await
    }
}

/// The earliest of some times.
#[derive(Debug, Default)]
struct Again(Option<Instant>);

impl Again {
    fn at(&mut self, at: Instant) {
        self.0 = Some(self.0.map_or(at, |earliest| earliest.min(at)));
    }
}

/// Counts a wait for as long as it is.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
