//! A regular expression, bounded in what it may cost. Pure.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use termd_proto::interact::MAX_PATTERN_BYTES;

use crate::terminal::error::TerminalError;

/// Most bytes of the compiled program: repeats of repeats grow without bound. A person's pattern takes
/// some tens of KiB, one with Unicode classes a few hundred.
const SIZE_LIMIT: usize = 1 << 20;
/// Most bytes of the lazy automaton's cache in each thread that searches. Beyond that the search gets
/// slower, not larger.
const DFA_SIZE_LIMIT: usize = 1 << 20;

/// A regular expression in multi-line mode.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

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
        Ok(Self(built))
    }

    /// The first match.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.0.find(text).map(|found| found.range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
