//! What is wrong with a configuration, with its place, in one line.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use termd_policy::secrets::redact::PatternError;

/// Why a configuration is refused.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file exists and cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// It is no file, or somebody else may change it.
    #[error("{} {problem}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: &'static str,
    },
    /// The text is wrong. The message has one line, as compilers write it: a log or `termctl` may
    /// show no more.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line of the fault, from 1.
        line: usize,
        /// Its column in characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A pattern of secrets is no pattern.
    #[error("{}: audit.redact, {source}", path.display())]
    Redact {
        /// The file.
        path: PathBuf,
        /// The pattern, and the error.
        source: PatternError,
    },
    /// A value is out of bounds.
    #[error("{}: {key} must be {bounds}", path.display())]
    OutOfBounds {
        /// The file.
        path: PathBuf,
        /// The key, dotted.
        key: &'static str,
        /// What it may be.
        bounds: &'static str,
    },
}

/// The parser's error, without its drawing of the place, which takes four lines.
pub(super) fn parse_error(text: &str, path: &Path, error: &toml::de::Error) -> ConfigError {
    let fault = error.span().map_or(0, |span| span.start);
    let (line, column) = place(text, fault);
    let lines: Vec<&str> = error.message().lines().map(str::trim).collect();
    ConfigError::Parse {
        path: path.to_owned(),
        line,
        column,
        message: shown(&lines.join(", ")),
    }
}

/// Escapes control characters: names in a problem come from the file and may hold anything.
pub(super) fn shown(problem: &str) -> String {
    let mut shown = String::with_capacity(problem.len());
    for c in problem.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The line and the column, in characters, of a byte of a text, both from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    (before.matches('\n').count() + 1, column + 1)
}
