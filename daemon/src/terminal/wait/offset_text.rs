//! Plain text whose rows are known by their raw offsets. Pure.

use std::collections::VecDeque;
use std::ops::Range;

use termd_vt::plain::Output;

/// Text, and the raw offset of each of its rows.
#[derive(Debug, Clone, Default)]
pub(super) struct OffsetText {
    pub(super) text: String,
    /// The index in `text` and the raw offset of each row, ascending.
    pub(super) anchors: VecDeque<(usize, u64)>,
}

impl OffsetText {
    pub(super) fn push(&mut self, out: &Output) {
        let before = self.text.len();
        let anchors = out.anchors.iter();
        (self.anchors).extend(anchors.map(|anchor| (before + anchor.text, anchor.raw)));
        self.text.push_str(&out.text);
    }

    /// The raw offset of the row that an index is in.
    pub(super) fn raw_at(&self, at: usize) -> Option<u64> {
        let index = self.anchors.partition_point(|(text, _)| *text <= at);
        let row = index
            .checked_sub(1)
            .and_then(|index| self.anchors.get(index));
        row.map(|(_, raw)| *raw)
    }

    /// The raw offset of the first row that begins at or after an index.
    pub(super) fn raw_after(&self, at: usize) -> Option<u64> {
        let index = self.anchors.partition_point(|(text, _)| *text < at);
        self.anchors.get(index).map(|(_, raw)| *raw)
    }

    /// Appends a part of another text. `default_raw` is the raw offset where that text knows none.
    pub(super) fn append(&mut self, from: &Self, part: Range<usize>, default_raw: u64) {
        let Some(text) = from.text.get(part.clone()) else {
            return;
        };
        let (before, start) = (self.text.len(), part.start);
        self.anchors
            .push_back((before, from.raw_at(start).unwrap_or(default_raw)));
        let first = from.anchors.partition_point(|(text, _)| *text <= start);
        let inside = from
            .anchors
            .range(first..)
            .take_while(|(text, _)| *text < part.end);
        self.anchors
            .extend(inside.map(|(text, raw)| (text - start + before, *raw)));
        self.text.push_str(text);
    }

    pub(super) fn drop_front(&mut self, bytes: usize) {
        self.text.drain(..bytes);
        while self.anchors.get(1).is_some_and(|(text, _)| *text <= bytes) {
            self.anchors.pop_front();
        }
        for (text, _) in &mut self.anchors {
            *text = text.saturating_sub(bytes);
        }
    }

    /// The size, for [`truncate`](Self::truncate).
    pub(super) fn size(&self) -> (usize, usize) {
        (self.text.len(), self.anchors.len())
    }

    pub(super) fn truncate(&mut self, (bytes, anchors): (usize, usize)) {
        self.text.truncate(bytes);
        self.anchors.truncate(anchors);
    }
}
