//! Rows that scrolled off the top of the primary screen, packed in blocks of UTF-8 and style runs.
//!
//! Both rows and bytes are bounded. The bound of rows is exact: the oldest row goes when there is
//! one too many, though its block stays until all its rows are gone. The bound of bytes is kept by
//! dropping the oldest block.
//!
//! Rows are kept as they were on the screen, and a change of width packs them anew. That takes a
//! millisecond or two for 10,000 lines; blocks without long lines are not touched. So each row has
//! an id that marks and readers can refer to, which it would not have if lines were broken on
//! reading.

mod block;
mod pack;
mod stored;
#[cfg(test)]
mod tests;
mod transfer;

use std::collections::VecDeque;

pub(crate) use self::stored::StoredRow;
pub(crate) use self::transfer::{read_link, read_rows, write_link, write_rows};

use self::block::{Block, MAX_BLOCK_BYTES, Numbers};
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::{StyleId, Styles};

/// A small scrollback has this many blocks, so that a dropped one is a small part.
const LEAST_BLOCKS: usize = 8;
/// The smallest block, as each has tables of its own.
const LEAST_BLOCK_BYTES: usize = 4 << 10;

/// The rows that have scrolled off a screen, the oldest first, within bounds.
#[derive(Debug, Clone)]
pub struct Scrollback {
    /// Full blocks, the oldest first, each with the id of its first row.
    full: VecDeque<(u64, Block)>,
    /// The block that rows are pushed to.
    open: Block,
    /// Rows of the oldest block that are gone.
    gone: usize,
    rows: usize,
    /// Bytes that the full blocks take.
    full_bytes: usize,
    max_rows: usize,
    max_bytes: usize,
    pushed: u64,
    numbers: Numbers,
}

impl Scrollback {
    /// Makes an empty scrollback for at most this many rows and bytes of memory. Two blocks of 4
    /// KiB are always allowed; 0 rows keep nothing.
    pub fn new(max_rows: usize, max_bytes: usize) -> Self {
        Self {
            full: VecDeque::new(),
            open: Block::default(),
            gone: 0,
            rows: 0,
            full_bytes: 0,
            max_rows,
            max_bytes: max_bytes.max(2 * LEAST_BLOCK_BYTES),
            pushed: 0,
            numbers: Numbers::default(),
        }
    }

    /// An empty scrollback with the same bounds. Its first row will have the id of the oldest row
    /// here.
    #[must_use]
    pub(crate) fn emptied(&self) -> Self {
        let mut emptied = Self::new(self.max_rows, self.max_bytes);
        emptied.pushed = self.oldest();
        emptied
    }

    /// Adds the newest row.
    #[inline]
    pub(crate) fn push(&mut self, row: &Row, styles: &Styles, graphemes: &Graphemes) {
        if self.max_rows == 0 {
            self.pushed += 1;
            return;
        }
        let cells = &row.cells()[..row.occupied()];
        let shape = pack::shape(cells);
        if self.open.used() + Block::most_bytes(row, cells, shape) > self.block_bytes() {
            self.seal();
        }
        self.open
            .push(row, cells, shape, &mut self.numbers, styles, graphemes);
        self.count_one();
    }

    /// Adds a row of printable ASCII in one style.
    #[inline]
    pub(crate) fn push_text(
        &mut self,
        text: &[u8],
        style: StyleId,
        wrapped: bool,
        styles: &Styles,
    ) {
        if self.max_rows == 0 {
            self.pushed += 1;
            return;
        }
        if self.open.used() + Block::most_text_bytes(text) > self.block_bytes() {
            self.seal();
        }
        self.open
            .push_text(text, style, wrapped, &mut self.numbers, styles);
        self.count_one();
    }

    #[inline]
    fn count_one(&mut self) {
        self.pushed += 1;
        self.rows += 1;
        if self.rows > self.max_rows {
            self.rows -= 1;
            self.gone += 1;
            self.drop_gone();
        }
    }

    /// Drops the oldest block if all its rows are gone.
    #[inline]
    fn drop_gone(&mut self) {
        match self.full.front() {
            Some((_, oldest)) if oldest.len() <= self.gone => {
                self.gone -= oldest.len();
                self.drop_oldest();
            }
            _ => {}
        }
    }

    fn drop_oldest(&mut self) {
        if let Some((_, block)) = self.full.pop_front() {
            self.full_bytes -= block.memory();
            // The next block will be of about this size.
            if self.open.len() == 0 && self.open.bytes.capacity() == 0 {
                self.open = block.emptied();
            }
        }
    }

    fn block_bytes(&self) -> usize {
        (self.max_bytes / LEAST_BLOCKS).clamp(LEAST_BLOCK_BYTES, MAX_BLOCK_BYTES)
    }

    /// Begins a block. The first one grows as it is filled; later ones get their memory at once.
    fn seal(&mut self) {
        let mut block = std::mem::take(&mut self.open);
        self.numbers.clear();
        if block.len() > 0 {
            block.seal();
            self.full_bytes += block.memory();
            let first = self.pushed - block.len() as u64;
            self.full.push_back((first, block));
        }
        self.keep_bytes();
        if self.open.bytes.capacity() == 0 && !self.full.is_empty() {
            self.open.bytes.reserve_exact(self.block_bytes());
        }
    }

    /// Keeps the bound of bytes, counting a full open block.
    fn keep_bytes(&mut self) {
        while self.full_bytes + self.block_bytes() > self.max_bytes {
            let Some((_, oldest)) = self.full.front() else {
                return;
            };
            self.rows -= oldest.len() - self.gone;
            self.gone = 0;
            self.drop_oldest();
        }
    }

    /// Takes the newest row back.
    pub(crate) fn pop_newest(
        &mut self,
        styles: &mut Styles,
        graphemes: &mut Graphemes,
    ) -> Option<Row> {
        let row = self
            .row(self.rows.checked_sub(1)?)?
            .to_row(styles, graphemes);
        if self.open.len() == 0
            && let Some((_, block)) = self.full.pop_back()
        {
            self.full_bytes -= block.memory();
            // It is not known any more which numbers of the model its styles had.
            self.numbers.clear();
            self.open = block;
        }
        self.open.pop();
        self.pushed -= 1;
        self.rows -= 1;
        if self.rows == 0 {
            self.empty();
        }
        Some(row)
    }

    /// ED 3: drops all rows. Ids go on.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.empty();
    }

    fn empty(&mut self) {
        self.full = VecDeque::new();
        self.full_bytes = 0;
        self.open = Block::default();
        self.numbers = Numbers::default();
        self.gone = 0;
    }

    /// A row, 0 for the oldest.
    pub(crate) fn row(&self, index: usize) -> Option<StoredRow<'_>> {
        if index >= self.rows {
            return None;
        }
        let id = self.oldest() + index as u64;
        let open_from = self.pushed - self.open.len() as u64;
        let (first, block) = if id >= open_from {
            (open_from, &self.open)
        } else {
            let after = self.full.partition_point(|(first, _)| *first <= id);
            let (first, block) = self.full.get(after.checked_sub(1)?)?;
            (*first, block)
        };
        let at = usize::try_from(id - first).ok()?;
        Some(StoredRow::new(block, at))
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// How many rows were pushed and not taken back, which is the id of the screen's first row. A
    /// row keeps its id from the screen to the scrollback.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// The id of the oldest row that is kept.
    pub(crate) fn oldest(&self) -> u64 {
        self.pushed - self.rows as u64
    }

    pub(crate) fn bounds(&self) -> (usize, usize) {
        (self.max_rows, self.max_bytes)
    }

    /// Bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.full_bytes
            + self.open.memory()
            + self.full.capacity() * size_of::<(u64, Block)>()
            + self.numbers.memory()
    }

    /// Takes the oldest block out for reflow. Its rows need no change if none is wider than `cols`
    /// and none belongs to a longer line.
    pub(crate) fn take_oldest(&mut self, cols: usize) -> Option<Taken> {
        let (block, gone) = match self.full.pop_front() {
            Some((_, block)) => {
                self.full_bytes -= block.memory();
                (block, std::mem::take(&mut self.gone))
            }
            None if self.rows > 0 => {
                let block = std::mem::take(&mut self.open);
                self.numbers.clear();
                (block, std::mem::take(&mut self.gone))
            }
            None => return None,
        };
        self.rows -= block.len() - gone;
        Some(Taken {
            is_simple: !block.has_lines && block.widest <= cols && gone == 0,
            block,
            at: gone,
        })
    }

    /// Adds a block after the rows.
    pub(crate) fn put(&mut self, taken: Taken) {
        self.seal();
        let rows = taken.block.len();
        self.open = taken.block;
        self.rows += rows;
        self.pushed += rows as u64;
        self.keep_bounds();
    }

    /// Keeps both bounds after many rows were added at once.
    fn keep_bounds(&mut self) {
        if self.max_rows == 0 {
            self.clear();
        }
        self.gone += self.rows.saturating_sub(self.max_rows);
        self.rows = self.rows.min(self.max_rows);
        while let Some((_, oldest)) = self.full.front()
            && oldest.len() <= self.gone
        {
            self.drop_gone();
        }
        self.keep_bytes();
    }
}

/// A block on its way through reflow.
#[derive(Debug)]
pub(crate) struct Taken {
    block: Block,
    at: usize,
    /// None of its rows would change.
    pub(crate) is_simple: bool,
}

impl Taken {
    pub(crate) fn len(&self) -> usize {
        self.block.len() - self.at
    }

    pub(crate) fn next(&mut self, styles: &mut Styles, graphemes: &mut Graphemes) -> Option<Row> {
        (self.at < self.block.len()).then(|| {
            self.at += 1;
            StoredRow::new(&self.block, self.at - 1).to_row(styles, graphemes)
        })
    }
}
