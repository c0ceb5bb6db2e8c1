//! A regular expression, bounded in what it may cost. Pure.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use termd_proto::interact::MAX_PATTERN_BYTES;

use crate::terminal::error::TerminalError;

/// Most bytes of the compiled program: repeats of repeats grow without bound. A person's pattern takes
/// some tens of KiB, one with Unicode classes a few hundred.
const SIZE_LIMIT: usize = 1 << 20;
/// Most bytes of the lazy automaton's cache in each thread that searches. Beyond that the search gets
/// slower, not larger.
const DFA_SIZE_LIMIT: usize = 1 << 20;

/// Stands for each byte of a secret, so that places stay.
const MASK: char = '*';

/// What is hidden from who asks: the bytes of a text that are secret.
pub(crate) type Secrets = Arc<dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync>;

/// A regular expression in multi-line mode.
#[derive(Clone)]
pub struct Pattern {
    regex: Regex,
    secrets: Option<Secrets>,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.regex.fmt(f)
    }
}

impl Pattern {
    /// Compiles `until.pattern` of a call.
    pub fn new(pattern: &str) -> Result<Self, TerminalError> {
        Self::of_param("until.pattern", pattern)
    }

    /// Compiles the pattern of this param.
    pub fn of_param(field: &'static str, pattern: &str) -> Result<Self, TerminalError> {
        let invalid = |problem| TerminalError::Invalid { field, problem };
        if pattern.len() > MAX_PATTERN_BYTES {
            let problem = format!("may be {MAX_PATTERN_BYTES} bytes long at the most");
            return Err(invalid(problem));
        }
        let built = RegexBuilder::new(pattern)
            .multi_line(true)
            .size_limit(SIZE_LIMIT)
            .dfa_size_limit(DFA_SIZE_LIMIT)
            .build();
        let built = built.map_err(|error| invalid(format!("is no regular expression: {error}")))?;
        Ok(Self {
            regex: built,
            secrets: None,
        })
    }

    /// The same for somebody from whom secrets are hidden: whether a guess of one matches tells it.
    pub(crate) fn hiding(mut self, secrets: Option<Secrets>) -> Self {
        self.secrets = secrets;
        self
    }

    /// The first match. For each byte of a secret there is a `*`.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        let secrets = self.secrets.as_ref().map(|secrets| secrets(text));
        let secrets = secrets.filter(|secrets| !secrets.is_empty());
        let masked = secrets.map(|secrets| masked(text, secrets));
        let found = self.regex.find(masked.as_deref().unwrap_or(text));
        found.map(|found| found.range())
    }
}

fn masked(text: &str, secrets: Vec<Range<usize>>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets {
        masked.push_str(text.get(at..secret.start).unwrap_or_default());
        masked.extend(std::iter::repeat_n(MASK, secret.len()));
        at = secret.end;
    }
    masked.push_str(text.get(at..).unwrap_or_default());
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_of_a_secret_finds_nothing() {
        let secrets: Secrets = Arc::new(|text| {
            text.match_indices("hunter")
                .map(|(at, it)| at..at + it.len())
                .collect()
        });
        let pattern = |text| {
            Pattern::new(text)
                .unwrap()
                .hiding(Some(Arc::clone(&secrets)))
        };
        let text = "é hunter2 done";
        assert_eq!(pattern("hun").find(text), None);
        assert_eq!(pattern(r"\*+2").find(text), Some(3..10));
        assert_eq!(pattern("done").find(text), Some(11..15));
    }

    #[test]
    fn bad_and_costly_patterns_are_refused_by_name() {
        for bad in [
            "(",
            "[z-a]",
            r"(\w{1000}){1000}",
            &"a".repeat(MAX_PATTERN_BYTES + 1),
        ] {
            let error = Pattern::new(bad).unwrap_err();
            assert!(
                matches!(&error, TerminalError::Invalid { field: "until.pattern", problem } if !problem.is_empty()),
                "{error}"
            );
        }
    }

    #[test]
    fn line_ends_are_matched() {
        let pattern = Pattern::new(r"^b$").unwrap();
        assert_eq!(pattern.find("a\nb\nc"), Some(2..3));
        assert_eq!(Pattern::new(r"\$\s*$").unwrap().find("x\n$ "), Some(2..4));
    }
}
