//! Output as a pattern is looked for in: plain text, without what was echoed. Pure.
//!
//! It is fed raw output in order, cut at the places where something was typed or the shell set a
//! mark, and keeps the end of the text: a match may span lines of the last [`WINDOW_BYTES`], and
//! whatever was fed since the last look. Lines that are ended and have left the screen are judged
//! once; the others, and a line that is not ended, anew at each look.
//!
//! What stands between the marks B and C is the line editor's, and left out. Where no C comes, and
//! the output is quiet, it is looked at like the output of a shell without marks: by its text.
//!
//! Promises: memory is bounded by the window, by one line of it, and by what is fed between two
//! looks; nothing is looked at twice, but for the window.
//!
//! It must not know: terminals, time, tokio.

use std::collections::VecDeque;
use std::ops::Range;

use termd_proto::Offset;
use termd_proto::screen::CommandState;

use super::echo::{Echo, KnownBy, ShowsControls};
use super::echo_filter::{Cut, EchoFilter, Last, OutputStart, sift};
use super::offset_text::OffsetText;
use super::pattern::Pattern;
use crate::terminal::output::shell_log::Step;
use termd_vt::plain::{PlainSize, PlainText, Screen};

/// Text that a match may go back to from what is new, in bytes.
pub const WINDOW_BYTES: usize = 64 << 10;
/// A line longer than this is looked at in parts, in bytes: it may have no end.
const LONGEST_LINE_BYTES: usize = 64 << 10;
/// Matched text that is told, in bytes.
const TOLD_BYTES: usize = 4_096;

/// A place in the output where the text behind it is something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Something was typed.
    Typed {
        /// Lines ended by LF.
        text: String,
        /// Who knows where its echo is.
        known_by: KnownBy,
        /// Whether the tty itself echoes it.
        shows_controls: ShowsControls,
    },
    /// The shell's mark.
    Mark(Step),
}

/// Whether nothing has come for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// More may come at once.
    No,
    /// It has been quiet, or the program has ended: what there is will not become an echo.
    Yes,
}

/// A match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// What matched, at most 4,096 bytes of it.
    pub text: String,
    /// The line in which it begins, at most 4,096 bytes of it.
    pub line: String,
    /// Output before this belongs to lines before.
    pub start: Offset,
    /// Output up to this holds it.
    pub end: Offset,
}

/// Looks for a pattern in output as it comes.
#[derive(Debug)]
pub struct PatternMatcher {
    plain: PlainText,
    /// Final text that is not judged yet, and where it stands in all text.
    waiting: OffsetText,
    waiting_at: u64,
    /// The end of the text that was judged, without what was echoed.
    window: OffsetText,
    echo: Echo,
    cuts: VecDeque<Cut>,
    /// What the shell does at the end of what was fed.
    state: CommandState,
    /// Where it began to look.
    start: u64,
    /// What was looked at.
    looked_to: u64,
    output_start: OutputStart,
}

impl PatternMatcher {
    /// From where this resolver is; the shell does this there.
    pub fn new(plain: PlainText, state: CommandState) -> Self {
        let start = plain.fed();
        Self {
            plain: plain.with_every_anchor(),
            waiting: OffsetText::default(),
            waiting_at: 0,
            window: OffsetText::default(),
            echo: Echo::default(),
            cuts: VecDeque::new(),
            state,
            start,
            looked_to: start,
            output_start: OutputStart::Unknown,
        }
    }

    /// The offset of the byte that is fed next.
    pub fn fed(&self) -> Offset {
        Offset(self.plain.fed())
    }

    /// Where the echo of what was typed first ends, with that of the lines that follow it at once, as
    /// soon as that is known.
    pub fn output_start(&self) -> Option<Offset> {
        self.output_start.offset().map(Offset)
    }

    /// Whether anything that was typed may still be echoed.
    pub fn is_expecting(&self) -> bool {
        self.echo.is_expecting() || self.cuts.back().is_some_and(|cut| cut.to.is_none())
    }

    /// Takes another size.
    pub fn resize(&mut self, size: PlainSize) {
        if self.plain.size() != size {
            self.plain.resize(size);
        }
    }

    /// Takes output up to the next stop.
    pub fn feed(&mut self, raw: &[u8]) {
        self.plain.advance(raw);
        let out = self.plain.take();
        self.waiting.push(&out);
        self.judge_ended();
    }

    /// What was fed so far ends at this stop.
    pub fn stop(&mut self, stop: Stop) {
        if stop == Stop::Mark(Step::OutputStart) {
            self.freeze();
        }
        let at = self.end();
        let before = self.state;
        if let Stop::Mark(step) = stop {
            self.state = step.state();
        }
        match stop {
            Stop::Typed {
                text,
                known_by,
                shows_controls,
            } => {
                self.echo.typed(at, &text, known_by, shows_controls);
                if known_by == KnownBy::Marks {
                    self.open_cut(at);
                }
            }
            Stop::Mark(Step::PromptEnd) => self.open_cut(at),
            Stop::Mark(Step::OutputStart) => {
                self.close_cut(at);
                self.echo.command_began();
                let fed = self.plain.fed();
                self.output_start.marked(fed);
            }
            // A line was given up, or was empty.
            Stop::Mark(Step::PromptStart) if before == CommandState::Input => {
                self.close_cut(at);
                self.echo.command_began();
            }
            // What was typed before the prompt is shown behind it.
            Stop::Mark(Step::PromptStart | Step::Finished) => {
                if !self.echo.is_expecting() {
                    self.close_cut(at);
                }
            }
        }
    }

    /// What stands on the screen is text for good, and what follows begins anew: line editors
    /// draw over their rows, so that places in them do not last.
    fn freeze(&mut self) {
        self.waiting.push(&self.plain.pending_output());
        let (size, fed) = (self.plain.size(), self.plain.fed());
        self.plain = PlainText::at(size, fed, Screen::Primary).with_every_anchor();
    }

    fn open_cut(&mut self, at: u64) {
        if self.cuts.back().is_none_or(|cut| cut.to.is_some()) {
            self.cuts.push_back(Cut { from: at, to: None });
        }
    }

    fn close_cut(&mut self, at: u64) {
        if let Some(cut) = self.cuts.back_mut()
            && cut.to.is_none()
        {
            cut.to = Some(at.max(cut.from));
        }
    }

    /// The end of all text so far.
    fn end(&self) -> u64 {
        let pending = self.plain.pending();
        self.waiting_at + (self.waiting.text.len() + pending.len()) as u64
    }

    /// Judges the lines that are final.
    fn judge_ended(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut taken = sift(
            &mut EchoFilter {
                echo: &mut self.echo,
                cuts: self.cuts.make_contiguous(),
                from: &waiting,
                from_at: self.waiting_at,
                to: &mut self.window,
                otherwise: self.start,
                output_start: &mut self.output_start,
            },
            Last::IsFinal,
        );
        if waiting.text.len() - taken > LONGEST_LINE_BYTES {
            self.window
                .append(&waiting, taken..waiting.text.len(), self.start);
            taken = waiting.text.len();
        }
        self.waiting = waiting;
        self.waiting.drop_front(taken);
        self.waiting_at += taken as u64;
        let judged = self.waiting_at;
        while self
            .cuts
            .front()
            .is_some_and(|cut| cut.to.is_some_and(|to| to <= judged))
        {
            self.cuts.pop_front();
        }
    }

    /// Looks whether the pattern matches in what was fed so far; without one, only where the echo
    /// ends.
    pub fn look(&mut self, pattern: Option<&Pattern>, quiet: Quiet) -> Option<Match> {
        let judged = self.window.size();
        let mut all = self.waiting.clone();
        all.push(&self.plain.pending_output());
        let mut echo = self.echo.clone();
        let mut cuts = self.cuts.clone();
        if quiet == Quiet::Yes {
            if cuts.back().is_some_and(|cut| cut.to.is_none()) {
                cuts.pop_back();
            }
            echo.by_text_alone();
        }
        let last = match quiet {
            Quiet::No => Last::MayGrow,
            Quiet::Yes => Last::IsQuiet,
        };
        let end = self.waiting_at + all.text.len() as u64;
        let judged_to = sift(
            &mut EchoFilter {
                echo: &mut echo,
                cuts: cuts.make_contiguous(),
                from: &all,
                from_at: self.waiting_at,
                to: &mut self.window,
                otherwise: self.start,
                output_start: &mut self.output_start,
            },
            last,
        );
        if quiet == Quiet::Yes && judged_to == all.text.len() {
            self.echo.give_up(&echo, end);
        }
        let found = pattern.and_then(|pattern| pattern.find(&self.window.text));
        let found = found.map(|at| self.found(at));
        self.window.truncate(judged);
        self.trim();
        self.looked_to = self.plain.fed();
        found
    }

    fn found(&self, at: Range<usize>) -> Match {
        let text = &self.window.text;
        let head = text.get(..at.start).unwrap_or_default();
        let line_start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(line_start..).unwrap_or_default();
        let line = line.split('\n').next().unwrap_or_default();
        let end = self.window.raw_behind(at.end.max(line_start + 1));
        let end = end.unwrap_or(self.plain.end()).max(self.looked_to);
        let start = self.window.raw_at(line_start).unwrap_or(self.start);
        Match {
            text: told(text.get(at).unwrap_or_default()),
            line: told(line),
            start: Offset(start.min(end)),
            end: Offset(end.min(self.plain.fed())),
        }
    }

    fn trim(&mut self) {
        if self.window.text.len() > 2 * WINDOW_BYTES {
            let least = self.window.text.len() - WINDOW_BYTES;
            let mut places = least..self.window.text.len();
            let cut = places.find(|at| self.window.text.is_char_boundary(*at));
            let cut = cut.unwrap_or(0);
            // A line is not cut: `^` must not match in it.
            let tail = self.window.text.get(cut..).unwrap_or_default();
            let cut = cut + tail.find('\n').map_or(0, |newline| newline + 1);
            self.window.drop_front(cut);
        }
    }
}

/// No more of a text than is told, whole characters.
fn told(text: &str) -> String {
    let mut ends = (0..=text.len().min(TOLD_BYTES)).rev();
    let end = ends.find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
