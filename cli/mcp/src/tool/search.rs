//! Looks for a pattern in what a terminal has printed, line by line, and shows each match with its
//! offset and the lines around it.

use std::collections::VecDeque;

use regex::Regex;
use serde_json::json;
use termd_client::{ClientError, gap_note};
use termd_excerpt::short_line;
use termd_proto::Offset;
use termd_proto::terminal::Gap;

use super::answer::ToolError;
use super::excerpt::Bounds;
use super::facts::{Facts, add};
use super::pages::Pages;
use super::schema::Field;
use crate::settings::MAX_OUTPUT_BYTES;

/// How much is searched in one call: a bound on its time, some seconds.
const MAX_SEARCHED_BYTES: u64 = 128 << 20;
/// How much is searched at a time.
const PAGE: Bounds = Bounds {
    bytes: MAX_OUTPUT_BYTES,
    lines: MAX_OUTPUT_BYTES,
};

/// What is searched for, and how much is shown.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) pattern: Regex,
    /// Lines shown before and behind each match.
    pub(crate) context: usize,
    /// The most that is shown, in bytes.
    pub(crate) bytes: usize,
}

/// What a search has found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The matching lines, each with its offset before it, and the lines around them. `--` stands where
    /// lines are left out.
    pub(crate) text: String,
    /// Lines that match.
    pub(crate) matches: u64,
    /// Those of them that are shown.
    pub(crate) shown: u64,
    /// Where the search ended.
    pub(crate) end: Offset,
}

impl Query {
    /// For a pattern of a call's parameters.
    pub(crate) fn new(pattern: &str, context: usize, bytes: u64) -> Result<Self, ToolError> {
        let pattern = Regex::new(pattern)
            .map_err(|error| ToolError::validation(format!("Invalid pattern: {error}")))?;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(Self {
            pattern,
            context,
            bytes,
        })
    }
}

impl Found {
    /// The field of a result that no other read has.
    pub(crate) fn field() -> Field {
        Field::integer("matches", "Lines that match `pattern`")
    }

    /// The fields of a result. `end` is the set's word for where it ended.
    pub(crate) fn to_facts(&self, end: &str) -> Facts {
        let mut facts = Facts::new();
        add(
            &mut facts,
            json!({
                "output": self.text,
                "matches": self.matches,
                "truncated": (self.shown < self.matches).then_some(true),
                end: self.end,
            }),
        );
        facts
    }
}

impl Pages<'_> {
    /// Searches from `from` until `until`.
    pub(crate) async fn search(
        &self,
        (from, until): (Offset, Offset),
        query: &Query,
    ) -> Result<Found, ClientError> {
        let until = until.min(from + MAX_SEARCHED_BYTES);
        let mut shown = Shown::new(query);
        let (mut at, mut matches) = (from, 0);
        while at < until {
            let piece = self.first_lines((at, until), PAGE).await?;
            if let Some(gap) = piece.gap {
                shown.gap(gap);
            }
            for (number, line) in (0..).zip(piece.text.lines()) {
                if !query.pattern.is_match(line) {
                    shown.other(line);
                    continue;
                }
                matches += 1;
                if shown.has_room() {
                    let offset = match number {
                        0 => piece.start,
                        lines => {
                            let before = (piece.start, until);
                            let before = self.read(before, MAX_OUTPUT_BYTES, Some(lines));
                            before.await?.end
                        }
                    };
                    shown.matched(line, offset);
                }
            }
            if piece.end <= at {
                break;
            }
            at = piece.end;
        }
        Ok(Found {
            text: shown.text,
            matches,
            shown: shown.matches,
            end: at,
        })
    }
}

/// The lines that are shown. Pure.
struct Shown<'a> {
    query: &'a Query,
    text: String,
    matches: u64,
    /// Lines that may stand before the next match.
    before: VecDeque<String>,
    /// Lines that stand behind the last match and are still to come.
    after: usize,
    /// Whether lines were left out since the last one that is shown.
    skipped: bool,
}

impl<'a> Shown<'a> {
    fn new(query: &'a Query) -> Self {
        Self {
            query,
            text: String::new(),
            matches: 0,
            before: VecDeque::new(),
            after: 0,
            skipped: false,
        }
    }

    fn has_room(&self) -> bool {
        self.text.len() < self.query.bytes
    }

    fn matched(&mut self, line: &str, offset: Offset) {
        if self.skipped && !self.text.is_empty() {
            self.text.push_str("--\n");
        }
        self.skipped = false;
        for before in std::mem::take(&mut self.before) {
            self.push("  ", &before);
        }
        self.push(&format!("{offset}: "), line);
        self.matches += 1;
        self.after = self.query.context;
    }

    /// Says that lines are missing: what is not found may be among them.
    fn gap(&mut self, gap: Gap) {
        self.before.clear();
        self.after = 0;
        self.push("", &format!("[{}]", gap_note(gap)));
    }

    fn other(&mut self, line: &str) {
        if self.after > 0 && self.has_room() {
            self.after -= 1;
            self.push("  ", line);
            return;
        }
        self.before.push_back(short_line(line));
        if self.before.len() > self.query.context {
            self.before.pop_front();
            self.skipped = true;
        }
    }

    fn push(&mut self, prefix: &str, line: &str) {
        self.text.push_str(prefix);
        self.text.push_str(&short_line(line));
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, context: usize, bytes: usize) -> String {
        let query = Query {
            pattern: Regex::new("x").unwrap(),
            context,
            bytes,
        };
        let mut shown = Shown::new(&query);
        for (offset, line) in (0..).zip(text.split(' ')) {
            if query.pattern.is_match(line) && shown.has_room() {
                shown.matched(line, Offset(offset));
            } else {
                shown.other(line);
            }
        }
        shown.text.replace('\n', "|")
    }

    #[test]
    fn matches_have_their_offset_and_their_neighbours() {
        for (text, context, found) in [
            ("a b x c d", 1, "  b|2: x|  c|"),
            ("a b x c d", 0, "2: x|"),
            ("x a b c x", 1, "0: x|  a|--|  c|4: x|"),
            ("x a x", 1, "0: x|  a|2: x|"),
            ("a b", 3, ""),
        ] {
            assert_eq!(shown(text, context, 1_000), found, "{text} {context}");
        }
        assert_eq!(shown("x a x a x", 0, 4), "0: x|");
    }
}
