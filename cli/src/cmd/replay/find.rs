//! Finding text in what a replay shows: when it comes to stand on the screen. Pure.
//!
//! A row that goes on to match, or whose text only moves, is no new match.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use termd_proto::screen::ScreenRows;
use termd_vt::Model;

/// The most memory of a compiled pattern, in bytes, as for `read --grep`.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Looks for a pattern on a screen as it changes.
#[derive(Debug)]
pub(super) struct Finder {
    pattern: Regex,
    /// The rows that match, by their place.
    matching: HashMap<Place, String>,
    /// The screen that was looked at last: its change, and the rows that had been printed before.
    seen: Option<(u64, u64)>,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// On the primary screen or above: how many rows were printed before it.
    Printed(i64),
    /// On the alternate screen.
    Alternate(i64),
}

/// A pattern as a person types it. The case of letters counts where there is a capital.
pub(in crate::cmd) fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text)
        .case_insensitive(!text.chars().any(char::is_uppercase))
        .size_limit(MAX_PATTERN_BYTES)
        .build()
}

impl Finder {
    /// What stands on the screen already is no match.
    pub(super) fn new(pattern: Regex, model: &Model) -> Self {
        let mut finder = Self {
            pattern,
            matching: HashMap::new(),
            seen: None,
        };
        finder.look(model);
        finder
    }

    /// Whether a match has come since the last look.
    pub(super) fn look(&mut self, model: &Model) -> bool {
        let printed = model.rows_printed();
        let new_rows = self
            .seen
            .map_or(0, |(_, before)| printed.saturating_sub(before));
        let rows = ScreenRows {
            since: self.seen.map(|(seq, _)| seq),
            from_row: Some(-i64::try_from(new_rows).unwrap_or(i64::MAX)),
            to_row: None,
        };
        let screen = model.screen(rows);
        let first = i64::try_from(printed).unwrap_or(i64::MAX);
        let place = |row: i64| {
            if screen.alternate {
                Place::Alternate(row)
            } else {
                Place::Printed(first.saturating_add(row))
            }
        };
        let mut is_new = false;
        let mut changed = Vec::new();
        for line in &screen.lines {
            let place = place(line.row);
            let text: String = line.runs.iter().map(|run| run.text.as_str()).collect();
            if self.pattern.is_match(&text) {
                let is_known = self.matching.contains_key(&place)
                    || self.matching.values().any(|known| *known == text);
                is_new |= !is_known;
                changed.push((place, Some(text)));
            } else {
                changed.push((place, None));
            }
        }
        // Only now: what has just left the screen was known. On the alternate screen nothing scrolls into the
        // scrollback.
        self.matching.retain(|known, _| match known {
            Place::Printed(row) => screen.alternate || *row >= first,
            Place::Alternate(_) => screen.alternate,
        });
        for (place, text) in changed {
            match text {
                Some(text) => self.matching.insert(place, text),
                None => self.matching.remove(&place),
            };
        }
        self.seen = Some((screen.seq, printed));
        is_new
    }
}

#[cfg(test)]
mod tests {
    use termd_vt::Scrollback;

    use super::*;

    #[test]
    fn a_match_is_found_when_it_comes() {
        let size = termd_vt::Size { cols: 20, rows: 3 };
        let mut model = Model::new(size, Scrollback::new(100, 1 << 20));
        model.feed(b"an error at first\r\n");
        let mut finder = Finder::new(pattern("error|fault").unwrap(), &model);
        for (output, is_found) in [
            ("all well\r\n", false),
            ("an Err", false),
            ("or\r\n", true),
            ("more\r\n", false),
            ("a\r\nb\r\nc\r\nfault\r\nd\r\ne\r\nf\r\ng\r\nh", true),
            ("\r\na fault", true),
            ("\r\ni\r\nj\r\nk", false),
            ("\x1b[?1049h\x1b[H", false),
            ("100 errors", true),
            ("\x1b[H101", false),
            ("\x1b[2J\x1b[Hno", false),
            ("\x1b[H102 errors", true),
            ("\x1b[?1049l", false),
        ] {
            model.feed(output.as_bytes());
            assert_eq!(finder.look(&model), is_found, "{output:?}");
        }
    }

    #[test]
    fn capitals_count_where_there_are_some() {
        assert!(pattern("error").unwrap().is_match("ERROR"));
        assert!(!pattern("Error").unwrap().is_match("error"));
        assert!(pattern("(").is_err());
    }
}
