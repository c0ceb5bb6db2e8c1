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

    /// Whether the pattern fits a name of which parts are not known. Each of these stands as `unknown`.
    pub fn may_fit(&self, name: &str, unknown: char) -> bool {
        may_fit(&self.0, name, unknown)
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
    let equal = |a: char, b: char| match case {
        Case::Counts => a == b,
        Case::Ignored => a.eq_ignore_ascii_case(&b),
    };
    // What is left of both. Nothing is allocated: an environment is compared with a hundred patterns.
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last `*`, and what of the text it does not reach so far.
    let mut star = None;
    while let Some(c) = text.clone().next() {
        let mut rest = pattern.clone();
        let fits = match rest.next() {
            Some('*') => {
                star = Some((rest.clone(), text.clone()));
                pattern = rest;
                continue;
            }
            Some('?') => true,
            Some(p) => equal(p, c),
            None => false,
        };
        if fits {
            pattern = rest;
            text.next();
        } else if let Some((after, beyond)) = &mut star {
            beyond.next();
            (pattern, text) = (after.clone(), beyond.clone());
        } else {
            return false;
        }
    }
    pattern.all(|c| c == '*')
}

/// The longest name of which parts are not known that is compared. A longer one may fit.
const MAX_COMPARED: usize = 4_096;

/// Whether a pattern may fit a text in which `unknown` stands for any text.
pub(crate) fn may_fit(pattern: &str, text: &str, unknown: char) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    if text.len() > MAX_COMPARED {
        return true;
    }
    // At index N: whether the first N characters of the pattern fit the text so far.
    let mut fits = vec![false; pattern.len() + 1];
    let reach = |fits: &mut Vec<bool>| {
        for (at, c) in pattern.iter().enumerate() {
            if *c == '*' && fits.get(at) == Some(&true) {
                fits[at + 1] = true;
            }
        }
    };
    fits[0] = true;
    reach(&mut fits);
    for c in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (at, p) in pattern.iter().enumerate() {
            let here = fits.get(at) == Some(&true);
            if here && *p == '*' {
                next[at] = true;
            } else if here && (*p == '?' || *p == c) {
                next[at + 1] = true;
            }
        }
        if fits.last() == Some(&true) && pattern.last() == Some(&'*') {
            next[pattern.len()] = true;
        }
        if c == unknown {
            // It may be empty, or as much of the pattern as there is.
            let first = fits.iter().position(|fits| *fits).unwrap_or(fits.len());
            for place in next.iter_mut().skip(first) {
                *place = true;
            }
        }
        reach(&mut next);
        fits = next;
    }
    fits.last() == Some(&true)
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
    fn a_pattern_may_fit_what_is_not_known() {
        let table = [
            ("push", "p?h", true),
            ("push", "?", true),
            ("push", "p?", true),
            ("push", "log?", false),
            ("push", "pu?xh", false),
            ("main*", "?", true),
            ("main*", "mai?", true),
            ("main*", "x?", false),
            ("*x*", "a?b", true),
            ("frob", "?rob", true),
            ("frob", "?bar", false),
            ("a", "", false),
            ("*", "", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(may_fit(pattern, text, '?'), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_wildcards_take_no_longer_than_the_product() {
        let pattern = "*a".repeat(500);
        let text = format!("{}b", "a".repeat(5_000));
        assert!(!fits(&pattern, &text, Case::Counts));
    }
}
