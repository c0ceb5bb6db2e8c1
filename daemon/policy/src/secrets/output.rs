//! Secrets in what a command prints, which a model is not to see.
//!
//! Two kinds are known: the values of variables whose names or shapes tell of a secret, and texts with the
//! shape of a service's token, a private key or an address with a password. What a command line's grammar
//! would tell is not looked for: output has none.

mod nearby;
mod spellings;

use std::cmp::Reverse;
use std::fmt;
use std::iter;
use std::mem;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::nearby::NearbySecrets;
use self::spellings::spellings;
use super::finding::Finding;
use super::printed_text::{PrintedText, control_strings, seen};
pub use super::printed_text::{escape_sequence_bytes, open_sequence};
use super::redact::{Redactor, hidden_in};
use super::secret_names::is_secret_variable;
use super::shapes::{self, is_secret_value};
use super::tokens;
use super::variable_uses::VariableUses;

/// The shortest value that is looked for, in bytes. Shorter ones are parts of other words.
const MIN_VALUE_BYTES: usize = 6;
/// The shortest line of a value that is looked for by itself, in bytes. A secret of several lines, such as a
/// key, may be shown in parts; its short lines, and those with blanks, are like any other's.
const MIN_LINE_BYTES: usize = 16;
/// Most bytes of values that are kept. An environment has a few hundred; a certificate store may have
/// more, and each read would look for all of it.
const MAX_VALUES_BYTES: usize = 16 * 1024;

/// The secrets of an environment: names and values, as they are and as programs spell them.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSecrets(Vec<(String, String)>);

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}

impl KnownSecrets {
    /// The secrets of an environment, up to a bound. A value of letters or digits alone, such as
    /// `POSTGRES_PASSWORD=postgres`, is a word like any other and is not one.
    pub fn of<'a>(environment: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let is_secret = |name: &str, value: &str| {
            value.len() >= MIN_VALUE_BYTES
                && classes(value) > 1
                && (is_secret_variable(name) || is_secret_value(value))
        };
        let values: Vec<_> = environment
            .filter(|(name, value)| is_secret(name, value))
            .flat_map(|(name, value)| {
                // A part of it may be shown alone.
                let parts = iter::once(value).chain(lines_of(value));
                parts.map(move |part| (name, part.to_owned()))
            })
            .collect();
        let spelled = values.iter().flat_map(|(name, value)| {
            let spelled = spellings(value).into_iter();
            spelled.map(move |spelling| (*name, spelling))
        });
        let spelled: Vec<_> = spelled.collect();
        let mut room = MAX_VALUES_BYTES;
        let fits = |(_, value): &(&str, String)| match room.checked_sub(value.len()) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        // How a value is spelled takes no place of another's.
        let kept = values.into_iter().chain(spelled).filter(fits);
        let mut secrets: Vec<_> = kept.map(|(name, value)| (name.to_owned(), value)).collect();
        // A longer value may hold a shorter one.
        secrets.sort_by_key(|(_, value)| Reverse(value.len()));
        Self(secrets)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a value begins that a text ends in the middle of.
    fn cut_at_end(&self, text: &str) -> Option<usize> {
        let begins = self.0.iter().filter_map(|(_, value)| {
            let lengths = MIN_VALUE_BYTES..value.len();
            let mut beginnings = lengths.rev().filter_map(|length| value.get(..length));
            let beginning = beginnings.find(|beginning| text.ends_with(beginning))?;
            Some(text.len() - beginning.len())
        });
        begins.min()
    }

    /// Where the values are in a text, with their names.
    fn find(&self, text: &str) -> Vec<(Range<usize>, Option<&str>)> {
        let places = self.0.iter().flat_map(|(name, value)| {
            let value = seen(value);
            let found: Vec<_> = text.match_indices(&*value).map(|(at, _)| at).collect();
            let found = found.into_iter();
            found.map(move |at| (at..at + value.len(), Some(name.as_str())))
        });
        places.collect()
    }
}

/// The lines of a value of several lines that may stand alone in output.
fn lines_of(value: &str) -> impl Iterator<Item = &str> {
    let has_lines = value.contains('\n');
    let lines = value.lines().map(str::trim).filter(move |_| has_lines);
    lines.filter(|line| {
        line.len() >= MIN_LINE_BYTES && classes(line) > 1 && !line.contains(char::is_whitespace)
    })
}

/// How many kinds of characters a value has: lower case, upper case, digits, others.
fn classes(value: &str) -> usize {
    let has = |is: fn(char) -> bool| usize::from(value.contains(is));
    has(|c| c.is_ascii_lowercase())
        + has(|c| c.is_ascii_uppercase())
        + has(|c| c.is_ascii_digit())
        + has(|c| !c.is_ascii_alphanumeric())
}

/// A piece of output, and what was printed around it: a secret may begin before it and end after it.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputPiece<'a> {
    /// What was printed before it.
    pub before: &'a str,
    /// The piece itself.
    pub text: &'a str,
    /// What was printed after it.
    pub after: &'a str,
    /// The secrets near it, of which parts may stand in it.
    pub nearby: Option<&'a NearbySecrets>,
}

/// A part of a piece of output that shows some of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPart {
    /// Its bytes in the piece's text.
    pub range: Range<usize>,
    /// What stands for the secret; empty where another part of the same secret is before it.
    mark: String,
}

impl Redactor {
    /// A command's output with the mark of each secret in its place; `None` where there is none in it.
    pub fn output(&self, known: &KnownSecrets, piece: OutputPiece<'_>) -> Option<String> {
        let parts = self.secret_parts(known, piece);
        if parts.is_empty() {
            return None;
        }
        let mut shown = String::with_capacity(piece.text.len());
        let mut from = 0;
        for part in parts {
            shown.push_str(piece.text.get(from..part.range.start).unwrap_or_default());
            shown.push_str(&part.mark);
            from = part.range.end;
        }
        shown.push_str(piece.text.get(from..).unwrap_or_default());
        Some(shown)
    }

    /// The parts of secrets in a piece of output, in order. Escape sequences, controls and what nobody sees
    /// may cut a secret; a control string, such as a title, may hold one.
    pub fn secret_parts(&self, known: &KnownSecrets, piece: OutputPiece<'_>) -> Vec<SecretPart> {
        let OutputPiece {
            before,
            text,
            after,
            nearby,
        } = piece;
        let whole = [before, text, after].concat();
        let bounds = before.len()..before.len() + text.len();
        let mut parts: Vec<SecretPart> = Vec::new();
        let mut add = |name: Option<&str>, origins: &mut dyn Iterator<Item = Range<usize>>| {
            let mut mark =
                name.map_or_else(|| "[secret]".to_owned(), |name| format!("[secret {name}]"));
            for range in origins {
                let range = range.start.max(bounds.start)..range.end.min(bounds.end);
                if !range.is_empty() {
                    parts.push(SecretPart {
                        range: range.start - bounds.start..range.end - bounds.start,
                        mark: mem::take(&mut mark),
                    });
                }
            }
        };
        for (base, text) in with_control_strings(&whole) {
            for printed in PrintedText::readings(text) {
                for (secret, name) in self.secrets_in(known, printed.text()) {
                    let origins = printed.origins(secret);
                    add(
                        name,
                        &mut origins.map(|part| base + part.start..base + part.end),
                    );
                }
            }
        }
        let Some(nearby) = nearby else {
            return apart(parts);
        };
        for (base, text) in with_control_strings(text) {
            let base = bounds.start + base;
            for printed in PrintedText::readings(text) {
                for part in nearby.find(printed.text()) {
                    let origins = printed.origins(part);
                    add(
                        None,
                        &mut origins.map(|part| base + part.start..base + part.end),
                    );
                }
            }
        }
        apart(parts)
    }

    /// Where a secret begins that the edge of the screen cuts: the text is a row that reaches it, and nothing
    /// that follows goes on with it.
    pub fn secret_at_edge(&self, known: &KnownSecrets, row: &str) -> Option<usize> {
        let token = tokens::cut_at_end(row);
        token.into_iter().chain(known.cut_at_end(row)).min()
    }

    /// Where the secret begins that a place in a text of output cuts.
    pub fn secret_across(&self, known: &KnownSecrets, text: &str, at: usize) -> Option<usize> {
        let piece = OutputPiece {
            text,
            ..OutputPiece::default()
        };
        let mut start = 0;
        let mut parts = self.secret_parts(known, piece).into_iter();
        let cut = parts.find(|part| {
            if !part.mark.is_empty() {
                start = part.range.start;
            }
            part.range.end > at
        });
        cut.map(|_| start).filter(|start| *start < at)
    }

    /// The secrets in a text without escape sequences, or in one of them: in order, and apart from each other.
    fn secrets_in<'a>(
        &self,
        known: &'a KnownSecrets,
        text: &str,
    ) -> Vec<(Range<usize>, Option<&'a str>)> {
        let finding: Finding = self.shapes_in(text);
        let shapes = hidden_in(text, &finding, &VariableUses::default());
        let mut found = known.find(text);
        found.extend(shapes.into_iter().map(|range| (range, None)));
        found.extend(
            shapes::in_output(text)
                .into_iter()
                .map(|range| (range, None)),
        );
        found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut secrets: Vec<(Range<usize>, Option<&str>)> = Vec::new();
        for (range, name) in found {
            match secrets.last_mut() {
                Some((last, last_name)) if range.start < last.end => {
                    last.end = last.end.max(range.end);
                    *last_name = last_name.or(name);
                }
                _ => secrets.push((range, name)),
            }
        }
        secrets
    }
}

/// A text, and the texts of the control strings in it, each with where it begins.
fn with_control_strings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let strings = control_strings(text);
    let strings = strings.filter_map(|string| Some((string.start, text.get(string)?)));
    iter::once((0, text)).chain(strings)
}

/// The parts in order. Of those that overlap, the first stands for all.
fn apart(mut parts: Vec<SecretPart>) -> Vec<SecretPart> {
    parts.sort_by_key(|part| (part.range.start, Reverse(part.range.end)));
    let mut apart: Vec<SecretPart> = Vec::with_capacity(parts.len());
    for part in parts {
        match apart.last_mut() {
            Some(last) if part.range.start < last.range.end => {
                last.range.end = last.range.end.max(part.range.end);
            }
            _ => apart.push(part),
        }
    }
    apart
}

#[cfg(test)]
mod tests;
