//! What changes whole lines: DECSWL, DECDWL, DECDHL, DECALN, DECCOLM.

use crate::modes::Modes;
use termd_proto::screen::LineSize;

use crate::grid::cell::Cell;
use crate::grid::style::{Style, StyleId};
use crate::screen::Screen;
use crate::screen::margins::Margins;

impl Screen {
    /// DECDHL, DECSWL, DECDWL.
    pub(crate) fn set_line_size(&mut self, size: LineSize) {
        self.cursor_row().size = size;
        let last = self.grid.row_cols(self.cursor.row) - 1;
        self.cursor.col = self.cursor.col.min(last);
    }

    pub(crate) fn reset_line_sizes(&mut self) {
        for y in 0..self.size.rows {
            if self.grid.row(y).size != LineSize::Single {
                self.grid.row_mut(y).size = LineSize::Single;
            }
        }
    }

    /// DECALN: fills the screen with E, and resets margins, attributes and origin mode.
    pub(crate) fn alignment_pattern(&mut self, modes: &Modes) {
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
            let row = self.grid.row_mut(y);
            row.clear(cols, Cell::BLANK);
            row.fill(0, cols, Cell::ascii(b'E', StyleId::default()));
        }
        self.update_fast_text(modes);
    }

    /// Sets the width of both screens without reflow; false where it is the width already.
    pub(crate) fn set_cols(&mut self, cols: usize) -> bool {
        if cols == self.size.cols {
            return false;
        }
        self.size.cols = cols;
        for grid in self.grids_mut() {
            grid.set_cols(cols);
        }
        self.margins = Margins::whole(self.size);
        self.cursor.col = self.cursor.col.min(cols - 1);
        for y in 0..self.size.rows {
            self.grid.blank_lone_halves(y);
        }
        true
    }
}
