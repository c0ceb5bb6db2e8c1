//! Redaction: each secret of a text is replaced by [`MARK`].
//!
//! Secrets are found by name (`--password …`, `AWS_SECRET_ACCESS_KEY=…`), by place (`mysql -p…`,
//! `Authorization: …`, `https://user:…@`) and by shape (tokens with a mark of their service, private
//! keys). A secret that looks like any other word stays: redaction helps against mistakes.
//!
//! **Invariant:** time is linear in the text; the result is at most [`MARK`] for each byte; and a second
//! redaction changes nothing.
//!
//! A mark may replace a quote, so that the text behind it is read in another way and shows further
//! secrets. Hence a text is read until a pass finds nothing; one or two passes are usual. A text that
//! still changes after `MAX_PASSES` is cut off at its first change.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;
use serde_json::{Map, Value};
use thiserror::Error;

use super::secret_names::{is_value, names_secret};
use super::{option_values, shapes};

/// The text that replaces a secret.
pub const MARK: &str = "[redacted]";
/// Patterns of a configuration. Each costs another pass over every text.
pub const MAX_PATTERNS: usize = 64;
/// The longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1_024;
/// The size of a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Passes over a text that replace what they find. As many passes more may cut the text off.
const MAX_PASSES: usize = 8;
/// Levels of JSON that are read. Deeper values become null.
const MAX_DEPTH: usize = 32;

/// Why a pattern is refused. Patterns are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// There are more than [`MAX_PATTERNS`].
    #[error("{0} patterns, and there may be {MAX_PATTERNS}")]
    TooMany(usize),
    /// One is longer than [`MAX_PATTERN_BYTES`].
    #[error("pattern {0} is longer than {MAX_PATTERN_BYTES} bytes")]
    TooLong(usize),
    /// One fits the empty text, so it would be found everywhere.
    #[error("pattern {0} fits where nothing is")]
    FitsNothing(usize),
    /// One is no regular expression, or too large when it is compiled.
    #[error("pattern {number}: {problem}")]
    NoPattern {
        /// The number of the pattern.
        number: usize,
        /// What is wrong with the pattern, in one line.
        problem: String,
    },
}

/// Replaces secrets in texts. The default knows the built-in patterns alone.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The patterns of a configuration.
    configured: Vec<Regex>,
}

impl Redactor {
    /// A redactor with these patterns as well, in the syntax of the `regex` crate. The first group of a
    /// pattern is the secret; without a group, all that the pattern finds is.
    pub fn with_patterns(patterns: &[String]) -> Result<Self, PatternError> {
        if patterns.len() > MAX_PATTERNS {
            return Err(PatternError::TooMany(patterns.len()));
        }
        let compiled = patterns.iter().zip(1..).map(|(pattern, number)| {
            if pattern.len() > MAX_PATTERN_BYTES {
                return Err(PatternError::TooLong(number));
            }
            let built = regex::RegexBuilder::new(pattern)
                .size_limit(MAX_COMPILED_BYTES)
                .build();
            let regex = built.map_err(|error| PatternError::NoPattern {
                number,
                problem: error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .to_owned(),
            })?;
            if regex.is_match("") {
                return Err(PatternError::FitsNothing(number));
            }
            Ok(regex)
        });
        Ok(Self {
            configured: compiled.collect::<Result<_, _>>()?,
        })
    }

    /// Redacts a text or a shell line.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for pass in 0..2 * MAX_PASSES {
            let mut found = self.shapes_in(&text);
            option_values::find_in_line(&text, &mut found);
            let Some(replaced) = with_marks(&text, found) else {
                return text;
            };
            text = Cow::Owned(if pass < MAX_PASSES {
                replaced.text
            } else {
                cut_off(&text, replaced.first)
            });
        }
        // A mark holds no secret.
        Cow::Borrowed(MARK)
    }

    /// Redacts a program and its arguments.
    pub fn argv(&self, argv: &[String]) -> Vec<String> {
        let mut argv = argv.to_vec();
        for _ in 0..MAX_PASSES {
            let redacted = self.argv_once(&argv);
            if redacted == argv {
                return argv;
            }
            argv = redacted;
        }
        // A secret in a word depends on that word and the words before it, so those at rest stay so.
        let redacted = self.argv_once(&argv);
        let at_rest = argv
            .iter()
            .zip(&redacted)
            .take_while(|(word, redacted)| word == redacted);
        let at_rest = at_rest.count();
        for word in argv.iter_mut().skip(at_rest) {
            MARK.clone_into(word);
        }
        argv
    }

    fn argv_once(&self, argv: &[String]) -> Vec<String> {
        let mut found: Vec<_> = argv.iter().map(|word| self.shapes_in(word)).collect();
        option_values::find_in_argv(argv, &mut found);
        for (word, found) in argv.iter().zip(&mut found) {
            // An argument with white space may be a shell line.
            if word.contains(char::is_whitespace) {
                option_values::find_in_line(word, found);
            }
        }
        let words = argv.iter().zip(found);
        words
            .map(|(word, found)| {
                with_marks(word, found).map_or_else(|| word.clone(), |replaced| replaced.text)
            })
            .collect()
    }

    /// Redacts the values of a JSON object. A text in a field whose name names a secret is one.
    pub fn map(&self, map: Map<String, Value>) -> Map<String, Value> {
        self.fields(map, 0)
    }

    fn fields(&self, map: Map<String, Value>, depth: usize) -> Map<String, Value> {
        let fields = map.into_iter().map(|(name, value)| {
            let value = match value {
                Value::String(text) if names_secret(&name) && is_value(&text) => MARK.into(),
                value => self.value(value, depth),
            };
            (name, value)
        });
        fields.collect()
    }

    fn value(&self, value: Value, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Null;
        }
        match value {
            Value::String(text) => match self.text(&text) {
                Cow::Borrowed(_) => Value::String(text),
                Cow::Owned(text) => Value::String(text),
            },
            Value::Array(values) => {
                if let Some(argv) = words_of(&values) {
                    return self.argv(&argv).into();
                }
                let values = values.into_iter();
                values.map(|value| self.value(value, depth + 1)).collect()
            }
            Value::Object(map) => Value::Object(self.fields(map, depth + 1)),
            other => other,
        }
    }

    fn shapes_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        shapes::find(text, &mut found);
        for pattern in &self.configured {
            let secrets = pattern.captures_iter(text);
            found.extend(secrets.filter_map(|captures| {
                let secret = captures.get(1).or_else(|| captures.get(0))?;
                Some(secret.range())
            }));
        }
        found
    }
}

/// The texts of a list that holds nothing else, such as an argv.
fn words_of(values: &[Value]) -> Option<Vec<String>> {
    values
        .iter()
        .map(|value| value.as_str().map(str::to_owned))
        .collect()
}

/// A text in which something was replaced.
struct Replaced {
    text: String,
    /// The first byte that changed.
    first: usize,
}

/// A text with a mark for each range. Ranges that touch count as one, and marks that stand already stay.
/// `None` if the text does not change.
fn with_marks(text: &str, mut found: Vec<Range<usize>>) -> Option<Replaced> {
    found.retain(|range| !range.is_empty());
    if found.is_empty() {
        return None;
    }
    let mut found = merged(found);
    // A range that reaches into a mark takes the mark in.
    let mut ranges = found.iter().peekable();
    let marks = text.match_indices(MARK).map(|(at, _)| at..at + MARK.len());
    let marks: Vec<_> = marks
        .filter(|mark| {
            while ranges.next_if(|range| range.end <= mark.start).is_some() {}
            ranges.peek().is_some_and(|range| range.start < mark.end)
        })
        .collect();
    found.extend(marks);
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    let mut first = None;
    for range in merged(found) {
        let (Some(before), Some(secret)) = (text.get(from..range.start), text.get(range.clone()))
        else {
            continue;
        };
        redacted.push_str(before);
        let begin = redacted.len();
        // The quotes around a secret stay.
        let quote = secret
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''));
        match quote.filter(|quote| secret.len() > 1 && secret.ends_with(*quote)) {
            Some(quote) => {
                redacted.push(quote);
                redacted.push_str(MARK);
                redacted.push(quote);
            }
            None => redacted.push_str(MARK),
        }
        if redacted.get(begin..) != Some(secret) {
            first.get_or_insert(range.start);
        }
        from = range.end;
    }
    redacted.push_str(text.get(from..).unwrap_or_default());
    let text = redacted;
    first.map(|first| Replaced { text, first })
}

/// The ranges in order. Those that touch become one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// A text up to a byte, and a mark for the rest.
fn cut_off(text: &str, at: usize) -> String {
    let kept = text.get(..at).unwrap_or_default();
    format!("{kept}{MARK}")
}

#[cfg(test)]
mod tests;
