//! The rows in memory: those of blocks that follow each other, around what is shown. Pure.
//!
//! Rows are numbered from where one began to look, up and down.

use std::collections::VecDeque;

use termd_proto::Offset;

use super::block::Block;
use super::direction::Direction;
use super::reader::Place;

/// Blocks that stay in memory, wherever they are. More do while they are near what is shown.
const NEAR_BLOCKS: usize = 4;

/// Blocks, in order. Without any until the first one is read.
#[derive(Debug)]
pub(super) struct Rows {
    /// All output.
    range: (Offset, Offset),
    blocks: VecDeque<Block>,
}

impl Rows {
    /// No rows yet of this output.
    pub(super) fn of(range: (Offset, Offset)) -> Self {
        Self {
            range,
            blocks: VecDeque::new(),
        }
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The number of the first row.
    pub(super) fn first(&self) -> i64 {
        self.blocks.front().map_or(0, |first| first.first)
    }

    /// The number of the row behind the last one.
    pub(super) fn behind(&self) -> i64 {
        self.blocks.back().map_or(0, Block::behind)
    }

    pub(super) fn has(&self, row: i64) -> bool {
        self.blocks.iter().any(|block| block.has(row))
    }

    /// Whether the first row of all output is there.
    pub(super) fn has_start(&self) -> bool {
        (self.blocks.front()).is_some_and(|first| self.next(first, Direction::Up).is_none())
    }

    /// Whether the last row of all output is there.
    pub(super) fn has_end(&self) -> bool {
        (self.blocks.back()).is_some_and(|last| self.next(last, Direction::Down).is_none())
    }

    /// The block with the first row of all output.
    pub(super) fn start(&self) -> Place {
        Place::From(self.range.0)
    }

    /// The block with the last row of all output.
    pub(super) fn end(&self) -> Place {
        Place::Before(self.range.1)
    }

    /// The last block in a direction.
    pub(super) fn outermost(&self, direction: Direction) -> Option<&Block> {
        match direction {
            Direction::Up => self.blocks.front(),
            Direction::Down => self.blocks.back(),
        }
    }

    /// The block beside another one, if there is more output there.
    pub(super) fn next(&self, beside: &Block, direction: Direction) -> Option<Place> {
        match direction {
            Direction::Up => (beside.start > self.range.0).then_some(Place::Before(beside.start)),
            Direction::Down => (beside.end < self.range.1).then_some(Place::From(beside.end)),
        }
    }

    /// Goes elsewhere: this block alone.
    pub(super) fn replace(&mut self, block: Block) {
        self.blocks = VecDeque::from([block]);
    }

    /// Puts a block at an end. `far`: blocks at the other end that begin beyond this row may go.
    pub(super) fn put(&mut self, mut block: Block, direction: Direction, far: i64) {
        block.number_beside(self.outermost(direction), direction);
        match direction {
            Direction::Up => {
                match self.blocks.front_mut() {
                    // Output that drew on the alternate screen alone has no rows.
                    Some(first) if block.is_empty() => first.start = block.start,
                    _ => self.blocks.push_front(block),
                }
                while self.blocks.len() > NEAR_BLOCKS
                    && self.blocks.back().is_some_and(|last| last.first > far)
                {
                    self.blocks.pop_back();
                }
            }
            Direction::Down => {
                match self.blocks.back_mut() {
                    Some(last) if block.is_empty() => last.end = block.end,
                    _ => self.blocks.push_back(block),
                }
                while self.blocks.len() > NEAR_BLOCKS
                    && (self.blocks.front()).is_some_and(|first| first.behind() < far)
                {
                    self.blocks.pop_front();
                }
            }
        }
    }

    /// How far through the output a place in it is, in percent.
    pub(super) fn percent(&self, at: Offset) -> u64 {
        let (start, end) = self.range;
        at.since(start).saturating_mul(100) / end.since(start).max(1)
    }

    /// How far through the output a row is, about, in percent.
    pub(super) fn percent_of_row(&self, row: i64) -> u64 {
        if self.has_end() && row + 1 >= self.behind() {
            return 100;
        }
        let block = self.blocks.iter().find(|block| block.has(row));
        let block = block.or(self.blocks.back());
        let at = block.map_or(self.range.0, |block| block.offset_of(row));
        self.percent(at).min(99)
    }

    /// Rows as one text: a line however many rows it takes. `None` where some are not in memory, or there are
    /// more bytes than `most`.
    pub(super) fn text(&self, (from, to): (i64, i64), most: usize) -> Option<String> {
        if !self.has(from) || !self.has(to) {
            return None;
        }
        let mut text = String::new();
        for block in &self.blocks {
            for row in block.rows(from, to) {
                text.extend(row.runs.iter().map(|run| run.text.as_str()));
                if !row.wrapped {
                    text.truncate(text.trim_end_matches(' ').len());
                    text.push('\n');
                }
                if text.len() > most {
                    return None;
                }
            }
        }
        Some(text)
    }
}
