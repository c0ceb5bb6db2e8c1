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
}

/// A token within a word of output.
#[derive(Debug)]
pub(super) struct InnerToken {
    pub(super) range: Range<usize>,
    /// Whether no other text, such as a file's name, begins so.
    pub(super) is_distinctive: bool,
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
        find_all(text, &shape.anywhere, |range| {
            let token = text.get(range.clone()).unwrap_or_default();
            if (is_distinctive && is_mixed(token)) || is_dense(token) {
                found.push(InnerToken {
                    range,
                    is_distinctive,
                });
            }
        });
    }
    found
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
        anywhere: token.pattern.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
