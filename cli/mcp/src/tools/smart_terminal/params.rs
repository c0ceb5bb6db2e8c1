//! Parameters that several tools have. The docs are the text that models read.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::{MAX_OUTPUT_BYTES, MIN_OUTPUT_BYTES};

/// Longest id, label or name of a key, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 64;
/// The largest whole number that every JSON reader takes exactly (2^53 - 1).
pub(crate) const MAX_INTEGER: u64 = (1 << 53) - 1;
/// Below the minute after which clients give a call up.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct SessionName(#[schemars(length(min = 1, max = MAX_NAME_CHARS))] pub(crate) String);

/// The longest that a call may take, in milliseconds, with smart-terminal-mcp's bounds.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("default" = DEFAULT_TIMEOUT_MS))]
pub(crate) struct Timeout(#[schemars(range(min = 1_000, max = 600_000))] pub(crate) u64);

impl Timeout {
    pub(crate) fn to_duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("default" = 200))]
pub(crate) struct MaxLines(#[schemars(range(min = 10, max = 10_000))] pub(crate) u64);

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct MaxOutputBytes(
    #[schemars(range(min = MIN_OUTPUT_BYTES, max = MAX_OUTPUT_BYTES))] pub(crate) u64,
);

/// The user agreed
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("default" = false))]
pub(crate) struct Confirmed(pub(crate) bool);
