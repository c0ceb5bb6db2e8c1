//! The documents in which the index says that a match may be.

use std::collections::VecDeque;

use crate::store::{IndexPlace, IndexQuestion, IndexedDocument, SearchIndex, StoreError};

/// Documents asked from the index at a time. Each has a state of about a kilobyte.
const DOCUMENTS: u32 = 64;

/// Documents in which a match may be, newest first, read as they are needed.
pub(super) struct Candidates<'a> {
    index: &'a SearchIndex,
    question: Option<&'a IndexQuestion>,
    from: IndexPlace,
    /// The number of the oldest terminal.
    oldest: i64,
    waiting: VecDeque<IndexedDocument>,
    is_over: bool,
}

impl<'a> Candidates<'a> {
    /// The documents of these terminals, by their numbers, that a question to the index finds, or all.
    pub(super) fn new(
        index: &'a SearchIndex,
        question: Option<&'a IndexQuestion>,
        newest: i64,
        oldest: i64,
    ) -> Self {
        Self {
            index,
            question,
            from: IndexPlace::newest_of(newest.min(i64::MAX >> 32)),
            oldest,
            waiting: VecDeque::new(),
            is_over: false,
        }
    }

    pub(super) fn index(&self) -> &'a SearchIndex {
        self.index
    }

    /// The next document of this terminal; those of newer ones are passed over.
    pub(super) async fn next_of(
        &mut self,
        terminal: i64,
    ) -> Result<Option<IndexedDocument>, StoreError> {
        loop {
            if self.waiting.is_empty() && !self.is_over {
                let found = (self.index)
                    .documents(self.question, self.from, self.oldest, DOCUMENTS)
                    .await?;
                self.is_over = found.len() < DOCUMENTS as usize;
                if let Some(last) = found.last() {
                    self.from = last.before();
                }
                self.waiting.extend(found);
            }
            match self.waiting.front().map(|document| document.terminal) {
                Some(other) if other > terminal => {
                    self.waiting.pop_front();
                }
                Some(other) if other == terminal => return Ok(self.waiting.pop_front()),
                _ => return Ok(None),
            }
        }
    }
}
