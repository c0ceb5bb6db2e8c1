//! `name=value` in a text: a variable's, a connection string's, an address's. Pure.
//!
//! By hand and not by a regular expression: of a quote that nothing closes it must be known that it
//! is looked for once, or each assignment before it would look through all that follows it. Promises
//! time linear in the text. It must not know which names name a secret.

use std::ops::Range;

/// One assignment, by where its parts stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Letters, digits and `_.-`.
    pub(super) name: Range<usize>,
    /// At least one byte: words and strings in quotes, with nothing between them.
    pub(super) value: Range<usize>,
}

/// Goes from one assignment to the next, none of which overlap.
#[derive(Debug)]
pub(super) struct Assignments<'a> {
    text: &'a str,
    at: usize,
    /// Where a string in double quotes would never end, by byte; empty until there is one.
    endless: Vec<bool>,
    /// Bytes looked at so far, some of them more than once.
    looked_at: usize,
}

/// The assignments of a text.
pub(super) fn assignments(text: &str) -> Assignments<'_> {
    Assignments {
        text,
        at: 0,
        endless: Vec::new(),
        looked_at: 0,
    }
}

impl Iterator for Assignments<'_> {
    type Item = Assignment;

    fn next(&mut self) -> Option<Assignment> {
        loop {
            let before = self.text.get(self.at..)?;
            let equals = self.at + before.find('=')?;
            self.looked_at += equals + 1 - self.at;
            let name = self.name_before(equals);
            let end = if name.is_empty() {
                equals + 1
            } else {
                self.value_end(equals + 1)
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
    /// The name that ends here, and begins behind what was looked at before.
    fn name_before(&mut self, end: usize) -> Range<usize> {
        let before = self.text.get(self.at..end).unwrap_or_default();
        let name = before.trim_end_matches(in_name);
        end - (before.len() - name.len())..end
    }

    fn value_end(&mut self, from: usize) -> usize {
        let mut at = from;
        while let Some(first) = self.text.get(at..).and_then(|rest| rest.chars().next()) {
            self.looked_at += first.len_utf8();
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

    /// Behind the quote that ends a string. There is one that does not end at the most: the next
    /// quote of that kind would end it.
    fn single_quoted(&mut self, from: usize) -> Option<usize> {
        let length = self.text.get(from..)?.find('\'');
        self.looked_at += length.unwrap_or(self.text.len() - from);
        Some(from + length? + 1)
    }

    /// Behind the quote that ends a string with escapes, none of which is of a line's end. What one
    /// search that failed went through is not gone through again.
    fn double_quoted(&mut self, from: usize) -> Option<usize> {
        let mut escaped = false;
        let is_endless = |endless: &[bool], at: usize| endless.get(at).copied().unwrap_or(false);
        let mut stopped = self.text.len();
        for (length, character) in self.text.get(from..)?.char_indices() {
            let at = from + length;
            self.looked_at += character.len_utf8();
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
        let went_through = self.text.get(from..to).unwrap_or_default();
        for (length, character) in went_through.char_indices() {
            self.looked_at += character.len_utf8();
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
