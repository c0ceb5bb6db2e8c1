//! Regular expressions of waits and checks.

use regex::{Regex, RegexBuilder};

use crate::tool::ToolError;
use crate::tools::smart_terminal::results::bad;

/// Compiles a pattern. `name` is its parameter.
pub(crate) fn check_pattern(pattern: &str, name: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .build()
        .map_err(|error| bad(format!("Invalid regex pattern in {name}: {error}")))
}
