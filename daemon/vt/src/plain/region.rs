//! The live region: the rows that a program can still change, and its cursor.
//!
//! It is the screen, of at most [`MAX_LIVE_ROWS`] rows, and grows as it is printed on. A row that
//! leaves it at the top is final. Positions are counted from 0, inside the screen. `edit.rs` has
//! the functions that erase and scroll.

use std::collections::VecDeque;

use super::emitter::Emitter;
use super::row::{Row, RowEnd};
use super::{PlainSize, Styles};
use crate::grid::style::Style;
use crate::grid::width::width;

/// The most rows that can still change, whatever the terminal's size. Only full-screen programs use
/// taller screens, and those use the alternate screen.
pub(super) const MAX_LIVE_ROWS: usize = 64;
/// Columns between tab stops. Output that is read as text has no others.
const TAB_COLUMNS: usize = 8;

/// The cursor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) row: usize,
    /// It equals the number of columns where the row is full and the next character wraps.
    pub(super) column: usize,
}

/// DECAWM: whether a full row is followed by the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Autowrap {
    #[default]
    On,
    /// A character at the margin overwrites the last column.
    Off,
}

/// DECSTBM. Both rows are inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Margins {
    pub(super) top: usize,
    pub(super) bottom: usize,
}

/// The rows and the cursor.
#[derive(Debug, Clone)]
pub(super) struct Region {
    size: PlainSize,
    pub(super) columns: usize,
    pub(super) height: usize,
    pub(super) rows: VecDeque<Row>,
    pub(super) cursor: Cursor,
    saved: Cursor,
    pub(super) styles: Styles,
    /// SGR's style, where styles are kept.
    pub(super) pen: Style,
    saved_pen: Style,
    pub(super) margins: Option<Margins>,
    pub(super) autowrap: Autowrap,
    /// The raw offset of what is processed now.
    pub(super) offset: u64,
    pub(super) next_id: u64,
    /// A row that left, for reuse.
    spare: Row,
    /// Where rows go that leave.
    pub(super) emitter: Emitter,
}

impl Region {
    pub(super) fn new(size: PlainSize, offset: u64) -> Self {
        let mut region = Self {
            size,
            columns: 0,
            height: 0,
            rows: VecDeque::new(),
            cursor: Cursor::default(),
            saved: Cursor::default(),
            styles: Styles::default(),
            pen: Style::default(),
            saved_pen: Style::default(),
            margins: None,
            autowrap: Autowrap::On,
            offset,
            next_id: 0,
            spare: Row::default(),
            emitter: Emitter::default(),
        };
        region.resize(size);
        region.push_row();
        region
    }

    /// Takes another size. Rows stay as they are: there is no reflow.
    pub(super) fn resize(&mut self, size: PlainSize) {
        self.size = size;
        self.columns = usize::from(size.cols.max(2));
        self.height = usize::from(size.rows.max(1)).min(MAX_LIVE_ROWS);
        self.margins = None;
        while self.rows.len() > self.height {
            self.leave();
        }
        self.cursor.column = self.cursor.column.min(self.columns);
    }

    pub(super) fn size(&self) -> PlainSize {
        self.size
    }

    /// The cursor that DECSC saved.
    pub(super) fn saved(&self) -> Cursor {
        self.saved
    }

    pub(super) fn set_saved(&mut self, cursor: Cursor) {
        self.saved = cursor;
    }

    pub(super) fn cursor(&self) -> Cursor {
        self.cursor
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn rows(&self) -> &VecDeque<Row> {
        &self.rows
    }

    pub(super) fn rows_and_giver(&mut self) -> (&mut VecDeque<Row>, &mut Emitter) {
        (&mut self.rows, &mut self.emitter)
    }

    /// How many rows have text, or the cursor on or below them.
    pub(super) fn used(&self) -> usize {
        let blank = self.rows.iter().rev().take_while(|row| row.is_blank());
        (self.rows.len() - blank.count()).max(self.cursor.row + 1)
    }

    pub(super) fn new_row(&mut self) -> Row {
        let mut row = std::mem::take(&mut self.spare);
        row.renew(self.next_id, self.offset);
        self.next_id += 1;
        row
    }

    pub(super) fn push_row(&mut self) {
        let row = self.new_row();
        self.rows.push_back(row);
    }

    /// Emits the top row, which is final.
    pub(super) fn leave(&mut self) {
        if let Some(row) = self.rows.pop_front() {
            self.emitter.emit_leaving(&row);
            self.spare = row;
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    #[inline]
    pub(super) fn row(&mut self, index: usize) -> Option<&mut Row> {
        while self.rows.len() <= index {
            self.push_row();
        }
        self.rows.get_mut(index)
    }

    pub(super) fn current(&mut self) -> Option<&mut Row> {
        self.row(self.cursor.row)
    }

    // Text.

    /// Printable ASCII.
    pub(super) fn print_ascii(&mut self, mut text: &[u8]) {
        while !text.is_empty() {
            self.wrap_for(1);
            let cursor = self.cursor;
            let room = self.columns.saturating_sub(cursor.column).max(1);
            let (head, rest) = text.split_at(text.len().min(room));
            if let Some(row) = self.current() {
                row.put_ascii(cursor.column, head);
            }
            self.paint(cursor.column, head.len());
            self.cursor.column = cursor.column + head.len();
            // The character after this text is at its offset.
            self.offset += head.len() as u64;
            text = rest;
        }
    }

    /// One character. C1 controls (ECMA-48 in UTF-8) are no text.
    pub(super) fn print(&mut self, character: char) {
        if character.is_control() {
            return;
        }
        let columns = width(character);
        if columns == 0 {
            let column = self.cursor.column;
            if let Some(row) = self.current() {
                row.put_mark(column, character);
            }
            return;
        }
        self.wrap_for(columns);
        let column = self.cursor.column;
        if let Some(row) = self.current() {
            row.put(column, character, columns);
        }
        self.paint(column, columns);
        self.cursor.column = column + columns;
    }

    /// Gives columns of the current row the pen's style.
    #[inline]
    fn paint(&mut self, column: usize, columns: usize) {
        if self.styles == Styles::Kept {
            let pen = self.pen;
            if let Some(row) = self.current() {
                row.paint(column, column + columns, pen);
            }
        }
    }

    /// Goes to the next row if the row does not have this many columns left.
    fn wrap_for(&mut self, columns: usize) {
        if self.cursor.column + columns <= self.columns {
            return;
        }
        match self.autowrap {
            Autowrap::On => self.wrap(),
            Autowrap::Off => self.cursor.column = self.columns.saturating_sub(columns),
        }
    }

    fn wrap(&mut self) {
        if let Some(row) = self.current() {
            row.end = RowEnd::Wrap;
        }
        self.index();
        self.cursor.column = 0;
    }

    // Controls.

    /// LF, VT, FF and NEL: to the start of the next line. Also for a bare LF, as programs that
    /// switch the tty's translation off mean lines by it.
    pub(super) fn next_line(&mut self) {
        if let Some(row) = self.current() {
            row.end = RowEnd::Line;
        }
        self.index();
        self.cursor.column = 0;
    }

    /// IND: down one row. At the bottom the region scrolls.
    pub(super) fn index(&mut self) {
        let margins = self.margins();
        if self.cursor.row == margins.bottom {
            self.scroll_up(margins.top, 1);
        } else {
            self.cursor.row = (self.cursor.row + 1).min(self.height - 1);
        }
        let below = self.cursor.row;
        let offset = self.offset;
        if let Some(row) = self.row(below)
            && row.is_blank()
            && row.emitted.is_none()
        {
            row.start = offset;
        }
    }

    /// RI: up one row. At the top the region scrolls.
    pub(super) fn reverse_index(&mut self) {
        let margins = self.margins();
        if self.cursor.row == margins.top {
            self.scroll_down(margins.top, 1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
        self.hold();
    }

    /// CR.
    pub(super) fn carriage_return(&mut self) {
        self.cursor.column = 0;
    }

    /// BS, CUB.
    pub(super) fn left(&mut self, count: usize) {
        let column = self.cursor.column.min(self.columns - 1);
        self.cursor.column = column.saturating_sub(count);
    }

    /// CUF, HPR.
    pub(super) fn right(&mut self, count: usize) {
        self.set_column(self.cursor.column.saturating_add(count));
    }

    /// CHA, HPA.
    pub(super) fn set_column(&mut self, column: usize) {
        self.cursor.column = column.min(self.columns - 1);
    }

    /// HT. At the margin it wraps, where a terminal would stay: texts must not run together.
    pub(super) fn tab(&mut self) {
        self.wrap_for(1);
        let column = self.cursor.column;
        let stop = ((column / TAB_COLUMNS + 1) * TAB_COLUMNS).min(self.columns);
        if let Some(row) = self.current() {
            row.put_tab(column, stop);
        }
        self.cursor.column = stop;
    }

    /// CUU. It stops at the top, or at the margin.
    pub(super) fn up(&mut self, count: usize) {
        let margins = self.margins();
        let stop = if self.cursor.row >= margins.top {
            margins.top
        } else {
            0
        };
        self.cursor.row = self.cursor.row.saturating_sub(count).max(stop);
        self.hold();
    }

    /// CUD, VPR. They stop at the bottom, or at the margin.
    pub(super) fn down(&mut self, count: usize) {
        let margins = self.margins();
        let stop = if self.cursor.row <= margins.bottom {
            margins.bottom
        } else {
            self.height - 1
        };
        self.cursor.row = self.cursor.row.saturating_add(count).min(stop);
        self.current();
    }

    /// VPA, and the row of CUP.
    pub(super) fn set_row(&mut self, row: usize) {
        let before = self.cursor.row;
        self.cursor.row = row.min(self.height - 1);
        self.current();
        if self.cursor.row < before {
            self.hold();
        }
    }

    /// DECSC.
    pub(super) fn save_cursor(&mut self) {
        self.saved = self.cursor;
        self.saved_pen = self.pen;
    }

    /// DECRC.
    pub(super) fn restore_cursor(&mut self) {
        let saved = self.saved;
        self.pen = self.saved_pen;
        self.cursor.column = saved.column.min(self.columns);
        self.set_row(saved.row);
    }

    /// Restores the cursor when the primary screen is shown again, which is no redraw.
    pub(super) fn restore_cursor_in_place(&mut self) {
        self.margins = None;
        self.autowrap = Autowrap::On;
        self.pen = self.saved_pen;
        self.cursor.column = self.saved.column.min(self.columns);
        self.cursor.row = self.saved.row.min(self.height - 1);
        self.current();
    }

    /// DECSTBM. The cursor moves home.
    pub(super) fn set_margins(&mut self, top: usize, bottom: usize) {
        let bottom = bottom.min(self.height - 1);
        if top < bottom {
            let whole = top == 0 && bottom == self.height - 1;
            self.margins = (!whole).then_some(Margins { top, bottom });
            self.carriage_return();
            self.set_row(0);
        }
    }

    pub(super) fn margins(&self) -> Margins {
        self.margins.unwrap_or(Margins {
            top: 0,
            bottom: self.height - 1,
        })
    }

    /// The rows from the cursor down are being redrawn.
    pub(super) fn hold(&mut self) {
        for row in self.rows.iter_mut().skip(self.cursor.row) {
            row.held = true;
        }
    }

    /// Resets everything but the text on the screen.
    pub(super) fn reset_modes(&mut self) {
        self.margins = None;
        self.autowrap = Autowrap::On;
        self.saved = Cursor::default();
        self.pen = Style::default();
        self.saved_pen = Style::default();
    }
}
