//! From all text to the text that is looked at: what the shell's marks or its text say to be an echo
//! is left out. Pure.

use std::ops::Range;

use super::echo::{Echo, LineIs, Verdict};
use super::offset_text::OffsetText;

/// Text that is left out: from a mark B on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) from: u64,
    /// Where the mark after it came; none yet.
    pub(super) to: Option<u64>,
}

/// What the end of the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Only ended lines are judged.
    IsFinal,
    /// All; the last line may go on at once.
    MayGrow,
    /// All; the last line stays as it is.
    IsQuiet,
}

/// Where in the raw output what follows the echo of the first input begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputStart {
    /// No echo has come.
    Unknown,
    /// Behind so much of the echo: its next line may follow at once.
    BehindEcho(u64),
    /// Here.
    At(u64),
}

impl OutputStart {
    pub(super) fn offset(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::BehindEcho(offset) | Self::At(offset) => Some(offset),
        }
    }

    /// A line has ended here, which is an echo or only looks like one. Lines are judged again until
    /// they are final.
    fn echo_ended(&mut self, at: u64, is_whole: bool) {
        *self = match *self {
            Self::Unknown => Self::BehindEcho(at),
            Self::BehindEcho(before) if at <= before => Self::BehindEcho(before),
            Self::BehindEcho(_) if is_whole => Self::BehindEcho(at),
            Self::BehindEcho(before) | Self::At(before) => Self::At(before),
        };
    }

    /// A line of output has ended here.
    fn output_ended(&mut self, at: u64) {
        if let Self::BehindEcho(before) = *self
            && at > before
        {
            *self = Self::At(before);
        }
    }

    /// It is known by a mark.
    pub(super) fn marked(&mut self, offset: u64) {
        if *self == Self::Unknown {
            *self = Self::At(offset);
        }
    }
}

/// What text goes through on its way to where the pattern is looked for.
pub(super) struct EchoFilter<'a> {
    pub(super) echo: &'a mut Echo,
    pub(super) cuts: &'a [Cut],
    pub(super) from: &'a OffsetText,
    /// Where `from` stands in all text.
    pub(super) from_at: u64,
    pub(super) to: &'a mut OffsetText,
    pub(super) otherwise: u64,
    pub(super) output_start: &'a mut OutputStart,
}

impl EchoFilter<'_> {
    fn keep(&mut self, part: Range<usize>) {
        if !part.is_empty() {
            self.to.append(self.from, part, self.otherwise);
        }
    }

    fn place(&self, at: u64) -> usize {
        usize::try_from(at.saturating_sub(self.from_at)).unwrap_or(usize::MAX)
    }

    /// Keeps of a line what stands outside the cuts that it meets; whether it goes on behind them.
    fn keep_around_cuts(&mut self, line: &Range<usize>) -> Goes {
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
                None => return Goes::No,
                Some(to) => at = to.clamp(line.start, line.end),
            }
        }
        if at >= line.end {
            self.end_line();
        }
        self.keep(at..line.end);
        Goes::On
    }

    /// A line whose end was left out ends here.
    fn end_line(&mut self) {
        if !self.to.text.is_empty() && !self.to.text.ends_with('\n') {
            self.to.text.push('\n');
        }
    }
}

/// Whether the text behind a line is known to be output or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    No,
}

/// Takes text through the sieve; how much of it was judged.
pub(super) fn sift(sieve: &mut EchoFilter<'_>, last: Last) -> usize {
    let from = sieve.from;
    let text = from.text.as_str();
    let until = match last {
        Last::IsFinal => text.rfind('\n').map_or(0, |newline| newline + 1),
        Last::MayGrow | Last::IsQuiet => text.len(),
    };
    if sieve.cuts.is_empty() && !sieve.echo.expects_text() {
        sieve.keep(0..until);
        return until;
    }
    let mut at = 0;
    while at < until {
        let rest = text.get(at..until).unwrap_or_default();
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        let line = at..at + length;
        let meets = |cut: &Cut| {
            let (from, to) = (sieve.place(cut.from), cut.to.map(|to| sieve.place(to)));
            from < line.end && to.is_none_or(|to| to > line.start)
        };
        if sieve.cuts.iter().any(meets) {
            let open = sieve.cuts.last().filter(|cut| cut.to.is_none());
            let is_open = open.is_some_and(|cut| sieve.place(cut.from) < line.end);
            if is_open && last == Last::IsFinal {
                // It is judged when the cut has an end, or the output is quiet.
                return at;
            }
            if sieve.keep_around_cuts(&line) == Goes::No {
                return at;
            }
            at = line.end;
            continue;
        }
        let body = rest.get(..length).unwrap_or_default();
        let line_is = match (body.ends_with('\n'), last) {
            (true, _) => LineIs::Ended,
            (false, Last::IsQuiet) => LineIs::OpenAndQuiet,
            (false, _) => LineIs::Open,
        };
        let body = body.strip_suffix('\n').unwrap_or(body);
        let start = sieve.from_at + at as u64;
        let echo_from = sieve.echo.begins_in(start).min(body.len());
        let verdict = sieve.echo.judge(body, start, line_is);
        match verdict {
            Verdict::Output => {
                sieve.keep(line.clone());
                // An open line may be the prompt of the next that was typed.
                if let (LineIs::Ended, Some(at)) = (line_is, sieve.from.raw_behind(line.end)) {
                    sieve.output_start.output_ended(at);
                }
            }
            Verdict::Echo => {
                sieve.keep(at..at + echo_from);
                sieve.end_line();
                if let Some(at) = sieve.from.raw_behind(line.end) {
                    sieve.output_start.echo_ended(at, sieve.echo.was_whole());
                }
            }
            Verdict::NotYet => {
                sieve.keep(at..at + echo_from);
                return at;
            }
        }
        at = line.end;
    }
    until
}
