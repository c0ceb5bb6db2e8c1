//! A search through blocks of output, some rows at a time. Pure.

use std::collections::VecDeque;

use regex::Regex;

use super::block::{Block, Line};
use super::direction::Direction;
use super::reader::Place;
use super::rows::Rows;

/// Rows that are looked at between two looks at the keyboard.
const STEP_ROWS: i64 = 5_000;

/// A search that is under way.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) pattern: Regex,
    pub(super) direction: Direction,
    /// The row that is looked at next.
    at: i64,
    /// A block beyond those that are shown.
    pub(super) beyond: Option<Block>,
    /// Where the search goes on from each match: `n` and `N` that were typed ahead.
    pub(super) again: VecDeque<Direction>,
}

/// What a step of a search has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Found(i64),
    Unfinished,
    /// This block is looked through next.
    Needs(Place),
    NotFound,
}

impl Search {
    /// A search that begins beside a row.
    pub(super) fn new(pattern: Regex, direction: Direction, beside: i64) -> Self {
        Self {
            pattern,
            direction,
            at: direction.next_to(beside),
            beyond: None,
            again: VecDeque::new(),
        }
    }

    /// The same, from another row on.
    pub(super) fn beside(self, row: i64) -> Self {
        Self {
            at: self.direction.next_to(row),
            beyond: None,
            ..self
        }
    }

    /// Goes on from a match, where that was typed ahead.
    pub(super) fn go_on_from(mut self, row: i64) -> Option<Self> {
        self.direction = self.again.pop_front()?;
        Some(self.beside(row))
    }

    /// Looks at some rows.
    pub(super) fn step(&mut self, shown: &Rows) -> Step {
        let mut all = shown.blocks().chain(&self.beyond);
        let Some(block) = all.find(|block| block.has(self.at)) else {
            return self.needs(shown);
        };
        let (from, to) = match self.direction {
            Direction::Up => ((self.at - STEP_ROWS + 1).max(block.first), self.at),
            Direction::Down => (self.at, (self.at + STEP_ROWS - 1).min(block.behind() - 1)),
        };
        let lines = block.lines(from, to);
        let mut rows = lines.iter().flat_map(|line| matches(&self.pattern, line));
        let found = match self.direction {
            Direction::Up => rows.filter(|row| (from..=to).contains(row)).last(),
            Direction::Down => rows.find(|row| (from..=to).contains(row)),
        };
        self.at = match self.direction {
            Direction::Up => from - 1,
            Direction::Down => to + 1,
        };
        found.map_or(Step::Unfinished, Step::Found)
    }

    /// A block beyond those that are shown.
    pub(super) fn take(&mut self, mut block: Block, shown: &Rows) {
        block.number_beside(self.last(shown), self.direction);
        self.beyond = Some(block);
    }

    /// The block that the next step needs; where it needs none, whether there are more rows to look at.
    pub(super) fn needs(&self, shown: &Rows) -> Step {
        if shown
            .blocks()
            .chain(&self.beyond)
            .any(|block| block.has(self.at))
        {
            return Step::Unfinished;
        }
        let last = self.last(shown);
        let next = last.and_then(|last| shown.next(last, self.direction));
        next.map_or(Step::NotFound, Step::Needs)
    }

    /// The last block that has been read in this direction.
    fn last<'a>(&'a self, shown: &'a Rows) -> Option<&'a Block> {
        self.beyond.as_ref().or(shown.outermost(self.direction))
    }
}

/// The rows in which a match begins.
fn matches<'a>(pattern: &'a Regex, line: &'a Line) -> impl Iterator<Item = i64> + 'a {
    pattern
        .find_iter(line.text.trim_end())
        .map(|found| line.row_at(found.start()))
}
