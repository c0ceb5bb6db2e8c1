//! The gate as one client wants it: whether it asks, and patterns of the client's own.

use regex::Regex;
use termd_proto::policy::{GateSettings, MAX_GATE_PATTERN_BYTES, MAX_GATE_PATTERNS, Span};
use thiserror::Error;

use crate::glob::Case;
use crate::pattern;

/// Why a client's pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// There are more than [`MAX_GATE_PATTERNS`].
    #[error("may hold {MAX_GATE_PATTERNS} patterns at the most")]
    TooMany,
    /// One is longer than [`MAX_GATE_PATTERN_BYTES`].
    #[error("pattern {number} is longer than {MAX_GATE_PATTERN_BYTES} bytes")]
    TooLong {
        /// The number of the pattern, from 1.
        number: usize,
    },
    /// One is no regular expression.
    #[error("pattern {number} ({pattern}) is no regular expression: {problem}")]
    Bad {
        /// The number of the pattern, from 1.
        number: usize,
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// [`GateSettings`], compiled. The default asks about all that is not safe, and has no patterns.
#[derive(Debug, Clone)]
pub struct CompiledGate {
    asks: bool,
    patterns: Vec<Regex>,
}

impl Default for CompiledGate {
    fn default() -> Self {
        Self {
            asks: GateSettings::default().enabled,
            patterns: Vec::new(),
        }
    }
}

/// A pattern found in a text.
pub(crate) struct Found<'a> {
    pub(crate) pattern: &'a str,
    pub(crate) span: Span,
}

impl CompiledGate {
    /// Checks and compiles the patterns of a client. They fit letters of either case, as those of
    /// terminal-mcp do.
    pub fn compile(settings: &GateSettings) -> Result<Self, PatternError> {
        if settings.patterns.len() > MAX_GATE_PATTERNS {
            return Err(PatternError::TooMany);
        }
        let compile = |(at, pattern): (usize, &String)| {
            let number = at + 1;
            if pattern.len() > MAX_GATE_PATTERN_BYTES {
                return Err(PatternError::TooLong { number });
            }
            pattern::compile(pattern, Case::Ignored).map_err(|error| PatternError::Bad {
                number,
                pattern: pattern.clone(),
                problem: error.0,
            })
        };
        let patterns = settings.patterns.iter().enumerate();
        Ok(Self {
            asks: settings.enabled,
            patterns: patterns.map(compile).collect::<Result<_, _>>()?,
        })
    }

    /// Whether a verdict other than safe asks for a confirmation.
    pub fn is_enabled(&self) -> bool {
        self.asks
    }

    /// The first of the client's patterns that a text holds.
    pub(crate) fn pattern_in(&self, text: &str) -> Option<Found<'_>> {
        self.patterns.iter().find_map(|regex| {
            let found = regex.find(text)?;
            Some(Found {
                pattern: regex.as_str(),
                span: Span {
                    start: found.start(),
                    end: found.end(),
                },
            })
        })
    }
}
