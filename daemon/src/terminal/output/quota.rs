//! Which of a terminal's output the database keeps: the head, the tail, and the list of what lies
//! between and is gone. Pure.
//!
//! Promises: what a quota lets go is whole blocks, never one of the head and never the newest; gaps
//! are in order, apart from each other, and no more than [`MAX_GAPS`]. It must not know who stores
//! what when.

use termd_proto::Offset;
use termd_proto::terminal::{DiskLimit, Gap};

use crate::store::BLOCK_BYTES;

const BLOCK: u64 = BLOCK_BYTES as u64;
/// The head is this part of a quota: how something began explains what went wrong more often than
/// its middle does, and the end more often still.
pub const HEAD_PART: u64 = 4;
/// Gaps of one terminal. Each is a time in which the disk was short of room; of more, the two that
/// are nearest to each other become one.
pub const MAX_GAPS: usize = 64;
/// At the most so much more than is needed is let go at a time: each time is a transaction's work.
const MAX_GRAIN_BYTES: u64 = 1 << 20;

/// How much of a terminal's output is kept, in bytes of output, and which limit says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes.
    pub bytes: u64,
    /// The limit.
    pub limit: DiskLimit,
}

impl Quota {
    /// Bytes at the start that stay: whole blocks.
    pub fn head(self) -> u64 {
        let part = self.bytes / HEAD_PART;
        (part - part % BLOCK).max(BLOCK)
    }

    /// Bytes at the end that may stay.
    pub fn tail(self) -> u64 {
        self.bytes.saturating_sub(self.head())
    }

    fn grain(self) -> u64 {
        let part = self.tail() / 8;
        (part - part % BLOCK).clamp(BLOCK, MAX_GRAIN_BYTES)
    }

    /// What is to go, where the output is stored up to `stored`; `None`: it is within the quota.
    pub fn middle(self, stored: Offset, gaps: &Gaps) -> Option<Gap> {
        let head = Offset(self.head());
        // What is gone behind the head already.
        let gone = gaps.touching(head).map_or(head, |gap| gap.end.max(head));
        if stored.since(gone) <= self.tail() {
            return None;
        }
        let reach = stored.back(self.tail().saturating_sub(self.grain())).0;
        let end = Offset(reach - reach % BLOCK);
        (end > gone).then_some(Gap {
            start: head,
            end,
            cause: self.limit.into(),
        })
    }
}

/// Output that is not kept: in order, and with something between each two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps(Vec<Gap>);

impl Gaps {
    /// Those of a list in any order.
    pub fn of(gaps: impl IntoIterator<Item = Gap>) -> Self {
        let mut all = Self::default();
        for gap in gaps {
            all.add(gap);
        }
        all
    }

    /// All of them.
    pub fn all(&self) -> &[Gap] {
        &self.0
    }

    /// Bytes in them.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|gap| gap.end.since(gap.start)).sum()
    }

    /// The one that holds this offset, or ends there.
    fn touching(&self, offset: Offset) -> Option<&Gap> {
        let touches = |gap: &&Gap| gap.start <= offset && offset <= gap.end;
        self.0.iter().find(touches)
    }

    /// The first that holds bytes from `from` on and before `to`.
    pub fn first_within(&self, from: Offset, to: Offset) -> Option<Gap> {
        let meets = |gap: &&Gap| from < gap.end && gap.start < to && from < to;
        self.0.iter().find(meets).copied()
    }

    /// Adds one; gives what it has become together with those that it touches. The newest cause
    /// holds for all of it.
    pub fn add(&mut self, gap: Gap) -> Gap {
        if gap.end <= gap.start {
            return gap;
        }
        let whole = self.absorb(gap);
        if self.0.len() <= MAX_GAPS {
            return whole;
        }
        let apart = |pair: &[Gap]| match pair {
            [one, next] => next.start.since(one.end),
            _ => u64::MAX,
        };
        let nearest = self.0.windows(2).min_by_key(|pair| apart(pair));
        let joined = match nearest {
            Some([one, next]) => Gap {
                end: next.end,
                ..*one
            },
            _ => return whole,
        };
        self.absorb(joined)
    }

    fn absorb(&mut self, gap: Gap) -> Gap {
        let mut whole = gap;
        self.0.retain(|old| {
            let is_apart = old.end < gap.start || gap.end < old.start;
            if !is_apart {
                whole.start = whole.start.min(old.start);
                whole.end = whole.end.max(old.end);
            }
            is_apart
        });
        let at = self.0.partition_point(|old| old.start < whole.start);
        self.0.insert(at, whole);
        whole
    }
}

/// Up to which size each is cut so that all together are `total` at the most: those below it stay.
/// `None`: they are.
pub fn level(sizes: &[u64], total: u64) -> Option<u64> {
    if sizes.iter().sum::<u64>() <= total {
        return None;
    }
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    let (mut left, mut count) = (total, sizes.len() as u64);
    for size in sizes {
        if size > left / count {
            break;
        }
        left -= size;
        count -= 1;
    }
    Some(left / count.max(1))
}

#[cfg(test)]
mod tests;
