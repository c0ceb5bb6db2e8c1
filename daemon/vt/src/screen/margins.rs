//! The scroll margins: DECSTBM and DECSLRM.

use serde::{Deserialize, Serialize};

use crate::grid::Size;

/// The rows and columns that scroll, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Margins {
    pub(crate) top: usize,
    pub(crate) bottom: usize,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

impl Margins {
    /// Margins at the screen's edges.
    pub(crate) fn whole(size: Size) -> Self {
        Self {
            top: 0,
            bottom: size.rows - 1,
            left: 0,
            right: size.cols - 1,
        }
    }

    #[inline]
    pub(crate) fn contains_row(self, row: usize) -> bool {
        (self.top..=self.bottom).contains(&row)
    }

    #[inline]
    pub(crate) fn contains_col(self, col: usize) -> bool {
        (self.left..=self.right).contains(&col)
    }
}
