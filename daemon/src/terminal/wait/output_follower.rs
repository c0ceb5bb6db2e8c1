//! Follows a terminal's output and input for a pattern matcher. Output is read in pieces from the spool
//! or the database, and resolved once.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::Offset;
use termd_proto::screen::CommandState;
use termd_vt::plain::Styles;

use super::echo::{KnownBy, ShowsControls};
use super::pattern::Pattern;
use super::pattern_matcher::{Match, PatternMatcher, Quiet, Stop};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::typed_log::TypedText;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::read::offload;
use crate::terminal::read::plain_resolver::resolver_at;

/// Output resolved between two looks, in bytes: a match is found soon, and a flood does not block a
/// thread.
const STEP_BYTES: u64 = 256 << 10;
/// Output that is resolved without a thread of its own, in bytes.
const INLINE_BYTES: usize = 32 << 10;
/// How long output is quiet before text that does not look like an echo is none. A line editor over a
/// slow line echoes later, and then nothing was printed before.
pub const ECHO_QUIET: Duration = Duration::from_millis(200);
/// Most output that is looked through for the end of an echo, in bytes.
const ECHO_SEARCH_BYTES: u64 = 256 << 10;

/// How far a look reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// There is more output.
    More,
    /// There is more output, whose marks are about to be known.
    Unread,
    /// The end of the output.
    End,
}

/// Follows a terminal's output from an offset on.
#[derive(Debug)]
pub struct OutputFollower {
    matcher: PatternMatcher,
    since: Offset,
    /// How many inputs since `since` the matcher has got.
    inputs: usize,
    heeds: Heeded,
}

/// By what a follower knows the echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heeded {
    Marks,
    /// By its text alone, as no mark of output came.
    Text,
}

impl OutputFollower {
    pub async fn begin(terminal: &Terminal, since: Offset) -> Result<Self, TerminalError> {
        Ok(Self {
            matcher: matcher(terminal, since).await?,
            since,
            inputs: 0,
            heeds: Heeded::Marks,
        })
    }

    /// Looks for the echo by its text alone, whatever marks there are.
    #[must_use]
    pub fn without_marks(self) -> Self {
        Self {
            heeds: Heeded::Text,
            ..self
        }
    }

    /// The end of what was looked at.
    pub fn seen(&self) -> Offset {
        self.matcher.fed()
    }

    /// Where the first echo ends, once known.
    pub fn output_start(&self) -> Option<Offset> {
        self.matcher.output_start()
    }

    /// Whether an echo is expected, which a quiet moment would give up.
    pub fn is_expecting(&self) -> bool {
        self.matcher.is_expecting()
    }

    /// Looks at more output. `quiet` means that nothing has come for [`ECHO_QUIET`], or will ever come.
    pub async fn go_on(
        mut self,
        terminal: &Terminal,
        progress: &Progress,
        pattern: Option<&Arc<Pattern>>,
        quiet: Quiet,
    ) -> Result<(Self, Option<Match>, Reached), TerminalError> {
        let limit = if progress.exit.is_some() {
            progress.end
        } else {
            progress.end.min(terminal.shell(|log| log.read_to()))
        };
        let from = self.matcher.fed();
        let most = limit.since(from).min(STEP_BYTES);
        let span = terminal.transcript.read_before(from, limit, most).await?;
        if span.start > from {
            // Retention has dropped what lies between.
            self.matcher = matcher(terminal, span.start).await?;
        }
        self.matcher.resize(progress.size.into());
        let to = span.end();
        let stops = self.stops(terminal, span.start, to);
        let quiet = if to >= progress.end { quiet } else { Quiet::No };
        let (length, pattern) = (span.bytes.len(), pattern.cloned());
        let work = move || {
            let mut rest = span.bytes.as_slice();
            for (offset, stop) in stops {
                let until = usize::try_from(offset.since(self.matcher.fed())).unwrap_or(usize::MAX);
                let (head, tail) = rest.split_at(until.min(rest.len()));
                if !head.is_empty() {
                    self.matcher.feed(head);
                }
                self.matcher.stop(stop);
                rest = tail;
            }
            if !rest.is_empty() {
                self.matcher.feed(rest);
            }
            let found = self.matcher.look(pattern.as_deref(), quiet);
            (self, found)
        };
        let (following, found) = offload::run(length > INLINE_BYTES, work).await?;
        let reached = if following.seen() < limit && length > 0 {
            Reached::More
        } else if following.seen() < progress.end && progress.exit.is_none() {
            Reached::Unread
        } else {
            Reached::End
        };
        Ok((following, found, reached))
    }

    /// Finds where the echo ends in the output so far.
    pub async fn find_output_start(
        mut self,
        terminal: &Terminal,
        progress: &Progress,
    ) -> Result<Option<Offset>, TerminalError> {
        loop {
            let (following, _, reached) = self.go_on(terminal, progress, None, Quiet::Yes).await?;
            self = following;
            let looked_at = self.seen().since(self.since);
            let start = self.output_start();
            if start.is_some() || reached != Reached::More || looked_at > ECHO_SEARCH_BYTES {
                return Ok(start);
            }
        }
    }

    /// The marks and inputs between two offsets, in order.
    fn stops(&mut self, terminal: &Terminal, from: Offset, to: Offset) -> Vec<(Offset, Stop)> {
        let inputs = terminal.typed.since(self.since);
        self.inputs = self.inputs.min(inputs.len());
        let new = inputs.into_iter().skip(self.inputs);
        let new: Vec<TypedText> = new.take_while(|typed| typed.offset <= to).collect();
        self.inputs += new.len();
        if self.heeds == Heeded::Text {
            let stops = new.into_iter();
            let stops = stops.map(|typed| (typed.offset, stop_of(typed, KnownBy::Text)));
            return stops.collect();
        }
        let signed = terminal.record.shell_nonce.is_some();
        terminal.shell(|log| {
            let marks = log.between(from, to).into_iter();
            let marks = marks.map(|mark| (mark.offset, Stop::Mark(mark.step)));
            let typed = new.into_iter().map(|typed| {
                let known_by = known_by(log.state_at(typed.offset), signed);
                (typed.offset, stop_of(typed, known_by))
            });
            let mut stops: Vec<_> = marks.chain(typed).collect();
            // The sort is stable: a mark at the offset of an input was there first.
            stops.sort_by_key(|(offset, _)| *offset);
            stops
        })
    }
}

async fn matcher(terminal: &Terminal, since: Offset) -> Result<PatternMatcher, TerminalError> {
    let size = terminal.progress().size.into();
    let plain = resolver_at(&terminal.transcript, since, size, Styles::Dropped).await?;
    let state = terminal.shell(|log| log.state_at(since));
    Ok(PatternMatcher::new(plain, state))
}

/// How the echo is found of input that is typed in this state. A shell that signs its marks and has
/// printed none yet is about to.
pub fn known_by(state: CommandState, signed: bool) -> KnownBy {
    match state {
        CommandState::Prompt | CommandState::Input => KnownBy::Marks,
        CommandState::Unknown if signed => KnownBy::Marks,
        CommandState::Unknown | CommandState::Running => KnownBy::Text,
    }
}

fn stop_of(typed: TypedText, known_by: KnownBy) -> Stop {
    let shows_controls = if typed.tty.canonical && typed.tty.echo {
        ShowsControls::Yes
    } else {
        ShowsControls::No
    };
    Stop::Typed {
        text: typed.text,
        known_by,
        shows_controls,
    }
}
