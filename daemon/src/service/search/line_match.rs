//! The lines of a text that match, with the lines around them.

use std::ops::Range;

use termd_proto::Offset;
use termd_proto::search::MAX_LINE_BYTES;
use termd_vt::plain::Output;

use super::pattern::Pattern;

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineMatch {
    /// Where the line begins in the output.
    pub(super) offset: Offset,
    /// Where the next line begins, or the text ends.
    pub(super) end: Offset,
    pub(super) line: String,
    /// The first match in it.
    pub(super) found: Range<usize>,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

/// The lines of a text that match, in order. `hidden` is the text without the secrets in it, if there are
/// any.
pub(super) fn matches(
    output: &Output,
    hidden: Option<&str>,
    pattern: &Pattern,
    context: usize,
) -> Vec<LineMatch> {
    let text = hidden.unwrap_or(&output.text);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(place) = pattern.find(line) else {
            continue;
        };
        let (line, place) = cut(line, place);
        let around = |range: Range<usize>| {
            let lines = lines.get(range).unwrap_or_default();
            lines.iter().map(|line| cut(line, 0..0).0).collect()
        };
        let behind = (at + 1).saturating_add(context).min(lines.len());
        found.push((
            at,
            LineMatch {
                offset: Offset::ZERO,
                end: Offset::ZERO,
                line,
                found: place,
                before: around(at.saturating_sub(context)..at),
                after: around(at + 1..behind),
            },
        ));
    }
    locate(output, found)
}

/// The lines of a text as they stand around a match.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| cut(line, 0..0).0).collect()
}

impl LineMatch {
    /// Adds lines of the text before, so that `most` stand before the match.
    pub(super) fn add_before(&mut self, lines: &[String], most: usize) {
        let missing = most.saturating_sub(self.before.len());
        let from = lines.len().saturating_sub(missing);
        self.before.splice(0..0, lines[from..].iter().cloned());
    }

    /// Adds lines of the text behind, so that `most` stand behind the match.
    pub(super) fn add_after(&mut self, lines: &[String], most: usize) {
        let missing = most.saturating_sub(self.after.len());
        self.after.extend(lines.iter().take(missing).cloned());
    }
}

/// Says where the lines are in the output. A secret that was hidden has as many lines as before, or the
/// lines behind it are said to be a little off.
fn locate(output: &Output, found: Vec<(usize, LineMatch)>) -> Vec<LineMatch> {
    let mut starts = line_starts(&output.text).enumerate().peekable();
    let last = output.anchors.last().map_or(0, |anchor| anchor.raw);
    let located = found.into_iter().map(|(number, found)| {
        let start = starts.find(|(line, _)| *line == number);
        let raw = start.map_or(last, |(_, start)| raw_offset(output, start));
        let next = starts.peek().map(|(_, start)| raw_offset(output, *start));
        LineMatch {
            offset: Offset(raw),
            end: Offset(next.unwrap_or(raw)),
            ..found
        }
    });
    located.collect()
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let behind = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
    std::iter::once(0).chain(behind)
}

/// Where text at this position begins in the output.
fn raw_offset(output: &Output, text: usize) -> u64 {
    let behind = output.anchors.partition_point(|anchor| anchor.text <= text);
    let anchor = behind.checked_sub(1).and_then(|at| output.anchors.get(at));
    anchor
        .or(output.anchors.first())
        .map_or(0, |anchor| anchor.raw)
}

/// A line, or of a long one the part around the match.
fn cut(line: &str, found: Range<usize>) -> (String, Range<usize>) {
    if line.len() <= MAX_LINE_BYTES {
        return (line.to_owned(), found);
    }
    let half = MAX_LINE_BYTES / 2;
    let start = line.floor_char_boundary(found.start.saturating_sub(half));
    let end = line.floor_char_boundary((start + MAX_LINE_BYTES).min(line.len()));
    let part = line.get(start..end).unwrap_or_default();
    let inside = |at: usize| at.clamp(start, end) - start;
    (part.to_owned(), inside(found.start)..inside(found.end))
}

#[cfg(test)]
mod tests {
    use termd_proto::search::PatternKind;
    use termd_vt::plain::{PlainSize, PlainText, Until};

    use super::*;

    fn found(text: &str, pattern: &str, context: usize) -> Vec<LineMatch> {
        let size = PlainSize { cols: 80, rows: 4 };
        let mut plain = PlainText::new(size).with_every_anchor();
        plain.advance(text.as_bytes());
        plain.give(Until::Final);
        let pattern = Pattern::compile(pattern, PatternKind::Words, false).unwrap();
        matches(&plain.take(), None, &pattern, context)
    }

    #[test]
    fn a_line_is_found_with_its_offset_and_what_stands_around_it() {
        let hits = found(
            "\x1b[1mone\x1b[m\r\ntwo red\r\nthree\r\nA red fox\r\n",
            "RED",
            1,
        );
        let shown: Vec<_> = hits
            .iter()
            .map(|hit| (hit.offset.0, hit.line.as_str(), hit.found.clone()))
            .collect();
        assert_eq!(shown, [(12, "two red", 4..7), (28, "A red fox", 2..5)]);
        assert_eq!(
            (&hits[0].before, &hits[0].after),
            (&vec!["one".into()], &vec!["three".into()])
        );
    }

    #[test]
    fn each_word_is_in_the_line() {
        assert_eq!(found("red\nfox red\n", "red fox", 0).len(), 1);
        assert_eq!(found("red\nfox\n", "red fox", 0).len(), 0);
    }

    #[test]
    fn of_a_long_line_the_part_with_the_match_is_given() {
        let line = format!("{}needle{}", "ä".repeat(40_000), "b".repeat(40_000));
        let hits = found(&line, "needle", 0);
        assert!(hits[0].line.len() <= MAX_LINE_BYTES);
        assert_eq!(&hits[0].line[hits[0].found.clone()], "needle");
    }
}
