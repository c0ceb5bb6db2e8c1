//! One row of cells.

use termd_proto::screen::LineSize;

use crate::grid::cell::Cell;

/// A row. Columns after the last held cell are default blanks, so an empty row takes no memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    cells: Vec<Cell>,
    /// The line goes on in the next row, as it was too long for this one.
    pub wrapped: bool,
    /// DECSWL, DECDWL, DECDHL.
    pub size: LineSize,
    /// Holds, or has held since it was cleared, something other than narrow, unprotected, single
    /// code points. A write to such a row must look for wide characters that it splits.
    pub complex: bool,
    /// The number of the last change that touched it.
    pub seq: u64,
}

impl Row {
    /// The cells that are held.
    #[inline]
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    #[inline]
    pub(crate) fn cell(&self, column: usize) -> Cell {
        self.cells.get(column).copied().unwrap_or(Cell::BLANK)
    }

    #[inline]
    pub(crate) fn set(&mut self, column: usize, cell: Cell) {
        if column >= self.cells.len() {
            if cell == Cell::BLANK {
                return;
            }
            self.cells.resize(column + 1, Cell::BLANK);
        }
        self.cells[column] = cell;
    }

    /// The cells of columns `from..to`, to write to.
    #[inline]
    pub(crate) fn cells_mut(&mut self, from: usize, to: usize) -> &mut [Cell] {
        if to > self.cells.len() {
            self.cells.resize(to, Cell::BLANK);
        }
        &mut self.cells[from..to]
    }

    /// Writes printable ASCII. The row must not be complex there.
    #[inline]
    pub(crate) fn write_ascii(&mut self, column: usize, text: &[u8], blank: Cell) {
        let held = self.cells.len();
        // `blank` has the style.
        let style = blank.style();
        if column >= held {
            self.cells.resize(column, Cell::BLANK);
            self.cells
                .extend(text.iter().map(|byte| Cell::ascii(*byte, style)));
            return;
        }
        let over = (held - column).min(text.len());
        for (cell, byte) in self.cells[column..column + over].iter_mut().zip(text) {
            *cell = Cell::ascii(*byte, style);
        }
        self.cells
            .extend(text[over..].iter().map(|byte| Cell::ascii(*byte, style)));
    }

    pub(crate) fn fill(&mut self, from: usize, to: usize, cell: Cell) {
        if cell == Cell::BLANK && to >= self.cells.len() {
            self.cells.truncate(from);
        } else if from < to {
            self.cells_mut(from, to).fill(cell);
        }
    }

    /// Makes it a row of `cols` such blanks; its memory stays.
    #[inline]
    pub(crate) fn clear(&mut self, cols: usize, blank: Cell) {
        self.cells.clear();
        if blank != Cell::BLANK {
            self.cells.resize(cols, blank);
        }
        self.wrapped = false;
        self.size = LineSize::Single;
        self.complex = false;
    }

    /// Makes room for this many more cells.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.cells.reserve_exact(count);
    }

    #[inline]
    pub(crate) fn push(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    #[inline]
    pub(crate) fn extend(&mut self, cells: impl Iterator<Item = Cell>) {
        self.cells.extend(cells);
    }

    /// Drops default blanks at the end, so that equal rows hold equal cells.
    pub(crate) fn trim(&mut self) {
        self.cells.truncate(self.occupied());
    }

    /// Gives back unused memory.
    pub(crate) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
    }

    pub(crate) fn truncate(&mut self, cols: usize) {
        self.cells.truncate(cols);
    }

    /// ICH: moves columns `from..to` right by `count`. What leaves is lost, what is freed becomes
    /// `blank`.
    pub(crate) fn insert(&mut self, from: usize, to: usize, count: usize, blank: Cell) {
        let cells = self.cells_mut(from, to);
        let count = count.min(cells.len());
        let keep = cells.len() - count;
        cells.copy_within(..keep, count);
        cells[..count].fill(blank);
    }

    /// DCH: moves columns `from..to` left by `count`. What is freed at the right becomes `blank`.
    pub(crate) fn delete(&mut self, from: usize, to: usize, count: usize, blank: Cell) {
        let cells = self.cells_mut(from, to);
        let count = count.min(cells.len());
        let keep = cells.len() - count;
        cells.copy_within(count.., 0);
        cells[keep..].fill(blank);
    }

    /// Columns up to the last cell that is not a default blank.
    pub(crate) fn occupied(&self) -> usize {
        self.cells
            .iter()
            .rposition(|cell| *cell != Cell::BLANK)
            .map_or(0, |last| last + 1)
    }

    pub(crate) fn map(&mut self, change: impl Fn(Cell) -> Cell) {
        for cell in &mut self.cells {
            *cell = change(*cell);
        }
    }

    /// Bytes that it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
    }
}
