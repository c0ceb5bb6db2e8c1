//! Marks: the rows at which prompts, command lines, output and a command's end are.
//!
//! A mark stands on a row's id, which counts from the first row ever printed and which the row
//! keeps while it scrolls. Reflow moves marks with their characters. Scrolling inside margins
//! leaves them where they are, as shells do not scroll so.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The most marks that are kept; the oldest goes first. A command leaves four, so 2,000 commands
/// have theirs, in less than 200 KiB.
pub(crate) const MAX_MARKS: usize = 8_192;

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// OSC 133;A: the prompt begins.
    PromptStart,
    /// OSC 133;B: the prompt ends, and the command line follows.
    PromptEnd,
    /// OSC 133;C: the command's output follows.
    OutputStart,
    /// OSC 133;D: the command has ended, with its exit code if the shell gave it.
    CommandEnd(Option<i32>),
    /// A picture (sixel, `ReGIS`, kitty's or iTerm2's) begins here. It is not drawn.
    Picture,
}

/// A mark on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What is marked.
    pub kind: MarkKind,
    /// The row's id: see [`Model::rows_printed`](crate::Model::rows_printed).
    pub row: u64,
    /// The column, from 0. It is the number of columns where a wrap was pending.
    pub col: usize,
}

/// In the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    marks: VecDeque<Mark>,
}

impl Marks {
    /// Adds a mark. Marks on rows before `oldest`, which are gone, are dropped.
    pub(crate) fn add(&mut self, mark: Mark, oldest: u64) {
        self.forget_before(oldest);
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back(mark);
    }

    /// Drops marks on rows before `oldest`.
    pub(crate) fn forget_before(&mut self, oldest: u64) {
        while self.marks.front().is_some_and(|mark| mark.row < oldest) {
            self.marks.pop_front();
        }
    }

    /// The marks on rows from `oldest` on.
    pub(crate) fn since(&self, oldest: u64) -> impl DoubleEndedIterator<Item = &Mark> {
        self.marks.iter().filter(move |mark| mark.row >= oldest)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Mark> {
        self.marks.iter_mut()
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&Mark) -> bool) {
        self.marks.retain(keep);
    }

    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }
}
