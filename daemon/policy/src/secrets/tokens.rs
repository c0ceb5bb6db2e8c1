//! The shapes of published tokens, `tokens.toml`.

use std::ops::Range;
use std::sync::OnceLock;

use serde::Deserialize;

use super::lazy_regex::LazyRegex;

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
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug)]
struct Shape {
    /// A text that every match holds. To look for it costs little.
    marker: String,
    regex: LazyRegex,
}

/// Adds the ranges of tokens in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for shape in shapes() {
        if !text.contains(&shape.marker) {
            continue;
        }
        let Some(regex) = shape.regex.get() else {
            continue;
        };
        // A search alone is cheaper than one for groups.
        if regex.captures_len() == 1 {
            found.extend(regex.find_iter(text).map(|token| token.range()));
            continue;
        }
        let captures = regex.captures_iter(text);
        found.extend(captures.filter_map(|captures| Some(captures.get(1)?.range())));
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
        regex: format!("{boundary}{}", token.pattern).into(),
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
            assert!(shape(token).regex.get().is_some());
        }
    }
}
