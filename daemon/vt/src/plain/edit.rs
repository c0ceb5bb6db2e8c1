//! Erasing, inserting and scrolling in the live region.

use super::region::Region;
use super::row::RowEnd;

impl Region {
    /// EL 0. A full row has nothing right of the cursor; a terminal would erase its last column.
    pub(super) fn erase_right(&mut self) {
        let column = self.cursor.column;
        if let Some(row) = self.current()
            && row.end != RowEnd::Line
        {
            row.end = RowEnd::Open;
        }
        self.erase(column, usize::MAX);
    }

    /// EL 1.
    pub(super) fn erase_left(&mut self) {
        self.erase(0, self.cursor.column.saturating_add(1));
    }

    /// EL 2.
    pub(super) fn erase_line(&mut self) {
        self.erase(0, usize::MAX);
    }

    /// ECH.
    pub(super) fn erase_characters(&mut self, count: usize) {
        let column = self.cursor.column;
        self.erase(column, column.saturating_add(count));
    }

    fn erase(&mut self, from: usize, to: usize) {
        if let Some(row) = self.current() {
            row.erase(from, to);
        }
    }

    /// ED 0.
    pub(super) fn erase_below(&mut self) {
        self.erase_right();
        let row = self.cursor.row;
        if let Some(row) = self.current() {
            row.end = RowEnd::Open;
        }
        self.rows.truncate(row + 1);
    }

    /// ED 1.
    pub(super) fn erase_above(&mut self) {
        let row = self.cursor.row;
        for row in self.rows.iter_mut().take(row) {
            row.erase(0, usize::MAX);
        }
        self.erase_left();
    }

    /// ED 2: what was on the screen stays in the text, and new text begins on a new line.
    pub(super) fn clear(&mut self) {
        let blank = self.rows.iter().rev().take_while(|row| row.is_blank());
        let used = self.rows.len() - blank.count();
        for row in self.rows.drain(..used) {
            self.emitter.emit_leaving(&row);
        }
        self.emitter.end_line();
        self.rows.clear();
        self.cursor.row = 0;
        self.push_row();
    }

    /// ICH.
    pub(super) fn insert_characters(&mut self, count: usize) {
        let (column, columns) = (self.cursor.column, self.columns);
        if let Some(row) = self.current() {
            row.insert(column, count, columns);
        }
    }

    /// DCH.
    pub(super) fn delete_characters(&mut self, count: usize) {
        let column = self.cursor.column;
        if let Some(row) = self.current() {
            row.delete(column, count);
        }
    }

    /// IL, which works inside the margins only.
    pub(super) fn insert_lines(&mut self, count: usize) {
        self.hold();
        self.scroll_down(self.cursor.row, count);
        self.carriage_return();
    }

    /// DL, which works inside the margins only.
    pub(super) fn delete_lines(&mut self, count: usize) {
        self.hold();
        let margins = self.margins();
        if (margins.top..=margins.bottom).contains(&self.cursor.row) {
            self.delete_rows(self.cursor.row, margins.bottom, count);
        }
        self.carriage_return();
    }

    /// SU: what leaves at the top of the screen is final text.
    pub(super) fn scroll_up_by(&mut self, count: usize) {
        let top = self.margins().top;
        self.scroll_up(top, count);
    }

    /// SD.
    pub(super) fn scroll_down_by(&mut self, count: usize) {
        let top = self.margins().top;
        self.hold();
        self.scroll_down(top, count);
    }

    pub(super) fn scroll_up(&mut self, top: usize, count: usize) {
        let bottom = self.margins().bottom;
        if top > 0 {
            self.delete_rows(top, bottom, count);
            return;
        }
        if count == 1 && self.margins.is_none() && self.rows.len() == self.height {
            self.turn_over();
            return;
        }
        let row = self.cursor.row;
        for _ in 0..count.min(bottom + 1).min(self.rows.len()) {
            self.leave();
            if self.rows.len() > bottom || self.rows.is_empty() {
                let blank = self.new_row();
                self.rows.insert(bottom.min(self.rows.len()), blank);
            }
        }
        self.cursor.row = row;
    }

    /// The top row leaves and is the new bottom row: what a line feed does most of the time.
    fn turn_over(&mut self) {
        if let Some(row) = self.rows.front() {
            self.emitter.emit_leaving(row);
        }
        self.rows.rotate_left(1);
        if let Some(row) = self.rows.back_mut() {
            row.renew(self.next_id, self.offset);
            self.next_id += 1;
        }
    }

    fn delete_rows(&mut self, top: usize, bottom: usize, count: usize) {
        for _ in 0..count.min((bottom + 1).saturating_sub(top)) {
            if self.rows.remove(top).is_none() {
                break;
            }
            if self.rows.len() > bottom {
                let blank = self.new_row();
                self.rows.insert(bottom, blank);
            }
        }
        self.current();
    }

    pub(super) fn scroll_down(&mut self, top: usize, count: usize) {
        let margins = self.margins();
        if !(margins.top..=margins.bottom).contains(&top) {
            return;
        }
        self.row(top);
        for _ in 0..count.min(margins.bottom + 1 - top) {
            if self.rows.len() > margins.bottom {
                self.rows.remove(margins.bottom);
            }
            let mut blank = self.new_row();
            blank.end = RowEnd::Line;
            blank.held = true;
            self.rows.insert(top, blank);
        }
    }
}
