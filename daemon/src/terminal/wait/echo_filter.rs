//! Leaves the echo out of the text that a pattern is looked for in: by the shell's marks, or by the
//! echo's text. Pure.

use std::ops::Range;

use super::echo::{Echo, LineEnd, LineKind};
use super::offset_text::OffsetText;

/// Text that is left out, from a mark B on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) from: u64,
    /// Where the next mark came, if it has.
    pub(super) to: Option<u64>,
}

/// Which lines are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// Ended lines.
    Ended,
    /// All; the last line may grow at once.
    All,
    /// All; the output is quiet, so the last line stays as it is.
    AllQuiet,
}

/// Where in the raw output the text after the first input's echo begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputStart {
    /// No echo has come yet.
    Unknown,
    /// After so much of the echo. Its next line may follow at once.
    AfterEcho(u64),
    At(u64),
}

impl OutputStart {
    pub(super) fn offset(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::AfterEcho(offset) | Self::At(offset) => Some(offset),
        }
    }

    /// An echo has ended here, or a line that looks like one. Lines are judged again until they are
    /// final.
    fn echo_ended(&mut self, at: u64, is_whole: bool) {
        *self = match *self {
            Self::Unknown => Self::AfterEcho(at),
            Self::AfterEcho(before) if at <= before => Self::AfterEcho(before),
            Self::AfterEcho(_) if is_whole => Self::AfterEcho(at),
            Self::AfterEcho(before) | Self::At(before) => Self::At(before),
        };
    }

    /// A line of output has ended here.
    fn output_ended(&mut self, at: u64) {
        if let Self::AfterEcho(before) = *self
            && at > before
        {
            *self = Self::At(before);
        }
    }

    /// A mark shows that the input goes on.
    pub(super) fn continued(&mut self) {
        *self = Self::Unknown;
    }

    /// A mark shows the start.
    pub(super) fn marked(&mut self, offset: u64) {
        if *self == Self::Unknown {
            *self = Self::At(offset);
        }
    }
}

/// Moves text from `from` to `to` without the echo.
pub(super) struct EchoFilter<'a> {
    pub(super) echo: &'a mut Echo,
    pub(super) cuts: &'a [Cut],
    pub(super) from: &'a OffsetText,
    /// Where `from` begins in all text.
    pub(super) from_at: u64,
    pub(super) to: &'a mut OffsetText,
    /// The raw offset of text whose row is not known.
    pub(super) default_raw: u64,
    /// The raw offset of what follows `from`, where that is final: a cleared screen leaves its rows
    /// before anything else is there.
    pub(super) next_raw: Option<u64>,
    pub(super) output_start: &'a mut OutputStart,
}

impl EchoFilter<'_> {
    fn keep(&mut self, part: Range<usize>) {
        if !part.is_empty() {
            self.to.append(self.from, part, self.default_raw);
        }
    }

    /// The raw offset of the first row behind an index.
    fn raw_after(&self, at: usize) -> Option<u64> {
        let next = || self.next_raw.filter(|_| at >= self.from.text.len());
        self.from.raw_after(at).or_else(next)
    }

    fn place(&self, at: u64) -> usize {
        usize::try_from(at.saturating_sub(self.from_at)).unwrap_or(usize::MAX)
    }

    /// Keeps what lies outside the cuts of a line. False if the last cut is open.
    fn keep_around_cuts(&mut self, line: &Range<usize>) -> bool {
        let mut at = line.start;
        let cuts = self.cuts;
        for cut in cuts {
            let from = self.place(cut.from).clamp(line.start, line.end);
            let to = cut.to.map(|to| self.place(to));
            if to.is_some_and(|to| to <= at) || from >= line.end {
                continue;
            }
            self.keep(at..from.max(at));
            match to {
                None => return false,
                Some(to) => at = to.clamp(line.start, line.end),
            }
        }
        if at >= line.end {
            self.end_line();
        }
        self.keep(at..line.end);
        true
    }

    /// Ends a line whose end was left out.
    fn end_line(&mut self) {
        if !self.to.text.is_empty() && !self.to.text.ends_with('\n') {
            self.to.text.push('\n');
        }
    }
}

/// Filters the text, and returns how much of it was judged, in bytes.
pub(super) fn filter_echo(filter: &mut EchoFilter<'_>, judged: Judged) -> usize {
    let from = filter.from;
    let text = from.text.as_str();
    let until = match judged {
        Judged::Ended => text.rfind('\n').map_or(0, |newline| newline + 1),
        Judged::All | Judged::AllQuiet => text.len(),
    };
    if filter.cuts.is_empty() && !filter.echo.expects_text() {
        filter.keep(0..until);
        return until;
    }
    let mut at = 0;
    while at < until {
        let rest = text.get(at..until).unwrap_or_default();
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        let line = at..at + length;
        let meets = |cut: &Cut| {
            let (from, to) = (filter.place(cut.from), cut.to.map(|to| filter.place(to)));
            from < line.end && to.is_none_or(|to| to > line.start)
        };
        if filter.cuts.iter().any(meets) {
            let open = filter.cuts.last().filter(|cut| cut.to.is_none());
            let is_open = open.is_some_and(|cut| filter.place(cut.from) < line.end);
            if is_open && judged == Judged::Ended {
                // The line is judged once the cut is closed, or the output is quiet.
                return at;
            }
            if !filter.keep_around_cuts(&line) {
                return at;
            }
            at = line.end;
            continue;
        }
        let body = rest.get(..length).unwrap_or_default();
        let line_end = match (body.ends_with('\n'), judged) {
            (true, _) => LineEnd::Ended,
            (false, Judged::AllQuiet) => LineEnd::OpenAndQuiet,
            (false, _) => LineEnd::Open,
        };
        let body = body.strip_suffix('\n').unwrap_or(body);
        let start = filter.from_at + at as u64;
        let echo_from = filter.echo.begins_in(start).min(body.len());
        let verdict = filter.echo.judge(body, start, line_end);
        match verdict {
            LineKind::Output => {
                filter.keep(line.clone());
                // An unfinished line may be the prompt before the next typed line.
                if let (LineEnd::Ended, Some(at)) = (line_end, filter.raw_after(line.end)) {
                    filter.output_start.output_ended(at);
                }
            }
            LineKind::Echo => {
                filter.keep(at..at + echo_from);
                filter.end_line();
                if let Some(at) = filter.raw_after(line.end) {
                    filter.output_start.echo_ended(at, filter.echo.was_whole());
                }
            }
            LineKind::Undecided => {
                filter.keep(at..at + echo_from);
                return at;
            }
        }
        at = line.end;
    }
    until
}
