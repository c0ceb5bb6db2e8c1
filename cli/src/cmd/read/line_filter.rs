//! Which lines `read --grep` and `--errors` print: those that match, numbered, with lines around them, as
//! grep(1) does. Pure.

use std::collections::VecDeque;
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde::Serialize;
use termd_excerpt::looks_like_error;

use crate::usage_error::UsageError;

/// A line that is longer is taken for several: a program may print for hours without a newline.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Which lines match.
#[derive(Debug)]
pub(super) enum Wanted {
    Pattern(Regex),
    /// Those that look like errors of compilers, tests and tools.
    Errors,
}

impl Wanted {
    /// For the regular expression of `--grep`.
    pub(super) fn pattern(pattern: &str, ignores_case: bool) -> Result<Self, UsageError> {
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(ignores_case)
            .build();
        let regex =
            regex.map_err(|error| UsageError::of_pattern("--grep", pattern, &error.to_string()))?;
        Ok(Self::Pattern(regex))
    }

    /// Where the line matches.
    fn find(&self, line: &str) -> Option<Range<usize>> {
        match self {
            Self::Pattern(regex) => regex.find(line).map(|found| found.range()),
            Self::Errors => looks_like_error(line).then_some(0..0),
        }
    }
}

/// A line that is printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// Its number, from 1 where the reading began.
    pub(super) number: u64,
    pub(super) text: String,
    /// Whether it matches, and is no line around one.
    pub(super) matches: bool,
    /// The first match in it, in bytes.
    #[serde(skip)]
    pub(super) found: Range<usize>,
}

/// Takes text in pieces, and gives the lines that are printed.
#[derive(Debug)]
pub(super) struct LineFilter {
    wanted: Wanted,
    /// Lines printed before and behind each match.
    context: usize,
    /// The line that has not ended.
    part: String,
    /// Lines that have ended.
    ended: u64,
    before: VecDeque<Line>,
    /// How many more lines are printed behind the last match.
    after: usize,
    has_matched: bool,
}

impl LineFilter {
    pub(super) fn new(wanted: Wanted, context: usize) -> Self {
        Self {
            wanted,
            context,
            part: String::new(),
            ended: 0,
            before: VecDeque::new(),
            after: 0,
            has_matched: false,
        }
    }

    /// Whether a line matched.
    pub(super) fn has_matched(&self) -> bool {
        self.has_matched
    }

    /// Whether lines around a match are printed.
    pub(super) fn has_context(&self) -> bool {
        self.context > 0
    }

    /// Takes the next piece of the text.
    pub(super) fn push(&mut self, text: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.part.push_str(piece);
            if piece.ends_with('\n') || self.part.len() > MAX_LINE_BYTES {
                self.end_line(&mut lines);
            }
        }
        lines
    }

    /// The end of the text.
    pub(super) fn finish(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.part.is_empty() {
            self.end_line(&mut lines);
        }
        lines
    }

    fn end_line(&mut self, lines: &mut Vec<Line>) {
        let mut text = std::mem::take(&mut self.part);
        text.truncate(text.trim_end_matches('\n').len());
        self.ended += 1;
        let found = self.wanted.find(&text);
        let line = Line {
            number: self.ended,
            text,
            matches: found.is_some(),
            found: found.unwrap_or_default(),
        };
        if line.matches {
            self.has_matched = true;
            self.after = self.context;
            lines.extend(self.before.drain(..));
            lines.push(line);
        } else if self.after > 0 {
            self.after -= 1;
            lines.push(line);
        } else {
            self.before.push_back(line);
            if self.before.len() > self.context {
                self.before.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed of lines apart by spaces, fed in pieces of `piece` bytes: `N:line` or `N-line`.
    fn printed(lines: &str, context: usize, piece: usize) -> String {
        let mut filter = LineFilter::new(Wanted::pattern("x", false).unwrap(), context);
        let text = lines.replace(' ', "\n");
        let mut printed = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            printed.extend(filter.push(now));
            rest = later;
        }
        printed.extend(filter.finish());
        let printed = printed.iter().map(|line| {
            let mark = if line.matches { ':' } else { '-' };
            format!("{}{mark}{}", line.number, line.text)
        });
        printed.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn matches_come_with_their_numbers_and_the_lines_around_them() {
        for (lines, context, want) in [
            ("a x b", 0, "2:x"),
            ("a b x c d", 1, "2-b 3:x 4-c"),
            ("x a b x", 1, "1:x 2-a 3-b 4:x"),
            ("x a x", 2, "1:x 2-a 3:x"),
            ("x x", 0, "1:x 2:x"),
            ("a b", 3, ""),
            ("", 3, ""),
        ] {
            for piece in [1, 2, 100] {
                assert_eq!(printed(lines, context, piece), want, "{lines} {context}");
            }
        }
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut filter = LineFilter::new(Wanted::Errors, 0);
        for _ in 0..3_000 {
            filter.push(&"a".repeat(1_000));
        }
        assert!(filter.part.len() <= MAX_LINE_BYTES + 1_000);
    }

    #[test]
    fn a_wrong_pattern_says_what_is_wrong() {
        let error = Wanted::pattern("a(b", false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--grep \"a(b\" is no regular expression: unclosed group"
        );
    }

    #[test]
    fn case_counts_unless_it_is_ignored() {
        let finds = |ignores_case| Wanted::pattern("err", ignores_case).unwrap().find("ERR");
        assert_eq!((finds(false), finds(true)), (None, Some(0..3)));
    }
}
