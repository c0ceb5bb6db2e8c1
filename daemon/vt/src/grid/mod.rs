//! The rows of one screen, in an index ring: scrolling moves numbers and not cells.

pub(crate) mod cell;
pub(crate) mod grapheme;
pub(crate) mod row;
pub(crate) mod style;
pub(crate) mod width;

use serde::{Deserialize, Serialize};

use crate::grid::cell::Cell;
use crate::grid::row::Row;

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Columns, at least 2: a wide character must fit.
    pub cols: usize,
    /// Rows, at least 1.
    pub rows: usize,
}

impl Size {
    /// Most columns.
    pub const MAX_COLS: usize = 4_096;
    /// Most rows.
    pub const MAX_ROWS: usize = 4_096;

    /// The nearest size that a terminal may have.
    #[must_use]
    pub fn clamped(self) -> Self {
        Self {
            cols: self.cols.clamp(2, Self::MAX_COLS),
            rows: self.rows.clamp(1, Self::MAX_ROWS),
        }
    }
}

/// The rows of a screen.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    rows: Vec<Row>,
    /// Which of `rows` stands where.
    order: Vec<u32>,
    cols: usize,
    /// Rows `top..=bottom` have moved in this change: cheaper than to mark each of them.
    moved: Option<Moved>,
}

#[derive(Debug, Clone, Copy)]
struct Moved {
    seq: u64,
    top: usize,
    bottom: usize,
}

impl Grid {
    /// An empty one.
    pub(crate) fn new(size: Size) -> Self {
        Self {
            rows: vec![Row::default(); size.rows],
            order: (0..u32::try_from(size.rows).unwrap_or(u32::MAX)).collect(),
            cols: size.cols,
            moved: None,
        }
    }

    /// Its size.
    pub(crate) fn size(&self) -> Size {
        Size {
            cols: self.cols,
            rows: self.order.len(),
        }
    }

    /// A row, 0 at the top.
    #[inline]
    pub(crate) fn row(&self, y: usize) -> &Row {
        &self.rows[self.order[y] as usize]
    }

    /// A row to change; the change is marked on it.
    #[inline]
    pub(crate) fn row_mut(&mut self, y: usize, seq: u64) -> &mut Row {
        let row = &mut self.rows[self.order[y] as usize];
        row.seq = seq;
        row
    }

    /// The last change of what stands in row `y`.
    pub(crate) fn seq(&self, y: usize) -> u64 {
        let own = self.row(y).seq;
        match self.moved {
            Some(moved) if (moved.top..=moved.bottom).contains(&y) => own.max(moved.seq),
            _ => own,
        }
    }

    /// Moves rows `top..=bottom` up by one; the row that leaves is cleared and comes in at the
    /// bottom. Whoever wants to keep it takes it before.
    #[inline]
    pub(crate) fn scroll_up_one(&mut self, top: usize, bottom: usize, blank: Cell, seq: u64) {
        self.order[top..=bottom].rotate_left(1);
        self.mark_moved(top, bottom, seq);
        let cols = self.cols;
        self.row_mut(bottom, seq).clear(cols, blank);
    }

    /// Moves rows `top..=bottom` up by `count`; cleared rows come in at the bottom.
    pub(crate) fn scroll_up(
        &mut self,
        top: usize,
        bottom: usize,
        count: usize,
        blank: Cell,
        seq: u64,
    ) {
        let height = bottom + 1 - top;
        let count = count.min(height);
        self.order[top..=bottom].rotate_left(count);
        self.mark_moved(top, bottom, seq);
        for y in bottom + 1 - count..=bottom {
            let cols = self.cols;
            self.row_mut(y, seq).clear(cols, blank);
        }
    }

    /// Moves rows `top..=bottom` down by `count`; cleared rows come in at the top.
    pub(crate) fn scroll_down(
        &mut self,
        top: usize,
        bottom: usize,
        count: usize,
        blank: Cell,
        seq: u64,
    ) {
        let height = bottom + 1 - top;
        let count = count.min(height);
        self.order[top..=bottom].rotate_right(count);
        self.mark_moved(top, bottom, seq);
        for y in top..top + count {
            let cols = self.cols;
            self.row_mut(y, seq).clear(cols, blank);
        }
    }

    /// Takes another width; what is beyond it is cut off (DECCOLM: no reflow).
    pub(crate) fn set_cols(&mut self, cols: usize, seq: u64) {
        self.cols = cols;
        for row in &mut self.rows {
            row.truncate(cols);
            row.wrapped = false;
        }
        self.mark_all(seq);
    }

    /// Marks every row as changed: another screen is shown.
    pub(crate) fn mark_all(&mut self, seq: u64) {
        self.mark_moved(0, self.order.len() - 1, seq);
    }

    /// All of these rows stand for something else now.
    #[inline]
    pub(crate) fn mark_moved(&mut self, top: usize, bottom: usize, seq: u64) {
        self.moved = Some(match self.moved {
            Some(old) => Moved {
                seq,
                top: old.top.min(top),
                bottom: old.bottom.max(bottom),
            },
            None => Moved { seq, top, bottom },
        });
    }

    /// All rows from the top, to take apart in a resize.
    pub(crate) fn into_rows(mut self) -> Vec<Row> {
        self.order
            .iter()
            .map(|index| std::mem::take(&mut self.rows[*index as usize]))
            .collect()
    }

    /// Of these rows; missing ones are empty, `seq` marks them all.
    pub(crate) fn from_rows(size: Size, rows: Vec<Row>, seq: u64) -> Self {
        let mut grid = Self::new(size);
        for (slot, row) in grid.rows.iter_mut().zip(rows) {
            *slot = row;
        }
        for row in &mut grid.rows {
            row.seq = seq;
        }
        grid
    }

    /// All rows in any order, to sweep.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// All rows in any order, to renumber.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }

    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> usize {
        self.rows
            .iter()
            .map(|row| size_of::<Row>() + row.memory())
            .sum::<usize>()
            + self.order.capacity() * size_of::<u32>()
    }
}
