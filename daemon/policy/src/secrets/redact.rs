//! Redaction: each secret of a text is replaced by a mark, which has its length and a keyed hash of it.
//!
//! Secrets are found by name (`--password …`, `AWS_SECRET_ACCESS_KEY=…`), by place (`mysql -p…`,
//! `Authorization: …`, `https://user:…@`) and by shape (tokens with a mark of their service, private
//! keys). A secret that looks like any other word stays: redaction helps against mistakes.
//!
//! **Invariant:** what is hidden is a word, and never what a shell runs: `value` says which
//! words, and [`Redactor::text`] leaves command words and values that the text uses later. Time is linear
//! in the text; the result has at most [`MAX_MARK_BYTES`] for each byte; and a second redaction hides
//! nothing more. It takes marks for typed ones, so a text is redacted once.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;
use serde_json::{Map, Value};
use thiserror::Error;

use super::evaluation::may_evaluate;
use super::finding::{Finding, Place, PlaceKind};
use super::line_reader;
pub use super::mark::{KEY_BYTES, MAX_MARK_BYTES, RedactionKey};
use super::mark::{typed_marks, without_marks};
use super::secret_names::names_secret;
use super::shapes;
use super::value::{hidden_words, is_random, words_of_match};
use super::variable_uses::VariableUses;
use crate::request::Invocation;

/// Patterns of a configuration. Each costs another pass over every text.
pub const MAX_PATTERNS: usize = 64;
/// The longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1_024;
/// The size of a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Passes over a text. One or two are usual; each hides more words or is the last.
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
    key: RedactionKey,
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
            key: RedactionKey::default(),
        })
    }

    /// The same with the key of the hashes in marks.
    #[must_use]
    pub fn with_key(mut self, key: RedactionKey) -> Self {
        self.key = key;
        self
    }

    /// Redacts a text or a shell line. A mark that stands in it already was typed, and says so then.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match typed_marks(text) {
            Some(text) => Cow::Owned(self.hide(&text).into_owned()),
            None => self.hide(text),
        }
    }

    /// Replaces the secrets of a text whose marks are termd's own.
    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for pass in 0..MAX_PASSES {
            let Some(redacted) = self.text_once(&text, pass) else {
                return text;
            };
            text = Cow::Owned(redacted);
        }
        text
    }

    fn text_once(&self, text: &str, pass: usize) -> Option<String> {
        let masked = without_marks(text);
        let plain = masked.as_deref().unwrap_or(text);
        let mut finding = self.shapes_in(plain);
        line_reader::find_in_line(plain, &mut finding);
        let uses = VariableUses::of(&[(plain, &finding)]);
        let hidden = hidden_in(plain, &finding, &uses);
        // A mark does not change what the text evaluates, so the first pass decides.
        let is_shown = hidden.is_empty()
            || finding.is_computed
            || (pass == 0 && may_evaluate(Invocation::Line(plain)));
        (!is_shown).then(|| self.with_marks(text, hidden))
    }

    /// Redacts a program and its arguments.
    pub fn argv(&self, argv: &[String]) -> Vec<String> {
        let argv = argv.iter();
        self.hide_in_argv(
            argv.map(|word| typed_marks(word).unwrap_or_else(|| word.clone()))
                .collect(),
        )
    }

    /// Replaces the secrets of an argv whose marks are termd's own.
    fn hide_in_argv(&self, mut argv: Vec<String>) -> Vec<String> {
        for pass in 0..MAX_PASSES {
            let redacted = self.argv_once(&argv, pass);
            if redacted == argv {
                return argv;
            }
            argv = redacted;
        }
        argv
    }

    fn argv_once(&self, argv: &[String], pass: usize) -> Vec<String> {
        let masked = argv
            .iter()
            .map(|word| without_marks(word).unwrap_or_else(|| word.clone()));
        let masked: Vec<String> = masked.collect();
        let mut findings: Vec<_> = masked.iter().map(|word| self.shapes_in(word)).collect();
        line_reader::find_in_argv(&masked, &mut findings);
        let texts: Vec<_> = masked.iter().map(String::as_str).zip(&findings).collect();
        let uses = VariableUses::of(&texts);
        let hidden: Vec<_> = (texts.iter())
            .map(|(plain, finding)| hidden_in(plain, finding, &uses))
            .collect();
        let is_computed = findings.iter().any(|finding| finding.is_computed);
        if hidden.iter().all(Vec::is_empty)
            || is_computed
            || (pass == 0 && may_evaluate(Invocation::Argv(&masked)))
        {
            return argv.to_vec();
        }
        let words = argv.iter().zip(hidden);
        words
            .map(|(word, hidden)| self.with_marks(word, hidden))
            .collect()
    }

    /// Redacts the values of a JSON object. A text in a field whose name names a secret is one.
    pub fn map(&self, map: Map<String, Value>) -> Map<String, Value> {
        self.fields(map, 0)
    }

    fn fields(&self, map: Map<String, Value>, depth: usize) -> Map<String, Value> {
        let fields = map.into_iter().map(|(name, value)| {
            let value = match value {
                Value::String(text) if names_secret(&name) => self.secret_field(&text).into(),
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

    /// The text of a field whose name names a secret.
    fn secret_field(&self, text: &str) -> String {
        let typed = typed_marks(text);
        let text = typed.as_deref().unwrap_or(text);
        let mut finding = Finding::default();
        finding.add(0..text.len());
        let masked = without_marks(text);
        let hidden = hidden_in(
            masked.as_deref().unwrap_or(text),
            &finding,
            &VariableUses::default(),
        );
        if hidden.is_empty() {
            self.text(text).into_owned()
        } else {
            self.with_marks(text, hidden)
        }
    }

    pub(super) fn shapes_in(&self, text: &str) -> Finding {
        let mut finding = Finding::default();
        shapes::find(text, &mut finding);
        for pattern in &self.configured {
            let matches = pattern.captures_iter(text);
            finding.places.extend(matches.filter_map(|captures| {
                let found = captures.get(1).or_else(|| captures.get(0))?;
                Some(Place {
                    value: found.range(),
                    kind: PlaceKind::Match,
                })
            }));
        }
        finding
    }

    /// A text with a mark for each of these words, which are in order and do not overlap.
    fn with_marks(&self, text: &str, hidden: Vec<Range<usize>>) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut from = 0;
        for word in hidden {
            let (Some(before), Some(secret)) = (text.get(from..word.start), text.get(word.clone()))
            else {
                continue;
            };
            redacted.push_str(before);
            redacted.push_str(&self.key.mark(secret));
            from = word.end;
        }
        redacted.push_str(text.get(from..).unwrap_or_default());
        redacted
    }
}

/// The words that are hidden of what was found, in order.
pub(super) fn hidden_in(
    text: &str,
    finding: &Finding,
    uses: &VariableUses<'_>,
) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    for place in &finding.places {
        match &place.kind {
            PlaceKind::Match => words_of_match(text, place.value.clone(), &mut hidden),
            PlaceKind::Variable(name) if is_evaluated(text, name, &place.value, uses) => {}
            PlaceKind::Variable(_) | PlaceKind::Value => {
                hidden_words(text, place.value.clone(), &mut hidden);
            }
        }
    }
    let mut shown = finding.commands.clone();
    let evaluated = finding.places.iter().filter_map(|place| match &place.kind {
        PlaceKind::Variable(name) if is_evaluated(text, name, &place.value, uses) => {
            Some(place.value.clone())
        }
        _ => None,
    });
    shown.extend(evaluated);
    without(merged(hidden), merged(shown))
}

/// Whether the text may run the value of a variable. A random value that is not run directly is taken for
/// a token.
fn is_evaluated(
    text: &str,
    name: &Range<usize>,
    value: &Range<usize>,
    uses: &VariableUses<'_>,
) -> bool {
    let name = text.get(name.clone()).unwrap_or_default();
    let value = text.get(value.clone()).unwrap_or_default();
    uses.is_run(name) || (uses.is_used(name) && !is_random(value))
}

/// The ranges that overlap none of the others. Both are in order.
fn without(ranges: Vec<Range<usize>>, others: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut others = others.into_iter().peekable();
    let mut kept = ranges;
    kept.retain(|range| {
        while others.next_if(|other| other.end <= range.start).is_some() {}
        others.peek().is_none_or(|other| other.start >= range.end)
    });
    kept
}

/// The texts of a list that holds nothing else, such as an argv.
fn words_of(values: &[Value]) -> Option<Vec<String>> {
    values
        .iter()
        .map(|value| value.as_str().map(str::to_owned))
        .collect()
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

#[cfg(test)]
mod tests;
