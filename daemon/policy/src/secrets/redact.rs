//! Secrets out of what is stored: an audit record's details, a command line, an argv.
//!
//! Found by name (`--password …`, `AWS_SECRET_ACCESS_KEY=…`), by place (`mysql -p…`,
//! `Authorization: …`, `https://user:…@`) and by shape (tokens that their services mark, private
//! keys); each is replaced by [`MARK`]. Promises: time linear in the text, no panic, a text no
//! longer than [`MARK`] for each of its bytes, and nothing left to do the second time.
//!
//! A mark takes quotes away that what follows was read by, so what follows is read again, and may
//! show a secret that the first reading had within a word. So a text is gone over until a pass finds
//! nothing, which is what makes the second time find nothing. Nearly all texts are at rest after one
//! pass or two. One that is made not to be, after `MAX_PASSES`, loses all behind the first place
//! that still changes: nothing is left there to be read in another way.
//!
//! It is a sieve for what is put on a command line by mistake, not a wall: a secret that looks like
//! any other word stays. What a terminal printed is never changed: a transcript is what was printed.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;
use serde_json::{Map, Value};
use thiserror::Error;

use super::secret_names::{is_value, names_secret};
use super::{option_values, shapes};

/// What stands where a secret stood.
pub const MARK: &str = "[redacted]";
/// Patterns of one's own: each is another pass over every text.
pub const MAX_PATTERNS: usize = 64;
/// The longest of them, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1_024;
/// The largest that one may become when it is compiled, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Passes over a text in which something was found, each of which takes out what it finds. As many
/// again may cut the text off.
const MAX_PASSES: usize = 8;
/// Values in values of a record's details; below that nothing is stored.
const MAX_DEPTH: usize = 32;

/// A pattern of config.toml that is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// More than there may be.
    #[error("{0} patterns, and there may be {MAX_PATTERNS}")]
    TooMany(usize),
    /// Longer than one may be.
    #[error("pattern {0} is longer than {MAX_PATTERN_BYTES} bytes")]
    TooLong(usize),
    /// It fits the empty text, so it would be found everywhere.
    #[error("pattern {0} fits where nothing is")]
    FitsNothing(usize),
    /// It is no regular expression, or too large a one.
    #[error("pattern {number}: {problem}")]
    NoPattern {
        /// Which, from 1.
        number: usize,
        /// What is wrong with it, in one line.
        problem: String,
    },
}

/// Takes secrets out of texts. With patterns of its owner's beside its own.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    own: Vec<Regex>,
}

impl Redactor {
    /// With these patterns as well, in the syntax of the `regex` crate. Where a pattern has a group,
    /// its first is the secret, else all that it fits.
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
            own: compiled.collect::<Result<_, _>>()?,
        })
    }

    /// A text or a shell line.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for pass in 0..2 * MAX_PASSES {
            let mut found = self.shapes_in(&text);
            option_values::find_in_line(&text, &mut found);
            let Some(less) = without(&text, found) else {
                return text;
            };
            text = Cow::Owned(if pass < MAX_PASSES {
                less.text
            } else {
                cut_off(&text, less.first)
            });
        }
        // In a mark alone nothing is found but itself.
        Cow::Borrowed(MARK)
    }

    /// A program and its arguments.
    pub fn argv(&self, argv: &[String]) -> Vec<String> {
        let mut argv = argv.to_vec();
        for _ in 0..MAX_PASSES {
            let less = self.argv_once(&argv);
            if less == argv {
                return argv;
            }
            argv = less;
        }
        // What is found in a word is found by it and by those before it: these stay as they are.
        let less = self.argv_once(&argv);
        let at_rest = argv
            .iter()
            .zip(&less)
            .take_while(|(word, less)| word == less);
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
            // A line for a shell among the arguments.
            if word.contains(char::is_whitespace) {
                option_values::find_in_line(word, found);
            }
        }
        let words = argv.iter().zip(found);
        words
            .map(|(word, found)| {
                without(word, found).map_or_else(|| word.clone(), |less| less.text)
            })
            .collect()
    }

    /// The details of a record, or a client's `_meta`.
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
        for pattern in &self.own {
            let secrets = pattern.captures_iter(text);
            found.extend(secrets.filter_map(|captures| {
                let secret = captures.get(1).or_else(|| captures.get(0))?;
                Some(secret.range())
            }));
        }
        found
    }
}

/// A list of texts alone: an argv.
fn words_of(values: &[Value]) -> Option<Vec<String>> {
    values
        .iter()
        .map(|value| value.as_str().map(str::to_owned))
        .collect()
}

/// A text less what was found in it.
struct Less {
    text: String,
    /// The first byte that was not the same before.
    first: usize,
}

/// The text with a mark for each range, ranges that touch being one; `None` where that is the text
/// as it was. What is marked already is left.
fn without(text: &str, mut found: Vec<Range<usize>>) -> Option<Less> {
    found.retain(|range| !range.is_empty());
    if found.is_empty() {
        return None;
    }
    let mut found = merged(found);
    // A mark that a range reaches into belongs to it.
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
        // The quotes around a secret are the line's.
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
    first.map(|first| Less { text, first })
}

/// In order, those that touch as one.
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

/// What stands before a place, and a mark for the rest.
fn cut_off(text: &str, at: usize) -> String {
    let kept = text.get(..at).unwrap_or_default();
    format!("{kept}{MARK}")
}

#[cfg(test)]
mod tests;
