//! A client's own wishes for the gate, its patterns compiled.
//!
//! It must not know which client.

use regex::{Regex, RegexBuilder};
use termd_proto::policy::{GateSettings, MAX_GATE_PATTERN_BYTES, MAX_GATE_PATTERNS, Span};
use thiserror::Error;

/// What all patterns of one client may take when compiled, each, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Why a client's pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// There are too many.
    #[error("may hold {MAX_GATE_PATTERNS} patterns at the most")]
    TooMany,
    /// One is too long.
    #[error("pattern {number} is longer than {MAX_GATE_PATTERN_BYTES} bytes")]
    TooLong {
        /// Which, from 1.
        number: usize,
    },
    /// One is none.
    #[error("pattern {number} ({pattern}) is no regular expression: {problem}")]
    Bad {
        /// Which, from 1.
        number: usize,
        /// As it was given.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// [`GateSettings`], ready to judge by.
#[derive(Debug, Clone)]
pub struct CompiledGate {
    enabled: bool,
    patterns: Vec<Regex>,
}

impl Default for CompiledGate {
    fn default() -> Self {
        Self {
            enabled: GateSettings::default().enabled,
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
    /// Checks and compiles a client's patterns. They are found in any case, as terminal-mcp has it.
    pub fn compile(settings: &GateSettings) -> Result<Self, PatternError> {
        if settings.patterns.len() > MAX_GATE_PATTERNS {
            return Err(PatternError::TooMany);
        }
        let compile = |(at, pattern): (usize, &String)| {
            let number = at + 1;
            if pattern.len() > MAX_GATE_PATTERN_BYTES {
                return Err(PatternError::TooLong { number });
            }
            RegexBuilder::new(pattern)
                .case_insensitive(true)
                .size_limit(MAX_COMPILED_BYTES)
                .build()
                .map_err(|error| {
                    let said = error.to_string();
                    let last = said.lines().last().unwrap_or_default().trim();
                    PatternError::Bad {
                        number,
                        pattern: pattern.clone(),
                        problem: last.trim_start_matches("error: ").to_owned(),
                    }
                })
        };
        let patterns = settings.patterns.iter().enumerate();
        Ok(Self {
            enabled: settings.enabled,
            patterns: patterns.map(compile).collect::<Result<_, _>>()?,
        })
    }

    /// Whether verdicts ask for a confirmation.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The first of the client's patterns that is in a text.
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
