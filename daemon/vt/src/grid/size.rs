//! A terminal's size.

use serde::{Deserialize, Serialize};

/// A terminal's size in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Columns, at least 2, so that a wide character fits.
    pub cols: usize,
    /// Rows, at least 1.
    pub rows: usize,
}

impl Size {
    /// The most columns a terminal may have.
    pub const MAX_COLS: usize = 4_096;
    /// The most rows a terminal may have.
    pub const MAX_ROWS: usize = 4_096;

    /// The nearest size within the bounds.
    #[must_use]
    pub fn clamped(self) -> Self {
        Self {
            cols: self.cols.clamp(2, Self::MAX_COLS),
            rows: self.rows.clamp(1, Self::MAX_ROWS),
        }
    }
}
