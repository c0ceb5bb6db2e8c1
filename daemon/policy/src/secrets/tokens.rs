//! The shapes of published tokens, `tokens.toml`.

use std::ops::Range;
use std::sync::OnceLock;

use serde::Deserialize;

use super::lazy_regex::LazyRegex;
use super::value::{is_dense, is_mixed};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    token: Vec<Token>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    #[serde(rename = "service")]
    _service: String,
    marker: String,
    pattern: String,
    #[serde(default)]
    distinctive: bool,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug)]
struct Shape {
    /// A text that every match holds. To look for it costs little.
    marker: String,
    /// Whether no other text begins so.
    is_distinctive: bool,
    /// Begins at a word's beginning.
    word: LazyRegex,
    /// Begins anywhere.
    anywhere: LazyRegex,
    /// Begins anywhere, and may go on.
    beginning: LazyRegex,
}

/// Characters with which tokens go on, as many as the longest has: of all kinds, hexadecimal digits, capitals.
const RESTS: [&str; 3] = [
    "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG1iJ3lM5oP7rS9uV2xY4aD6eF8hK0nL1qR3tU5wX7zA9cE2gI4",
    "a3d5c7e9f1b2a4d6e8c0f1a3b5d7e9c2a4d6f8b0e1c3a5d7b9f1c2e4a6d8b0c3f5",
    "A3D5G7J9M1P2S4V6Y8B0E1H3K5N7Q9T2W4Z6C8F0I1L3O5R7U9X2A4D6G8J0M1P3S5",
];

/// A token within a word of output.
#[derive(Debug)]
pub(super) struct InnerToken {
    pub(super) range: Range<usize>,
    /// Whether no other text, such as a file's name, begins so.
    pub(super) is_distinctive: bool,
}

/// The shortest beginning of a token that is known as one, in bytes: what services begin them with, and more.
const MIN_CUT_BYTES: usize = 5;
/// What ends the pattern of a token of one length.
const WORD_END: &str = r"(?-u:\b)";

impl Shape {
    /// Where a token begins that would go on with `rest`.
    fn cut(&self, text: &str, rest: &str) -> Option<usize> {
        let whole = [text, rest].concat();
        let mut found = self.beginning.get()?.find_iter(&whole);
        let cut = found
            .find(|token| token.start() + MIN_CUT_BYTES <= text.len() && token.end() > text.len());
        cut.map(|token| token.start())
    }

    /// The token that begins with the last characters of another one, where no gap is between them.
    fn next_in(&self, text: &str, token: &Range<usize>) -> Option<Range<usize>> {
        let from = token.start + self.marker.len();
        let at = from + text.get(from..token.end)?.find(&self.marker)?;
        let next = self.anywhere.get()?.find(text.get(at..)?)?;
        (next.start() == 0).then(|| at..at + next.end())
    }
}

/// Whether a text holds a token, at a word's beginning or within a word.
pub fn holds_token(text: &str) -> bool {
    let mut words = Vec::new();
    find(text, &mut words);
    !(words.is_empty() && find_anywhere(text).is_empty())
}

/// Adds the ranges of tokens that begin where a word does.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for shape in shapes_in(text) {
        find_all(text, &shape.word, |token| found.push(token));
    }
}

/// The tokens that begin anywhere in a text. What stands right before a token is the end of whatever was
/// printed before it: an escape that is spelled out, an option's letter, another name. A token that is not
/// distinctive has to be as random as no word is.
pub(super) fn find_anywhere(text: &str) -> Vec<InnerToken> {
    let mut found = Vec::new();
    for shape in shapes_in(text) {
        let is_distinctive = shape.is_distinctive;
        let mut ranges = Vec::new();
        find_all(text, &shape.anywhere, |range| ranges.push(range));
        if is_distinctive {
            let behind: Vec<_> = ranges
                .iter()
                .filter_map(|range| shape.next_in(text, range))
                .collect();
            ranges.extend(behind);
        }
        for range in ranges {
            let token = text.get(range.clone()).unwrap_or_default();
            if (is_distinctive && is_mixed(token)) || is_dense(token) {
                found.push(InnerToken {
                    range,
                    is_distinctive,
                });
            }
        }
    }
    found
}

/// Where a token begins that a text ends in the middle of: with more characters it would be one, and no other
/// text begins so.
pub(super) fn cut_at_end(text: &str) -> Option<usize> {
    let shapes = shapes_in(text).filter(|shape| shape.is_distinctive);
    let begins = shapes.flat_map(|shape| RESTS.iter().filter_map(|rest| shape.cut(text, rest)));
    begins.min()
}

fn shapes_in(text: &str) -> impl Iterator<Item = &'static Shape> {
    shapes()
        .iter()
        .filter(move |shape| text.contains(&shape.marker))
}

fn find_all(text: &str, pattern: &LazyRegex, mut add: impl FnMut(Range<usize>)) {
    let Some(regex) = pattern.get() else {
        return;
    };
    // A search alone is cheaper than one for groups.
    if regex.captures_len() == 1 {
        regex.find_iter(text).for_each(|token| add(token.range()));
        return;
    }
    for captures in regex.captures_iter(text) {
        if let Some(token) = captures.get(1) {
            add(token.range());
        }
    }
}

fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let table = toml::from_str::<Table>(include_str!("tokens.toml"));
        let tokens = table.map(|table| table.token).unwrap_or_default();
        tokens.into_iter().map(shape).collect()
    })
}

fn shape(token: Token) -> Shape {
    // Before what is no letter there is no beginning of a word.
    let boundary = if token.pattern.starts_with('\\') {
        ""
    } else {
        r"(?-u:\b)"
    };
    Shape {
        marker: token.marker,
        is_distinctive: token.distinctive,
        word: format!("{boundary}{}", token.pattern).into(),
        beginning: token.pattern.trim_end_matches(WORD_END).to_owned().into(),
        anywhere: token.pattern.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_the_end_cuts_is_known_by_its_beginning() {
        for text in [
            "x ghp_0x3viyyVgUMK2wxNs",
            "x AKIAIOSF",
            "x dapi12",
            "x npm_aB3",
            "x xoxb-1234",
        ] {
            assert_eq!(cut_at_end(text), Some(2), "{text}");
        }
        for text in [
            "x right",
            "glpat",
            "xox",
            "AKI",
            "highlight",
            "the dapi",
            "sk-learn",
        ] {
            assert_eq!(cut_at_end(text), None, "{text}");
        }
    }

    #[test]
    fn tokens_without_a_gap_are_both_found() {
        let token = "ghp_0x3viyyVgUMK2wxNsDQQhCmxXHa1B2c3D4e5";
        let found = find_anywhere(&token.repeat(2));
        assert!(found.iter().any(|found| found.range.start == token.len()));
    }

    #[test]
    fn every_shape_compiles_and_has_its_marker() {
        let table: Table = toml::from_str(include_str!("tokens.toml")).unwrap();
        assert!(table.token.len() > 60);
        for token in table.token {
            let unescaped = token.pattern.replace('\\', "");
            assert!(
                unescaped.contains(&token.marker) || token.marker.len() <= 3,
                "{token:?}"
            );
            assert!(token.pattern.starts_with('\\') || !token.pattern.starts_with('^'));
            let shape = shape(token);
            assert!(shape.word.get().is_some() && shape.anywhere.get().is_some());
        }
    }
}
