//! The rows of one screen.

pub(crate) mod cell;
pub(crate) mod grapheme;
pub(crate) mod row;
mod size;
pub(crate) mod style;
pub(crate) mod width;

use termd_proto::screen::LineSize;

use self::cell::Cell;
use self::row::Row;
pub use self::size::Size;

/// The rows of a screen. Scrolling moves row numbers and not cells.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    rows: Vec<Row>,
    /// The index in `rows` of each row from the top.
    order: Vec<u32>,
    cols: usize,
    /// The number of the change in progress, which is stamped on the rows that it touches.
    change: u64,
    /// The rows that moved last. One range costs less than a stamp on each row.
    moved: Option<Moved>,
}

/// Rows `top..=bottom` stand for something else since this change.
#[derive(Debug, Clone, Copy)]
struct Moved {
    seq: u64,
    top: usize,
    bottom: usize,
}

impl Grid {
    pub(crate) fn new(size: Size) -> Self {
        Self {
            rows: vec![Row::default(); size.rows],
            order: (0..u32::try_from(size.rows).unwrap_or(u32::MAX)).collect(),
            cols: size.cols,
            change: 0,
            moved: None,
        }
    }

    /// A grid of these rows, all stamped with this change. Missing rows are empty.
    pub(crate) fn from_rows(size: Size, rows: Vec<Row>, change: u64) -> Self {
        let mut grid = Self::new(size);
        grid.change = change;
        for (slot, row) in grid.rows.iter_mut().zip(rows) {
            *slot = row;
        }
        for row in &mut grid.rows {
            row.seq = change;
        }
        grid
    }

    pub(crate) fn size(&self) -> Size {
        Size {
            cols: self.cols,
            rows: self.order.len(),
        }
    }

    /// Begins a change: rows that are touched from here on bear this number.
    #[inline]
    pub(crate) fn begin_change(&mut self, change: u64) {
        self.change = change;
    }

    /// A row, counted from 0 at the top.
    #[inline]
    pub(crate) fn row(&self, y: usize) -> &Row {
        &self.rows[self.order[y] as usize]
    }

    /// A row to change; it is stamped with the change.
    #[inline]
    pub(crate) fn row_mut(&mut self, y: usize) -> &mut Row {
        let row = &mut self.rows[self.order[y] as usize];
        row.seq = self.change;
        row
    }

    /// Columns of a row: a double-width line has half of them.
    #[inline]
    pub(crate) fn row_cols(&self, y: usize) -> usize {
        match self.row(y).size {
            LineSize::Single => self.cols,
            _ => self.cols.div_ceil(2),
        }
    }

    /// The last change of what stands in row `y`.
    pub(crate) fn seq(&self, y: usize) -> u64 {
        let own = self.row(y).seq;
        match self.moved {
            Some(moved) if (moved.top..=moved.bottom).contains(&y) => own.max(moved.seq),
            _ => own,
        }
    }

    /// Moves rows `top..=bottom` up by one. The row that leaves is cleared and comes in at the
    /// bottom; a caller that keeps it reads it first.
    #[inline]
    pub(crate) fn scroll_up_one(&mut self, top: usize, bottom: usize, blank: Cell) {
        self.order[top..=bottom].rotate_left(1);
        self.mark_moved(top, bottom);
        self.clear_row(bottom, blank);
    }

    /// Moves rows `top..=bottom` up by `count`; cleared rows come in at the bottom.
    pub(crate) fn scroll_up(&mut self, top: usize, bottom: usize, count: usize, blank: Cell) {
        let count = count.min(bottom + 1 - top);
        self.order[top..=bottom].rotate_left(count);
        self.mark_moved(top, bottom);
        for y in bottom + 1 - count..=bottom {
            self.clear_row(y, blank);
        }
    }

    /// Moves rows `top..=bottom` down by `count`; cleared rows come in at the top.
    pub(crate) fn scroll_down(&mut self, top: usize, bottom: usize, count: usize, blank: Cell) {
        let count = count.min(bottom + 1 - top);
        self.order[top..=bottom].rotate_right(count);
        self.mark_moved(top, bottom);
        for y in top..top + count {
            self.clear_row(y, blank);
        }
    }

    #[inline]
    fn clear_row(&mut self, y: usize, blank: Cell) {
        let cols = self.cols;
        self.row_mut(y).clear(cols, blank);
    }

    /// ICH in columns `col..end` of a row: they move right by `count`.
    pub(crate) fn insert_cells(
        &mut self,
        y: usize,
        col: usize,
        end: usize,
        count: usize,
        blank: Cell,
    ) {
        self.split_wide_at(y, col);
        self.split_wide_at(y, end);
        self.row_mut(y).insert(col, end, count, blank);
        self.blank_lone_halves(y);
    }

    /// DCH in columns `col..end` of a row: they move left by `count`, and the line ends in this row.
    pub(crate) fn delete_cells(
        &mut self,
        y: usize,
        col: usize,
        end: usize,
        count: usize,
        blank: Cell,
    ) {
        self.split_wide_at(y, col);
        self.split_wide_at(y, (col + count).min(end));
        self.split_wide_at(y, end);
        let row = self.row_mut(y);
        row.delete(col, end, count, blank);
        row.wrapped = false;
        self.blank_lone_halves(y);
    }

    /// Copies the cells of columns `left..` of a row. `complex` says that there may be wide,
    /// protected or combined characters among them.
    pub(crate) fn write_cells(&mut self, y: usize, left: usize, cells: &[Cell], complex: bool) {
        let right = left + cells.len();
        self.split_wide_at(y, left);
        self.split_wide_at(y, right);
        let row = self.row_mut(y);
        row.complex |= complex;
        row.cells_mut(left, right).copy_from_slice(cells);
        self.blank_lone_halves(y);
    }

    /// Must precede a write that begins or ends at this column: a wide character across it becomes
    /// two blanks.
    #[inline]
    pub(crate) fn split_wide_at(&mut self, y: usize, col: usize) {
        let row = self.row(y);
        if !row.complex || col == 0 || !row.cell(col).is_tail() {
            return;
        }
        let (left, right) = (row.cell(col - 1).style(), row.cell(col).style());
        let row = self.row_mut(y);
        row.set(col - 1, Cell::erased(left));
        row.set(col, Cell::erased(right));
    }

    /// Must follow a move of cells in a row: a half of a wide character without its other half
    /// becomes a blank.
    pub(crate) fn blank_lone_halves(&mut self, y: usize) {
        if !self.row(y).complex {
            return;
        }
        let cols = self.cols;
        let row = self.row_mut(y);
        row.truncate(cols);
        for x in 0..row.cells().len() {
            let cell = row.cell(x);
            let is_lone = if cell.is_tail() {
                x == 0 || !row.cell(x - 1).is_wide()
            } else {
                cell.is_wide() && !row.cell(x + 1).is_tail()
            };
            if is_lone {
                row.set(x, Cell::erased(cell.style()));
            }
        }
    }

    /// Takes another width without reflow: what is beyond it is cut off (DECCOLM).
    pub(crate) fn set_cols(&mut self, cols: usize) {
        self.cols = cols;
        for row in &mut self.rows {
            row.truncate(cols);
            row.wrapped = false;
        }
        self.mark_all();
    }

    /// Marks every row as changed.
    pub(crate) fn mark_all(&mut self) {
        self.mark_moved(0, self.order.len() - 1);
    }

    /// Marks rows `top..=bottom` as changed.
    #[inline]
    pub(crate) fn mark_moved(&mut self, top: usize, bottom: usize) {
        let seq = self.change;
        self.moved = Some(match self.moved {
            Some(old) => Moved {
                seq,
                top: old.top.min(top),
                bottom: old.bottom.max(bottom),
            },
            None => Moved { seq, top, bottom },
        });
    }

    /// The rows from the top, for a resize.
    pub(crate) fn into_rows(mut self) -> Vec<Row> {
        self.order
            .iter()
            .map(|index| std::mem::take(&mut self.rows[*index as usize]))
            .collect()
    }

    /// The rows in any order.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows in any order, to renumber what their cells name.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }

    /// Bytes that it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        self.rows
            .iter()
            .map(|row| size_of::<Row>() + row.memory())
            .sum::<usize>()
            + self.order.capacity() * size_of::<u32>()
    }
}
