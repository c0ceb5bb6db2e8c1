//! `name=value` in a text: a variable's, a connection string's, an address's. Time is linear in the text.
//!
//! A regular expression would not do. Behind each assignment it would search the rest of the text for
//! the end of a quote that nothing closes; this reader remembers such quotes.

use std::ops::Range;

/// The ranges of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Letters, digits and `_.-`.
    pub(super) name: Range<usize>,
    /// At least one byte: words and quoted strings, with nothing between them.
    pub(super) value: Range<usize>,
}

/// Letters of escapes that stand for white space (printf(1)).
const ESCAPES: [char; 3] = ['n', 'r', 't'];

/// Iterates over assignments, which do not overlap.
#[derive(Debug)]
pub(super) struct Assignments<'a> {
    text: &'a str,
    at: usize,
    /// For each byte, whether a string in double quotes that begins there never ends. Empty until one is
    /// found.
    endless: Vec<bool>,
    /// Bytes read so far. Some are counted more than once.
    read: usize,
}

/// The assignments of a text.
pub(super) fn assignments(text: &str) -> Assignments<'_> {
    Assignments {
        text,
        at: 0,
        endless: Vec::new(),
        read: 0,
    }
}

impl Iterator for Assignments<'_> {
    type Item = Assignment;

    fn next(&mut self) -> Option<Assignment> {
        loop {
            let before = self.text.get(self.at..)?;
            let equals = self.at + before.find('=')?;
            self.read += equals + 1 - self.at;
            let name = self.name_before(equals);
            let end = if name.is_empty() {
                equals + 1
            } else {
                let end = self.value_end(equals + 1);
                self.escape_in(equals + 1, end).unwrap_or(end)
            };
            self.at = end;
            let value = equals + 1..end;
            if !value.is_empty() {
                return Some(Assignment { name, value });
            }
        }
    }
}

impl Assignments<'_> {
    /// The name that ends at `end`. It begins behind the assignment before.
    fn name_before(&mut self, end: usize) -> Range<usize> {
        let before = self.text.get(self.at..end).unwrap_or_default();
        let name = before.trim_end_matches(in_name);
        let begin = end - (before.len() - name.len());
        // The letter of an escape: `\nname=value`, as printf(1) reads it.
        let is_escape = name.ends_with('\\') && before[name.len()..].starts_with(ESCAPES);
        begin + usize::from(is_escape)..end
    }

    /// Where the first `\n`, `\r` or `\t` of a value is. To printf(1) the value ends there.
    fn escape_in(&mut self, from: usize, end: usize) -> Option<usize> {
        let value = self.text.get(from..end)?;
        self.read += value.len();
        let escapes = value.match_indices('\\').find(|(at, _)| {
            value
                .get(at + 1..)
                .is_some_and(|rest| rest.starts_with(ESCAPES))
        });
        escapes.map(|(at, _)| from + at)
    }

    fn value_end(&mut self, from: usize) -> usize {
        let mut at = from;
        while let Some(first) = self.text.get(at..).and_then(|rest| rest.chars().next()) {
            self.read += first.len_utf8();
            let end = match first {
                '"' => self.double_quoted(at + 1),
                '\'' => self.single_quoted(at + 1),
                other if ends_value(other) => None,
                other => Some(at + other.len_utf8()),
            };
            match end {
                Some(end) => at = end,
                None => break,
            }
        }
        at
    }

    /// The end of a string in single quotes. At most one string of a text has no end: the next quote
    /// would end it.
    fn single_quoted(&mut self, from: usize) -> Option<usize> {
        let length = self.text.get(from..)?.find('\'');
        self.read += length.unwrap_or(self.text.len() - from);
        Some(from + length? + 1)
    }

    /// The end of a string in double quotes, in which a line's end cannot be escaped. Text that a failed
    /// search has read is not read again.
    fn double_quoted(&mut self, from: usize) -> Option<usize> {
        let mut escaped = false;
        let is_endless = |endless: &[bool], at: usize| endless.get(at).copied().unwrap_or(false);
        let mut stopped = self.text.len();
        for (length, character) in self.text.get(from..)?.char_indices() {
            let at = from + length;
            self.read += character.len_utf8();
            match character {
                '\n' if escaped => {
                    stopped = at;
                    break;
                }
                _ if escaped => escaped = false,
                _ if is_endless(&self.endless, at) => {
                    stopped = at;
                    break;
                }
                '"' => return Some(at + 1),
                '\\' => escaped = true,
                _ => {}
            }
        }
        self.remember_endless(from, stopped);
        None
    }

    fn remember_endless(&mut self, from: usize, to: usize) {
        self.endless.resize(self.text.len(), false);
        let mut escaped = false;
        let searched = self.text.get(from..to).unwrap_or_default();
        for (length, character) in searched.char_indices() {
            self.read += character.len_utf8();
            if escaped {
                escaped = false;
                continue;
            }
            if let Some(endless) = self.endless.get_mut(from + length) {
                *endless = true;
            }
            escaped = character == '\\';
        }
    }
}

fn in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-')
}

fn ends_value(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '&' | ';' | ',' | '|' | '<' | '>' | '(' | ')' | '`'
        )
}

#[cfg(test)]
mod tests;
