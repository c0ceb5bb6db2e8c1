//! Inserting, deleting and repeating: ICH, DCH, IL, DL, REP.

use crate::modes::Modes;
use crate::screen::Screen;

impl Screen {
    /// ICH.
    pub(crate) fn insert_characters(&mut self, count: usize) {
        self.cursor.wrap_pending = false;
        self.insert_blanks(count);
    }

    /// DCH.
    pub(crate) fn delete_characters(&mut self, count: usize) {
        if !self.is_col_inside() {
            return;
        }
        self.cursor.wrap_pending = false;
        let (row, col, end) = (self.cursor.row, self.cursor.col, self.margins.right + 1);
        let blank = self.blank();
        self.grid.delete_cells(row, col, end, count, blank);
    }

    /// IL: the rows from the cursor's to the bottom margin move down, and the cursor moves to the
    /// left margin.
    pub(crate) fn insert_lines(&mut self, count: usize) {
        if self.is_inside() {
            let top = self.margins.top;
            self.margins.top = self.cursor.row;
            self.scroll_down(count);
            self.margins.top = top;
            self.go_to_left_margin();
        }
    }

    /// DL: the rows below move up. As in xterm, a row that leaves the first row of the primary
    /// screen goes to the scrollback.
    pub(crate) fn delete_lines(&mut self, count: usize) {
        if self.is_inside() {
            let top = self.margins.top;
            self.margins.top = self.cursor.row;
            self.scroll_up(count);
            self.margins.top = top;
            self.go_to_left_margin();
        }
    }

    fn go_to_left_margin(&mut self) {
        self.cursor.col = self.margins.left;
        self.cursor.wrap_pending = false;
    }

    /// REP: prints the last character again, if no control came after it.
    pub(crate) fn repeat(&mut self, count: usize, modes: &Modes) {
        let Some(c) = self.last_printed else { return };
        // More than a screenful would only scroll what is there already.
        let most = (self.size.rows + 1) * self.size.cols;
        for _ in 0..count.min(most) {
            self.print_char(c, modes);
        }
        self.update_fast_text(modes);
    }
}
