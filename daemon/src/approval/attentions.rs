//! What agents want of their person, as they have said last. Pure.

use std::collections::VecDeque;

use termd_proto::attention::AttentionReport;

/// How many are kept: as many as a person looks back at.
const MAX_KEPT: usize = 32;

/// The last ones, oldest first.
#[derive(Debug, Default)]
pub(super) struct Attentions {
    last: VecDeque<AttentionReport>,
    count: u64,
}

impl Attentions {
    /// Adds one, which gets its number.
    pub(super) fn add(&mut self, attention: AttentionReport) {
        self.count += 1;
        if self.last.len() == MAX_KEPT {
            self.last.pop_front();
        }
        let number = self.count;
        self.last.push_back(AttentionReport {
            number,
            ..attention
        });
    }

    pub(super) fn list(&self) -> Vec<AttentionReport> {
        self.last.iter().cloned().collect()
    }
}
