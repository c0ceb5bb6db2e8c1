//! Regular expressions of a configuration or a client, compiled within a bound.

use regex::{Regex, RegexBuilder};
use thiserror::Error;

use crate::glob::Case;

/// The size of a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// What is wrong with a pattern: the last line of what `regex` says.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct Malformed(pub(crate) String);

/// Compiles a pattern in the syntax of the `regex` crate.
pub(crate) fn compile(pattern: &str, case: Case) -> Result<Regex, Malformed> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(case == Case::Ignored)
        .size_limit(MAX_COMPILED_BYTES)
        .build();
    built.map_err(|error| {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default().trim();
        Malformed(last.trim_start_matches("error: ").to_owned())
    })
}
