//! How much scrollback a screen keeps.

use serde::{Deserialize, Serialize};
use termd_vt::Scrollback;

use crate::terminal::invalid_param::InvalidParam;

const DEFAULT_SCROLLBACK_LINES: u32 = 10_000;
/// Most lines of scrollback that can be requested.
pub const MAX_SCROLLBACK_LINES: u32 = 100_000;
/// Most bytes of the default scrollback: 10,000 long coloured lines.
const SCROLLBACK_BYTES: usize = 4 << 20;
/// Bytes for each line of a larger scrollback.
const SCROLLBACK_LINE_BYTES: usize = SCROLLBACK_BYTES / DEFAULT_SCROLLBACK_LINES as usize;

/// A scrollback length in lines: 0 to [`MAX_SCROLLBACK_LINES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScrollbackLines(u32);

impl Default for ScrollbackLines {
    fn default() -> Self {
        Self(DEFAULT_SCROLLBACK_LINES)
    }
}

impl ScrollbackLines {
    /// Checks a requested scrollback length. Defaults to 10,000 lines.
    pub fn checked(lines: Option<u32>) -> Result<Self, InvalidParam> {
        match lines {
            None => Ok(Self::default()),
            Some(lines @ ..=MAX_SCROLLBACK_LINES) => Ok(Self(lines)),
            Some(_) => Err(InvalidParam {
                field: "scrollback_lines",
                problem: format!("may be {MAX_SCROLLBACK_LINES} at the most"),
            }),
        }
    }

    /// Takes a length from the database.
    pub fn stored(lines: u32) -> Self {
        Self(lines.min(MAX_SCROLLBACK_LINES))
    }

    pub fn lines(self) -> u32 {
        self.0
    }

    /// An empty scrollback of this length, bounded in bytes too.
    pub fn scrollback(self) -> Scrollback {
        let rows = self.0 as usize;
        Scrollback::new(rows, SCROLLBACK_BYTES.max(rows * SCROLLBACK_LINE_BYTES))
    }
}
