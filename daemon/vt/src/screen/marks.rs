//! Marks: where in the rows prompts, command lines, output and a command's end are.
//!
//! A mark stands on a row's id (`Scrollback::pushed` and the row on the screen together), which the
//! row keeps while it scrolls. `reflow` moves marks with their characters. Scrolling inside margins
//! leaves them where they are: shells do not do that.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Most marks that are kept; the oldest goes first. Four a command: what 2,000 commands leave, and
/// at 24 bytes each under 200 KiB.
pub(crate) const MAX_MARKS: usize = 8_192;

/// What is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// OSC 133;A: the prompt begins.
    PromptStart,
    /// OSC 133;B: the prompt ends, what is typed follows.
    PromptEnd,
    /// OSC 133;C: the command's output follows.
    OutputStart,
    /// OSC 133;D: the command has ended, with this exit code where it was said.
    CommandEnd(Option<i32>),
    /// A picture begins here: sixel, `ReGIS` or kitty's. It is not drawn.
    Picture,
}

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What.
    pub kind: MarkKind,
    /// The row's id.
    pub row: u64,
    /// The column, from 0; the number of columns where the cursor's wrap was pending.
    pub col: usize,
}

/// The marks, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    marks: VecDeque<Mark>,
}

impl Marks {
    /// Adds one. The oldest row that is kept is needed to forget marks on rows that are not.
    pub(crate) fn add(&mut self, mark: Mark, oldest: u64) {
        self.forget_before(oldest);
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back(mark);
    }

    /// Forgets marks on rows before this one.
    pub(crate) fn forget_before(&mut self, oldest: u64) {
        while self.marks.front().is_some_and(|mark| mark.row < oldest) {
            self.marks.pop_front();
        }
    }

    /// Those on rows from `oldest` on.
    pub(crate) fn since(&self, oldest: u64) -> impl DoubleEndedIterator<Item = &Mark> {
        self.marks.iter().filter(move |mark| mark.row >= oldest)
    }

    /// All, to move.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Mark> {
        self.marks.iter_mut()
    }

    /// Keeps those only.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Mark) -> bool) {
        self.marks.retain(keep);
    }

    /// How many are held.
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }
}
