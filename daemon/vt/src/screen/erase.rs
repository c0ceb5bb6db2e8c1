//! Erasing: ED, EL, ECH, and the selective ones, DECSED and DECSEL.
//!
//! As in xterm, the control function that protected characters last decides what protects them.
//! After SPA no erasing function touches protected characters; after DECSCA only the selective ones
//! spare them. Erased cells keep the background colour (bce).

use crate::grid::cell::{Cell, Protection};
use crate::grid::row::Row;
use crate::modes::Modes;
use crate::screen::Screen;

/// Which protected characters a function spares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Respect {
    /// Those of SPA: ED, EL, ECH.
    Guarded,
    /// Those of DECSCA as well: DECSED, DECSEL.
    All,
}

/// What becomes of protected cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protected {
    Erase,
    Keep,
}

impl Screen {
    /// ED, DECSED.
    pub(crate) fn erase_in_display(&mut self, what: u16, respect: Respect, modes: &mut Modes) {
        let protected = protected(respect, modes);
        let (row, col) = (self.cursor.row, self.cursor.col);
        let last = self.size.rows - 1;
        match what {
            0 if (row, col) == (0, 0) => self.erase_display(protected, modes),
            0 => {
                self.erase_cursor_row(col, self.size.cols, protected);
                self.erase_rows(row + 1, self.size.rows, protected);
            }
            1 if (row, col) == (last, self.size.cols - 1) => self.erase_display(protected, modes),
            1 => {
                self.erase_rows(0, row, protected);
                self.erase_cursor_row(0, col + 1, protected);
            }
            2 => self.erase_display(protected, modes),
            3 => self.scrollback.clear(),
            _ => {}
        }
    }

    /// EL, DECSEL.
    pub(crate) fn erase_in_line(&mut self, what: u16, respect: Respect, modes: &Modes) {
        let protected = protected(respect, modes);
        let (col, cols) = (self.cursor.col, self.size.cols);
        match what {
            0 => self.erase_cursor_row(col, cols, protected),
            1 => self.erase_cursor_row(0, col + 1, protected),
            2 => self.erase_cursor_row(0, cols, protected),
            _ => {}
        }
    }

    /// ECH, which ignores the margins.
    pub(crate) fn erase_characters(&mut self, count: usize, modes: &Modes) {
        let protected = protected(Respect::Guarded, modes);
        let col = self.cursor.col;
        let end = (col + count).min(self.size.cols);
        self.erase_cursor_row(col, end, protected);
    }

    /// Erases the whole screen; the cursor stays.
    pub(crate) fn clear_screen(&mut self) {
        self.erase_rows(0, self.size.rows, Protected::Erase);
        self.cursor.wrap_pending = false;
    }

    fn erase_display(&mut self, protected: Protected, modes: &mut Modes) {
        self.erase_rows(0, self.size.rows, protected);
        self.cursor.wrap_pending = false;
        let is_protected = |cell: &Cell| cell.protection() != Protection::None;
        if protected == Protected::Keep
            && !(0..self.size.rows).any(|y| self.grid.row(y).cells().iter().any(is_protected))
        {
            modes.protection = Protection::None;
        }
    }

    /// A row becomes single-width again, unless cells of it are kept.
    fn erase_rows(&mut self, from: usize, to: usize, protected: Protected) {
        let (blank, cols) = (self.blank(), self.size.cols);
        for y in from..to {
            let row = self.grid.row_mut(y);
            match protected {
                Protected::Erase => row.clear(cols, blank),
                Protected::Keep => erase_cells(row, 0, cols, blank, protected),
            }
        }
    }

    fn erase_cursor_row(&mut self, from: usize, to: usize, protected: Protected) {
        self.cursor.wrap_pending = false;
        self.erase_in_row(self.cursor.row, from, to, protected);
    }

    fn erase_in_row(&mut self, y: usize, from: usize, to: usize, protected: Protected) {
        let (blank, cols) = (self.blank(), self.size.cols);
        if self.grid.row(y).complex {
            self.grid.split_wide_at(y, from);
            self.grid.split_wide_at(y, to);
        }
        let row = self.grid.row_mut(y);
        erase_cells(row, from, to, blank, protected);
        if to == cols {
            row.wrapped = false;
        }
    }

    /// DECSCA.
    pub(crate) fn set_character_attribute(&mut self, what: u16, modes: &mut Modes) {
        modes.protection = Protection::Selective;
        match what {
            0 | 2 => self.cursor.protection = Protection::None,
            1 => self.cursor.protection = Protection::Selective,
            _ => {}
        }
        self.update_fast_text(modes);
    }

    /// SPA.
    pub(crate) fn start_guarded_area(&mut self, modes: &mut Modes) {
        modes.protection = Protection::Guarded;
        self.cursor.protection = Protection::Guarded;
        self.update_fast_text(modes);
    }

    /// EPA.
    pub(crate) fn end_guarded_area(&mut self, modes: &mut Modes) {
        self.cursor.protection = Protection::None;
        self.update_fast_text(modes);
    }
}

fn erase_cells(row: &mut Row, from: usize, to: usize, blank: Cell, protected: Protected) {
    if protected == Protected::Erase || !row.complex {
        row.fill(from, to, blank);
        return;
    }
    for cell in row.cells_mut(from, to) {
        if cell.protection() == Protection::None {
            *cell = blank;
        }
    }
}

fn protected(respect: Respect, modes: &Modes) -> Protected {
    match (modes.protection, respect) {
        (Protection::None, _) | (Protection::Selective, Respect::Guarded) => Protected::Erase,
        (Protection::Guarded, _) | (Protection::Selective, Respect::All) => Protected::Keep,
    }
}
