//! Whole lines: DECSWL, DECDWL, DECDHL, and DECALN.

use termd_proto::screen::LineSize;

use crate::grid::cell::Cell;
use crate::grid::style::{Style, StyleId};
use crate::terminal::{Margins, Terminal};

impl Terminal {
    /// `ESC #` and a byte.
    pub(crate) fn line_function(&mut self, byte: u8) {
        match byte {
            b'3' => self.set_line_size(LineSize::DoubleHeightTop),
            b'4' => self.set_line_size(LineSize::DoubleHeightBottom),
            b'5' => self.set_line_size(LineSize::Single),
            b'6' => self.set_line_size(LineSize::DoubleWidth),
            b'8' => self.alignment_pattern(),
            _ => {}
        }
    }

    /// DECDHL, DECSWL, DECDWL: nothing where DECLRMM is set.
    fn set_line_size(&mut self, size: LineSize) {
        if self.modes.left_right_margins {
            return;
        }
        self.cursor_row().size = size;
        let last = self.row_cols(self.cursor.row) - 1;
        self.cursor.col = self.cursor.col.min(last);
    }

    /// All lines single-width again.
    pub(crate) fn reset_line_sizes(&mut self) {
        for y in 0..self.size.rows {
            if self.grid.row(y).size != LineSize::Single {
                self.grid.row_mut(y, self.seq).size = LineSize::Single;
            }
        }
    }

    /// DECALN: the screen full of E, without margins, attributes or origin mode.
    fn alignment_pattern(&mut self) {
        self.cursor.origin = false;
        self.cursor.style = Style {
            link: self.cursor.style.link,
            foreground: self.cursor.style.foreground,
            background: self.cursor.style.background,
            ..Style::default()
        };
        self.style_changed();
        self.margins = Margins::whole(self.size);
        self.set_cursor(0, 0);
        let cols = self.size.cols;
        for y in 0..self.size.rows {
            let row = self.grid.row_mut(y, self.seq);
            row.clear(cols, Cell::BLANK);
            row.fill(0, cols, Cell::ascii(b'E', StyleId::default()));
        }
        self.choose_way_of_text();
    }
}
