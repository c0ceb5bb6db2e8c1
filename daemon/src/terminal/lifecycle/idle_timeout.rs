//! After how long without activity a terminal is closed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use termd_proto::terminal::MAX_IDLE_TIMEOUT_MS;

use crate::terminal::invalid_param::InvalidParam;

/// Shortest idle timeout, in milliseconds. A shorter one would close a terminal that is about to be
/// used.
const MIN_IDLE_TIMEOUT_MS: u64 = 1_000;

/// An idle timeout in milliseconds: `MIN_IDLE_TIMEOUT_MS` to [`MAX_IDLE_TIMEOUT_MS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdleTimeout(u64);

impl IdleTimeout {
    /// Checks a requested timeout.
    pub fn checked(ms: u64) -> Result<Self, InvalidParam> {
        if (MIN_IDLE_TIMEOUT_MS..=MAX_IDLE_TIMEOUT_MS).contains(&ms) {
            return Ok(Self(ms));
        }
        Err(InvalidParam {
            field: "idle_timeout_ms",
            problem: format!("must be {MIN_IDLE_TIMEOUT_MS} to {MAX_IDLE_TIMEOUT_MS} (a year)"),
        })
    }

    /// Takes a timeout from the database or the configuration, where it was checked before.
    pub const fn stored(ms: u64) -> Self {
        Self(ms)
    }

    pub fn ms(self) -> u64 {
        self.0
    }

    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_bounds() {
        for (ms, fits) in [
            (0, false),
            (999, false),
            (1_000, true),
            (1_800_000, true),
            (31_536_000_000, true),
            (31_536_000_001, false),
            (u64::MAX, false),
        ] {
            assert_eq!(IdleTimeout::checked(ms).is_ok(), fits, "{ms}");
        }
    }
}
