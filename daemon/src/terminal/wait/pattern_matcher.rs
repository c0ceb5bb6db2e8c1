//! Looks for a pattern in output: in its plain text, without the echo. Pure.
//!
//! The matcher is fed raw output in order, cut where input was typed or the shell printed a mark. It
//! keeps the end of the text: a match may span lines of the last [`WINDOW_BYTES`], and all that was fed
//! since the last look. Lines that have ended and left the screen are judged once, the others at each
//! look.
//!
//! Text between the marks B and C is the line editor's, and is left out. Where no C comes and the output
//! is quiet, the echo is found by its text, as for a shell without marks.
//!
//! Memory is bounded by the window, one line of it, and what is fed between two looks.

use std::collections::VecDeque;
use std::ops::Range;

use termd_proto::Offset;
use termd_proto::screen::CommandState;

use super::echo::{Echo, KnownBy, ShowsControls};
use super::echo_filter::{Cut, EchoFilter, Judged, OutputStart, filter_echo};
use super::offset_text::OffsetText;
use super::pattern::Pattern;
use crate::terminal::output::shell_log::Step;
use termd_vt::plain::{PlainSize, PlainText, Screen};

/// How far a match may reach back from new text, in bytes.
pub const WINDOW_BYTES: usize = 64 << 10;
/// Most bytes of a line. A longer line is looked at in parts, as it may never end.
const MAX_LINE_BYTES: usize = 64 << 10;
/// Most bytes of text in the answer.
const MAX_ANSWER_BYTES: usize = 4_096;

/// What happened at a place in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Input was typed.
    Typed {
        /// Lines ended by LF.
        text: String,
        known_by: KnownBy,
        shows_controls: ShowsControls,
    },
    /// The shell printed a mark.
    Mark(Step),
}

/// Whether the output is quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// More may come at once.
    No,
    /// Nothing has come for a while, or will ever come: unfinished text becomes no echo.
    Yes,
}

/// A match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The matched text, at most 4,096 bytes of it.
    pub text: String,
    /// The line in which it begins, at most 4,096 bytes of it.
    pub line: String,
    /// Output before this belongs to earlier lines.
    pub start: Offset,
    /// The match is in the output before this.
    pub end: Offset,
}

/// Looks for a pattern in output as it comes.
#[derive(Debug)]
pub struct PatternMatcher {
    plain: PlainText,
    /// Final text that is not judged yet, and where it begins in all text.
    waiting: OffsetText,
    waiting_at: u64,
    /// The end of the judged text, without the echo.
    window: OffsetText,
    echo: Echo,
    cuts: VecDeque<Cut>,
    /// The shell's state at the end of what was fed.
    state: CommandState,
    start: u64,
    looked_to: u64,
    output_start: OutputStart,
}

impl PatternMatcher {
    /// Begins where the resolver stands; `state` is the shell's state there.
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

    /// Where the echo of the first input ends, once known. The echoes of lines that follow at once are
    /// part of it.
    pub fn output_start(&self) -> Option<Offset> {
        self.output_start.offset().map(Offset)
    }

    /// Whether input may still be echoed.
    pub fn is_expecting(&self) -> bool {
        self.echo.is_expecting() || self.cuts.back().is_some_and(|cut| cut.to.is_none())
    }

    pub fn resize(&mut self, size: PlainSize) {
        if self.plain.size() != size {
            self.plain.resize(size);
        }
    }

    /// Feeds output up to the next stop.
    pub fn feed(&mut self, raw: &[u8]) {
        self.plain.advance(raw);
        let out = self.plain.take();
        self.waiting.push(&out);
        self.judge_ended();
    }

    /// Takes a stop at the end of what was fed.
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
            Stop::Mark(Step::Continued) => {
                self.open_cut(at);
                self.output_start.continued();
            }
            Stop::Mark(Step::OutputStart) => {
                self.close_cut(at);
                self.echo.command_began();
                let fed = self.plain.fed();
                self.output_start.marked(fed);
            }
            // A line was abandoned, or was empty.
            Stop::Mark(Step::PromptStart) if before == CommandState::Input => {
                self.close_cut(at);
                self.echo.command_began();
            }
            // Input before the prompt is shown after it.
            Stop::Mark(Step::PromptStart | Step::Finished) => {
                if !self.echo.is_expecting() {
                    self.close_cut(at);
                }
            }
        }
    }

    /// Makes the text on the screen final, and begins anew after it. A line editor redraws its rows, so
    /// places in them do not last.
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

    /// Judges the lines that have ended.
    fn judge_ended(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut taken = filter_echo(
            &mut EchoFilter {
                echo: &mut self.echo,
                cuts: self.cuts.make_contiguous(),
                from: &waiting,
                from_at: self.waiting_at,
                to: &mut self.window,
                default_raw: self.start,
                next_raw: Some(self.plain.next()),
                output_start: &mut self.output_start,
            },
            Judged::Ended,
        );
        if waiting.text.len() - taken > MAX_LINE_BYTES {
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

    /// Looks for the pattern in what was fed so far; without a pattern, only for the end of the echo.
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
        let judged_lines = match quiet {
            Quiet::No => Judged::All,
            Quiet::Yes => Judged::AllQuiet,
        };
        let end = self.waiting_at + all.text.len() as u64;
        let judged_to = filter_echo(
            &mut EchoFilter {
                echo: &mut echo,
                cuts: cuts.make_contiguous(),
                from: &all,
                from_at: self.waiting_at,
                to: &mut self.window,
                default_raw: self.start,
                next_raw: None,
                output_start: &mut self.output_start,
            },
            judged_lines,
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
        let end = self.window.raw_after(at.end.max(line_start + 1));
        let end = end.unwrap_or(self.plain.end()).max(self.looked_to);
        let start = self.window.raw_at(line_start).unwrap_or(self.start);
        Match {
            text: bounded(text.get(at).unwrap_or_default()),
            line: bounded(line),
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
            // Whole lines are cut, or `^` would match inside one.
            let tail = self.window.text.get(cut..).unwrap_or_default();
            let cut = cut + tail.find('\n').map_or(0, |newline| newline + 1);
            self.window.drop_front(cut);
        }
    }
}

/// As much of a text as an answer holds, whole characters.
fn bounded(text: &str) -> String {
    let mut ends = (0..=text.len().min(MAX_ANSWER_BYTES)).rev();
    let end = ends.find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
