//! Printing characters: DECAWM's pending wrap, IRM, wide and combining characters.

use crate::grid::cell::{Cell, Content};
use crate::grid::grapheme::MAX_GRAPHEME_BYTES;
use crate::grid::width::width;
use crate::modes::Modes;
use crate::screen::Screen;

impl Screen {
    /// Prints printable ASCII, mapped by the character sets.
    #[inline]
    pub(crate) fn print_ascii(&mut self, text: &[u8], modes: &Modes) {
        if !self.fast_text {
            for byte in text {
                let c = self.cursor.charsets.take().map(*byte);
                self.print_char(c, modes);
            }
            self.update_fast_text(modes);
            return;
        }
        self.write_run(text);
        if let Some(last) = text.last() {
            self.last_printed = Some(char::from(*last));
        }
    }

    /// Writes a run of ASCII, which is what nearly all output is.
    #[inline]
    fn write_run(&mut self, mut text: &[u8]) {
        let style = self.cursor.style_id;
        while !text.is_empty() {
            if self.cursor.wrap_pending {
                self.wrap();
            }
            let cols = self.grid.row_cols(self.cursor.row);
            let (row, col) = (self.cursor.row, self.cursor.col.min(cols - 1));
            let count = (cols - col).min(text.len());
            if self.grid.row(row).complex {
                self.grid.split_wide_at(row, col);
                self.grid.split_wide_at(row, col + count);
            }
            let cells = self.grid.row_mut(row);
            cells.write_ascii(col, &text[..count], Cell::erased(style));
            text = &text[count..];
            self.cursor.col = col + count;
            if self.cursor.col == cols {
                self.cursor.col = cols - 1;
                self.cursor.wrap_pending = true;
            }
        }
    }

    /// The last column that text may take on the cursor's row: the right margin, or the edge of the
    /// screen for a cursor that is past the margin.
    #[inline]
    fn last_text_col(&self) -> usize {
        let edge = self.grid.row_cols(self.cursor.row) - 1;
        if self.cursor.col <= self.margins.right {
            self.margins.right.min(edge)
        } else {
            edge
        }
    }

    /// Goes on in the next row, which belongs to the same line.
    pub(crate) fn wrap(&mut self) {
        self.cursor_row().wrapped = true;
        self.cursor.wrap_pending = false;
        // The column is set after the scroll: a cursor outside the margins does not scroll.
        self.index();
        self.cursor.col = self.margins.left;
    }

    /// Prints text without controls.
    pub(crate) fn print(&mut self, text: &str, modes: &Modes) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if c.is_ascii() {
                let length = rest.bytes().position(|b| b >= 0x80).unwrap_or(rest.len());
                self.print_ascii(&rest.as_bytes()[..length], modes);
                rest = rest.get(length..).unwrap_or_default();
            } else {
                self.print_char(c, modes);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
    }

    /// Prints a byte from 0xa0 on where text is not UTF-8, by the set in GR.
    pub(crate) fn print_right(&mut self, byte: u8, modes: &Modes) {
        let set = self.cursor.charsets.designated[usize::from(self.cursor.charsets.gr & 3)];
        self.print_char(set.map_right(byte), modes);
    }

    pub(crate) fn print_char(&mut self, c: char, modes: &Modes) {
        if modes.grapheme_clusters && self.continue_cluster(c) {
            return;
        }
        match width(c) {
            0 => self.combine(c),
            1 => self.put(c, 1, modes),
            _ => self.put(c, 2, modes),
        }
    }

    fn put(&mut self, c: char, width: usize, modes: &Modes) {
        if self.cursor.wrap_pending && modes.autowrap {
            self.wrap();
        }
        self.cursor.wrap_pending = false;
        let mut last = self.last_text_col();
        if width > last + 1 {
            return;
        }
        if width == 2 && self.cursor.col == last {
            if modes.autowrap {
                let filler = Cell::filler(self.cursor.style_id);
                let (row, col) = (self.cursor.row, self.cursor.col);
                self.grid.split_wide_at(row, col);
                let cells = self.grid.row_mut(row);
                cells.set(col, filler);
                cells.complex = true;
                self.wrap();
                last = self.last_text_col();
            } else {
                // xterm writes it over the last two columns.
                self.cursor.col = last - 1;
            }
        }
        let (row, col) = (self.cursor.row, self.cursor.col);
        if modes.insert {
            self.insert_blanks(width);
        }
        let style = self.cursor.style_id;
        let protection = self.cursor.protection;
        if self.grid.row(row).complex {
            self.grid.split_wide_at(row, col);
            self.grid.split_wide_at(row, col + width);
        }
        let cells = self.grid.row_mut(row);
        if width == 2 {
            cells.complex = true;
            cells.set(col, Cell::wide(c, style).with_protection(protection));
            cells.set(col + 1, Cell::tail(style).with_protection(protection));
        } else {
            cells.complex |= protection != crate::grid::cell::Protection::None;
            cells.set(col, Cell::narrow(c, style).with_protection(protection));
        }
        self.last_printed = Some(c);
        if col + width > last {
            self.cursor.col = last;
            self.cursor.wrap_pending = true;
        } else {
            self.cursor.col = col + width;
        }
    }

    /// ICH at the cursor, inside the margins.
    pub(crate) fn insert_blanks(&mut self, count: usize) {
        let (row, col) = (self.cursor.row, self.cursor.col);
        let end = self.margins.right + 1;
        if self.margins.contains_col(col) {
            let blank = self.blank();
            self.grid.insert_cells(row, col, end, count, blank);
        }
    }

    /// Adds a combining character, a selector or a joiner to the character before the cursor.
    fn combine(&mut self, c: char) {
        if self.graphemes.is_crowded() {
            self.sweep_graphemes();
        }
        let (row, col) = (self.cursor.row, self.cursor.col);
        let before = if self.cursor.wrap_pending {
            Some(col)
        } else {
            col.checked_sub(1)
        };
        let Some(mut at) = before else { return };
        if self.grid.row(row).cell(at).is_tail() && at > 0 {
            at -= 1;
        }
        let cell = self.grid.row(row).cell(at);
        if let Some(number) = self.graphemes.joined(cell.content_bits(), c) {
            let cells = self.grid.row_mut(row);
            cells.complex = true;
            cells.set(at, cell.with_grapheme(number));
            return;
        }
        // On the stack, as emoji come with a selector or a joiner each.
        let mut buffer = [0; MAX_GRAPHEME_BYTES];
        let mut length = 0;
        let mut push = |bytes: &[u8]| {
            if let Some(place) = buffer.get_mut(length..length + bytes.len()) {
                place.copy_from_slice(bytes);
                length += bytes.len();
                return true;
            }
            false
        };
        let mut utf8 = [0; 4];
        let kept = match cell.content() {
            Content::Char(base) => push(base.encode_utf8(&mut utf8).as_bytes()),
            Content::Grapheme(number) => push(self.graphemes.get(number).as_bytes()),
            Content::Blank => push(b" "),
            Content::Tail => false,
        };
        if !kept || !push(c.encode_utf8(&mut utf8).as_bytes()) {
            return;
        }
        let text = std::str::from_utf8(&buffer[..length]).unwrap_or_default();
        if let Some(number) = self.graphemes.number(text) {
            self.graphemes
                .remember_joined(cell.content_bits(), c, number);
            let cells = self.grid.row_mut(row);
            cells.complex = true;
            cells.set(at, cell.with_grapheme(number));
        }
    }
}
