//! Names with wildcards: `*` is any text, `?` one character, and nothing else is special.
//!
//! Matching takes time within the product of the two lengths.

use serde::{Deserialize, Deserializer, de};

/// The longest pattern, in bytes. No name is longer.
const MAX_GLOB_BYTES: usize = 1_024;

/// A pattern of a whole name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glob(String);

/// Whether the case of ASCII letters counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Counts,
    Ignored,
}

impl Glob {
    /// Whether the pattern fits the whole of a name.
    pub fn fits(&self, name: &str, case: Case) -> bool {
        fits(&self.0, name, case)
    }

    /// Whether the pattern fits every name.
    pub fn is_any(&self) -> bool {
        !self.0.is_empty() && self.0.chars().all(|c| c == '*')
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || text.len() > MAX_GLOB_BYTES || text.contains('\0') {
            return Err(de::Error::custom(
                "a name, in which * is any text and ? a character, of 1 to 1,024 bytes, is expected",
            ));
        }
        Ok(Self(text))
    }
}

/// Whether a pattern fits the whole of a text.
pub(crate) fn fits(pattern: &str, text: &str, case: Case) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let equal = |a: char, b: char| match case {
        Case::Counts => a == b,
        Case::Ignored => a.eq_ignore_ascii_case(&b),
    };
    let (mut at, mut in_text) = (0, 0);
    // The place of the last `*`, and how far in the text it reaches so far.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&c) = text.get(in_text) {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some('?') => (at, in_text) = (at + 1, in_text + 1),
            Some(&p) if equal(p, c) => (at, in_text) = (at + 1, in_text + 1),
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    (at, in_text) = (star_at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_a_whole_name() {
        let table = [
            ("*_TOKEN", "GH_TOKEN", true),
            ("*_TOKEN", "GH_TOKENS", false),
            ("*PASS*WORD*", "MYPASSxWORDS", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("**x", "yyx", true),
            ("", "", true),
            ("", "x", false),
            ("é*", "éa", true),
            ("[a]", "a", false),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(
                fits(pattern, name, Case::Counts),
                expected,
                "{pattern} {name}"
            );
        }
        assert!(fits("aws_*", "AWS_X", Case::Ignored));
        assert!(!fits("aws_*", "AWS_X", Case::Counts));
    }

    #[test]
    fn many_wildcards_take_no_longer_than_the_product() {
        let pattern = "*a".repeat(500);
        let text = format!("{}b", "a".repeat(5_000));
        assert!(!fits(&pattern, &text, Case::Counts));
    }
}
