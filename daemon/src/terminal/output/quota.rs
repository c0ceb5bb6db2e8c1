//! Which output of a terminal the database keeps under a quota: the head, the tail, and a list of the
//! gaps. Pure.
//!
//! A quota drops whole blocks, never the head and never the newest. Gaps are in order, apart from each
//! other, and at most [`MAX_GAPS`].

use termd_proto::Offset;
use termd_proto::terminal::{DiskLimit, Gap};

use crate::store::BLOCK_BYTES;

const BLOCK: u64 = BLOCK_BYTES as u64;
/// The head is this part of a quota. The beginning of output explains a failure more often than the
/// middle, and the end more often still.
pub const HEAD_PART: u64 = 4;
/// Most gaps of one terminal. Each is a time in which the disk was full. With more, the two nearest
/// gaps are joined.
pub const MAX_GAPS: usize = 64;
/// Most bytes dropped beyond what is needed: each drop is a transaction.
const MAX_GRAIN_BYTES: u64 = 1 << 20;

/// How much of a terminal's output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub bytes: u64,
    /// The limit that sets this quota.
    pub limit: DiskLimit,
}

impl Quota {
    /// Bytes kept at the start: whole blocks.
    pub fn head(self) -> u64 {
        let part = self.bytes / HEAD_PART;
        (part - part % BLOCK).max(BLOCK)
    }

    /// Bytes kept at the end.
    pub fn tail(self) -> u64 {
        self.bytes.saturating_sub(self.head())
    }

    fn grain(self) -> u64 {
        let part = self.tail() / 8;
        (part - part % BLOCK).clamp(BLOCK, MAX_GRAIN_BYTES)
    }

    /// The range to drop where the output is stored up to `stored`; `None` within the quota.
    pub fn middle(self, stored: Offset, gaps: &Gaps) -> Option<Gap> {
        let head = Offset(self.head());
        // What is dropped after the head already.
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

/// Output that is not kept: gaps in order, with output between each two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps(Vec<Gap>);

impl Gaps {
    /// The gaps of a list in any order.
    pub fn of(gaps: impl IntoIterator<Item = Gap>) -> Self {
        let mut all = Self::default();
        for gap in gaps {
            all.add(gap);
        }
        all
    }

    pub fn all(&self) -> &[Gap] {
        &self.0
    }

    /// How many bytes are in the gaps.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|gap| gap.end.since(gap.start)).sum()
    }

    /// The gap that holds this offset, or ends there.
    fn touching(&self, offset: Offset) -> Option<&Gap> {
        let touches = |gap: &&Gap| gap.start <= offset && offset <= gap.end;
        self.0.iter().find(touches)
    }

    /// The first gap with bytes between `from` and `to`.
    pub fn first_within(&self, from: Offset, to: Offset) -> Option<Gap> {
        let meets = |gap: &&Gap| from < gap.end && gap.start < to && from < to;
        self.0.iter().find(meets).copied()
    }

    /// Adds a gap, joined with those that it touches, and returns the joined one. It has the newest
    /// cause.
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

/// The size that each is cut to so that all sizes sum up to at most `total`; smaller ones stay. `None`
/// if they do already.
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
