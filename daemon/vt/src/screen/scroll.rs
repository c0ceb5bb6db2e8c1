//! Scrolling and its margins: IND, SU, SD, DECSTBM, DECSLRM, SL, SR, DECIC, DECDC, DECBI, DECFI,
//! memory lock.

use super::ActiveScreen;
use crate::grid::cell::Cell;
use crate::modes::Modes;
use crate::parser::Params;
use crate::screen::Screen;

/// A direction along a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Towards the first column.
    Left,
    /// Towards the last one.
    Right,
}

impl Screen {
    /// IND: down one row. At the bottom margin the region scrolls.
    #[inline]
    pub(crate) fn index(&mut self) {
        if self.cursor.row == self.margins.bottom {
            if self.is_col_inside() {
                self.scroll_up(1);
            }
        } else if self.cursor.row + 1 < self.size.rows {
            self.cursor.row += 1;
        }
    }

    /// SU inside the margins. A row that leaves the primary screen at its top goes to the
    /// scrollback.
    #[inline]
    pub(crate) fn scroll_up(&mut self, count: usize) {
        let blank = self.blank();
        let margins = self.margins;
        if margins.left > 0 || margins.right + 1 < self.size.cols {
            self.scroll_columns_up(count, blank);
            return;
        }
        let count = count.min(margins.bottom + 1 - margins.top);
        if margins.top == 0 && self.active == ActiveScreen::Primary {
            for _ in 0..count {
                self.scrollback
                    .push(self.grid.row(0), &self.styles, &self.graphemes);
                self.grid.scroll_up_one(0, margins.bottom, blank);
            }
        } else {
            self.grid
                .scroll_up(margins.top, margins.bottom, count, blank);
        }
    }

    /// SD inside the margins.
    pub(crate) fn scroll_down(&mut self, count: usize) {
        let blank = self.blank();
        let margins = self.margins;
        if margins.left > 0 || margins.right + 1 < self.size.cols {
            self.scroll_columns_down(count, blank);
            return;
        }
        self.grid
            .scroll_down(margins.top, margins.bottom, count, blank);
    }

    fn scroll_columns_up(&mut self, count: usize, blank: Cell) {
        let m = self.margins;
        for y in m.top..=m.bottom {
            self.copy_columns(y + count, y, blank);
        }
    }

    fn scroll_columns_down(&mut self, count: usize, blank: Cell) {
        let m = self.margins;
        for y in (m.top..=m.bottom).rev() {
            match y.checked_sub(count) {
                Some(from) if from >= m.top => self.copy_columns(from, y, blank),
                _ => self.copy_columns(usize::MAX, y, blank),
            }
        }
    }

    /// Copies the columns inside the margins from one row to another. A row outside the margins
    /// gives blanks.
    fn copy_columns(&mut self, from: usize, to: usize, blank: Cell) {
        let m = self.margins;
        let width = m.right + 1 - m.left;
        let cells: Vec<Cell> = if m.contains_row(from) {
            let row = self.grid.row(from);
            (m.left..=m.right).map(|x| row.cell(x)).collect()
        } else {
            vec![blank; width]
        };
        let complex = from < self.size.rows && self.grid.row(from).complex;
        self.grid.write_cells(to, m.left, &cells, complex);
    }

    /// DECSTBM. A region has at least two rows. The cursor moves home.
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

    /// DECSLRM. The cursor moves home.
    pub(crate) fn set_left_and_right_margins(&mut self, params: &Params, modes: &Modes) {
        let left = params.count(0);
        let right = match usize::from(params.get(1)) {
            0 => self.size.cols,
            right => right.min(self.size.cols),
        };
        if left < right {
            self.margins.left = left - 1;
            self.margins.right = right - 1;
            self.set_cursor(0, 0);
            self.update_fast_text(modes);
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

    /// SL, SR: scroll the columns inside the margins.
    pub(crate) fn scroll_sideways(&mut self, side: Side, count: usize) {
        let left = self.margins.left;
        self.move_columns(side, left, count);
    }

    /// DECIC.
    pub(crate) fn insert_columns(&mut self, count: usize) {
        let col = self.cursor.col;
        self.move_columns(Side::Right, col, count);
    }

    /// DECDC.
    pub(crate) fn delete_columns(&mut self, count: usize) {
        let col = self.cursor.col;
        self.move_columns(Side::Left, col, count);
    }

    /// DECBI: back one column. At the left margin the columns move right.
    pub(crate) fn back_index(&mut self, modes: &Modes) {
        if self.cursor.col == self.margins.left {
            let col = self.cursor.col;
            self.move_columns(Side::Right, col, 1);
        } else {
            self.cursor_back(1, modes);
        }
    }

    /// DECFI: forward one column. At the right margin the columns move left.
    pub(crate) fn forward_index(&mut self, modes: &Modes) {
        if self.cursor.col == self.margins.right {
            let left = self.margins.left;
            self.move_columns(Side::Left, left, 1);
        } else {
            self.cursor_forward(1, modes);
        }
    }

    /// Moves the columns from `from` to the right margin in all rows of the region, if the cursor
    /// is inside the margins.
    fn move_columns(&mut self, side: Side, from: usize, count: usize) {
        if !self.is_inside() {
            return;
        }
        let blank = self.blank();
        let (margins, end) = (self.margins, self.margins.right + 1);
        for row in margins.top..=margins.bottom {
            match side {
                Side::Left => self.grid.delete_cells(row, from, end, count, blank),
                Side::Right => self.grid.insert_cells(row, from, end, count, blank),
            }
        }
    }
}
