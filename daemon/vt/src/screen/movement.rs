//! Moving the cursor: CUU to CUP, HPA, VPA, CNL, CPL, CR, LF, IND, NEL, RI, BS with reverse wrap,
//! DECSC and DECRC.
//!
//! Margins stop a cursor that is inside them, and no other. All functions but DECSC end a pending
//! wrap.

use crate::modes::Modes;
use crate::screen::ActiveScreen;
use crate::screen::Screen;
use crate::screen::cursor::Cursor;

impl Screen {
    /// CUU.
    pub(crate) fn cursor_up(&mut self, count: usize) {
        let top = if self.cursor.row < self.margins.top {
            0
        } else {
            self.margins.top
        };
        self.cursor.row = self.cursor.row.saturating_sub(count).max(top);
        self.cursor.wrap_pending = false;
    }

    /// CUD.
    pub(crate) fn cursor_down(&mut self, count: usize) {
        let bottom = if self.cursor.row > self.margins.bottom {
            self.size.rows - 1
        } else {
            self.margins.bottom
        };
        self.cursor.row = (self.cursor.row + count).min(bottom);
        self.cursor.wrap_pending = false;
    }

    /// CUF.
    pub(crate) fn cursor_forward(&mut self, count: usize, modes: &Modes) {
        let edge = self.grid.row_cols(self.cursor.row) - 1;
        let last = if modes.left_right_margins && self.cursor.col <= self.margins.right {
            self.margins.right
        } else {
            edge
        };
        self.cursor.col = (self.cursor.col + count).min(last);
        self.cursor.wrap_pending = false;
    }

    /// CUB, BS. With reverse wrap (45) the cursor goes on in the row before, if that is of the same
    /// line. With extended reverse wrap (1045) it goes on in any row, and from the top margin to
    /// the bottom one.
    pub(crate) fn cursor_back(&mut self, count: usize, modes: &Modes) {
        let inside = self.cursor.col >= self.margins.left;
        let left = if inside { self.margins.left } else { 0 };
        let wraps = modes.autowrap && (modes.reverse_wrap || modes.extended_reverse_wrap);
        if wraps {
            self.cursor_back_wrapping(count, left, modes);
        } else {
            self.cursor.col = self.cursor.col.saturating_sub(count).max(left);
        }
        self.cursor.wrap_pending = false;
    }

    fn cursor_back_wrapping(&mut self, count: usize, left: usize, modes: &Modes) {
        let (top, bottom, right) = (self.margins.top, self.margins.bottom, self.margins.right);
        // Going round the screen more than once changes nothing.
        let mut count = count.min(self.size.rows * self.size.cols);
        if self.cursor.wrap_pending {
            // The cursor is one column further than it shows.
            count -= 1;
        }
        let (mut row, mut col) = (self.cursor.row, self.cursor.col);
        while count > 0 {
            count -= 1;
            if col > left {
                col -= 1;
                continue;
            }
            let before = if modes.extended_reverse_wrap && row == top {
                Some(bottom)
            } else {
                row.checked_sub(1)
            };
            match before {
                Some(before) if modes.extended_reverse_wrap || self.grid.row(before).wrapped => {
                    row = before;
                    col = right;
                }
                _ => break,
            }
        }
        self.cursor.row = row;
        self.cursor.col = col;
    }

    /// Moves the cursor to a row and column that count from the origin (DECOM), and from 0.
    pub(crate) fn set_cursor(&mut self, row: usize, col: usize) {
        let (top, left, bottom, right) = if self.cursor.origin {
            let margins = self.margins;
            (margins.top, margins.left, margins.bottom, margins.right)
        } else {
            (0, 0, self.size.rows - 1, self.size.cols - 1)
        };
        self.cursor.row = (top + row).min(bottom);
        self.cursor.col = (left + col).min(right);
        self.cursor.wrap_pending = false;
    }

    /// The cursor's row and column, counted as [`set_cursor`](Self::set_cursor) does.
    fn place(&self) -> (usize, usize) {
        if self.cursor.origin {
            (
                self.cursor.row.saturating_sub(self.margins.top),
                self.cursor.col.saturating_sub(self.margins.left),
            )
        } else {
            (self.cursor.row, self.cursor.col)
        }
    }

    /// CUP, HVP, from 1.
    pub(crate) fn cursor_position(&mut self, row: usize, col: usize) {
        self.set_cursor(row - 1, col - 1);
    }

    /// CHA, HPA, from 1.
    pub(crate) fn cursor_column(&mut self, col: usize) {
        let (row, _) = self.place();
        self.set_cursor(row, col - 1);
    }

    /// VPA, from 1.
    pub(crate) fn cursor_row_position(&mut self, row: usize) {
        let (_, col) = self.place();
        self.set_cursor(row - 1, col);
    }

    /// HPR. Unlike CUF it does not stop at the right margin.
    pub(crate) fn cursor_right(&mut self, count: usize) {
        let (row, col) = self.place();
        self.set_cursor(row, col + count);
    }

    /// VPR. Unlike CUD it does not stop at the bottom margin.
    pub(crate) fn cursor_down_position(&mut self, count: usize) {
        let (row, col) = self.place();
        self.set_cursor(row + count, col);
    }

    /// HPB of ECMA-48. Unlike CUB it ignores margins and reverse wrap. xterm does not have it, and
    /// has no other meaning for it.
    pub(crate) fn cursor_left(&mut self, count: usize) {
        let (row, col) = self.place();
        self.set_cursor(row, col.saturating_sub(count));
    }

    /// VPB of ECMA-48. Unlike CUU it ignores margins.
    pub(crate) fn cursor_up_position(&mut self, count: usize) {
        let (row, col) = self.place();
        self.set_cursor(row.saturating_sub(count), col);
    }

    /// CNL.
    pub(crate) fn cursor_next_line(&mut self, count: usize) {
        self.cursor_down(count);
        self.carriage_return();
    }

    /// CPL.
    pub(crate) fn cursor_preceding_line(&mut self, count: usize) {
        self.cursor_up(count);
        self.carriage_return();
    }

    /// LF, VT, FF: IND, and CR as well where LNM is set.
    #[inline]
    pub(crate) fn line_feed(&mut self, modes: &Modes) {
        self.line_down();
        if modes.line_feed_new_line {
            self.carriage_return();
        }
    }

    /// IND.
    #[inline]
    pub(crate) fn line_down(&mut self) {
        self.cursor.wrap_pending = false;
        self.index();
    }

    /// NEL.
    pub(crate) fn next_line(&mut self) {
        self.line_down();
        self.carriage_return();
    }

    /// RI: up one row. At the top margin the region scrolls down.
    pub(crate) fn reverse_index(&mut self) {
        self.cursor.wrap_pending = false;
        if self.cursor.row != self.margins.top {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        } else if self.is_col_inside() {
            self.scroll_down(1);
        }
    }

    /// CR: to the left margin; from left of the margin, to the first column.
    #[inline]
    pub(crate) fn carriage_return(&mut self) {
        self.cursor.wrap_pending = false;
        let left = self.margins.left;
        self.cursor.col = if self.cursor.col < left && !self.cursor.origin {
            0
        } else {
            left
        };
    }

    #[inline]
    pub(crate) fn is_col_inside(&self) -> bool {
        self.margins.contains_col(self.cursor.col)
    }

    pub(crate) fn is_inside(&self) -> bool {
        self.is_col_inside() && self.margins.contains_row(self.cursor.row)
    }

    /// DECSC, SCOSC. Each screen has its own saved cursor.
    pub(crate) fn save_cursor(&mut self) {
        *self.saved_cursor() = Some(self.cursor.clone());
    }

    /// DECRC, SCORC. Without a saved cursor it restores the home position and the defaults.
    pub(crate) fn restore_cursor(&mut self, modes: &Modes) {
        let saved = self.saved_cursor().clone().unwrap_or_default();
        // Only OSC 8 opens and closes a link.
        let link = self.cursor.style.link;
        let (row, col) = (saved.row, saved.col);
        let wrap_pending = saved.wrap_pending;
        self.cursor = saved;
        self.cursor.style.link = link;
        self.style_changed();
        if self.cursor.origin {
            let (top, left) = (self.margins.top, self.margins.left);
            self.set_cursor(row.saturating_sub(top), col.saturating_sub(left));
        } else {
            self.set_cursor(row, col);
        }
        self.cursor.wrap_pending = wrap_pending;
        self.update_fast_text(modes);
    }

    pub(crate) fn saved_cursor(&mut self) -> &mut Option<Cursor> {
        let [primary, alternate] = &mut self.saved;
        match self.active {
            ActiveScreen::Primary => primary,
            ActiveScreen::Alternate => alternate,
        }
    }
}
