//! Parameters that several tools have. The docs are the text that models read.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::{MAX_OUTPUT_BYTES, MAX_TIMEOUT, MIN_OUTPUT_BYTES};

/// Longest id, label or name of a key, in characters.
pub(in crate::tools) const MAX_NAME_CHARS: usize = 64;
/// Longest pattern of a wait, in characters.
pub(in crate::tools) const MAX_PATTERN_CHARS: usize = 4_096;
/// Largest offset.
pub(in crate::tools) const MAX_OFFSET: u64 = u64::MAX >> 11;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::tools) struct SessionName(
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))] pub(in crate::tools) String,
);

/// false: raw
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("default" = true))]
pub(in crate::tools) struct StripAnsi(pub(in crate::tools) bool);

/// The user agreed
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("default" = false))]
pub(in crate::tools) struct Confirmed(pub(in crate::tools) bool);

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::tools) struct MaxOutputBytes(
    #[schemars(range(min = MIN_OUTPUT_BYTES, max = MAX_OUTPUT_BYTES))] pub(in crate::tools) u64,
);

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::tools) struct Seconds(#[schemars(range(min = 0, max = MAX_TIMEOUT.as_secs()))] f64);

impl Seconds {
    pub(in crate::tools) fn to_duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0).unwrap_or_default()
    }
}
