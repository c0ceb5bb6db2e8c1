//! A terminal's size.

use termd_vt::Model;
use termd_vt::plain::PlainSize;

/// A size in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

impl Size {
    pub fn of(model: &Model) -> Self {
        let size = model.size();
        let cells = |count| u16::try_from(count).unwrap_or(u16::MAX);
        Self {
            cols: cells(size.cols),
            rows: cells(size.rows),
        }
    }
}

impl From<Size> for termd_vt::Size {
    fn from(size: Size) -> Self {
        Self {
            cols: usize::from(size.cols),
            rows: usize::from(size.rows),
        }
    }
}

impl From<Size> for PlainSize {
    fn from(size: Size) -> Self {
        Self {
            cols: size.cols,
            rows: size.rows,
        }
    }
}
