//! Scrolling and its margins: DECSTBM, DECSLRM, SL, SR, DECIC, DECDC, DECBI, DECFI, memory lock.
//! SU and SD are `Terminal`'s.

use crate::parser::Params;
use crate::terminal::Terminal;

/// A direction along a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Towards the first column.
    Left,
    /// Towards the last one.
    Right,
}

impl Terminal {
    /// DECSTBM: a region has two rows at the least; the cursor goes home.
    pub(crate) fn set_top_and_bottom_margins(&mut self, params: &Params) {
        let top = params.count(0);
        let bottom = match usize::from(params.get(1)) {
            0 => self.size.rows,
            bottom => bottom.min(self.size.rows),
        };
        if top < bottom {
            self.margins.top = top - 1;
            self.margins.bottom = bottom - 1;
            self.set_cursor(0, 0);
        }
    }

    /// DECSLRM where DECLRMM is set, else SCOSC, which takes no parameters.
    pub(crate) fn set_left_and_right_margins(&mut self, params: &Params) {
        if !self.modes.left_right_margins {
            if params.is_empty() {
                self.save_cursor();
            }
            return;
        }
        let left = params.count(0);
        let right = match usize::from(params.get(1)) {
            0 => self.size.cols,
            right => right.min(self.size.cols),
        };
        if left < right {
            self.margins.left = left - 1;
            self.margins.right = right - 1;
            self.set_cursor(0, 0);
            self.choose_way_of_text();
        }
    }

    /// HP's memory lock (ESC l): rows above the cursor do not scroll.
    pub(crate) fn lock_memory(&mut self) {
        if self.cursor.row < self.margins.bottom {
            self.margins.top = self.cursor.row;
        }
    }

    /// HP's memory unlock (ESC m).
    pub(crate) fn unlock_memory(&mut self) {
        self.margins.top = 0;
    }

    /// SL, SR: the columns inside the margins.
    pub(crate) fn scroll_sideways(&mut self, side: Side, count: usize) {
        let left = self.margins.left;
        self.move_columns(side, left, count);
    }

    /// DECIC.
    pub(crate) fn insert_columns(&mut self, count: usize) {
        if self.modes.level >= 4 {
            let col = self.cursor.col;
            self.move_columns(Side::Right, col, count);
        }
    }

    /// DECDC.
    pub(crate) fn delete_columns(&mut self, count: usize) {
        if self.modes.level >= 4 {
            let col = self.cursor.col;
            self.move_columns(Side::Left, col, count);
        }
    }

    /// DECBI: back one column; at the left margin the columns move right.
    pub(crate) fn back_index(&mut self) {
        if self.modes.level < 4 {
            return;
        }
        if self.cursor.col == self.margins.left {
            let col = self.cursor.col;
            self.move_columns(Side::Right, col, 1);
        } else {
            self.cursor_back(1);
        }
    }

    /// DECFI: forward one column; at the right margin the columns move left.
    pub(crate) fn forward_index(&mut self) {
        if self.modes.level < 4 {
            return;
        }
        if self.cursor.col == self.margins.right {
            let left = self.margins.left;
            self.move_columns(Side::Left, left, 1);
        } else {
            self.cursor_forward(1);
        }
    }

    /// Moves the columns from `from` to the right margin in all rows of the region, if the cursor
    /// is inside the margins.
    fn move_columns(&mut self, side: Side, from: usize, count: usize) {
        if !self.is_inside() {
            return;
        }
        let margins = self.margins;
        for row in margins.top..=margins.bottom {
            match side {
                Side::Left => self.delete_cells(row, from, margins.right + 1, count),
                Side::Right => self.insert_cells(row, from, margins.right + 1, count),
            }
        }
    }
}
