//! OffsetText whose places are known in the raw output. Pure.

use std::collections::VecDeque;
use std::ops::Range;

use termd_vt::plain::Output;

/// OffsetText, and which raw offset its rows began at.
#[derive(Debug, Clone, Default)]
pub(super) struct OffsetText {
    pub(super) text: String,
    /// Ascending places in `text`, and the raw offset there.
    pub(super) anchors: VecDeque<(usize, u64)>,
}

impl OffsetText {
    pub(super) fn push(&mut self, out: &Output) {
        let before = self.text.len();
        let anchors = out.anchors.iter();
        (self.anchors).extend(anchors.map(|anchor| (before + anchor.text, anchor.raw)));
        self.text.push_str(&out.text);
    }

    /// The raw offset of a place: that of the row it is in.
    pub(super) fn raw_at(&self, at: usize) -> Option<u64> {
        let index = self.anchors.partition_point(|(text, _)| *text <= at);
        let row = index
            .checked_sub(1)
            .and_then(|index| self.anchors.get(index));
        row.map(|(_, raw)| *raw)
    }

    /// The raw offset of the first row that begins at or behind a place.
    pub(super) fn raw_behind(&self, at: usize) -> Option<u64> {
        let index = self.anchors.partition_point(|(text, _)| *text < at);
        self.anchors.get(index).map(|(_, raw)| *raw)
    }

    /// Appends a part of another one; `otherwise` is the raw offset where that knows none.
    pub(super) fn append(&mut self, from: &Self, part: Range<usize>, otherwise: u64) {
        let Some(text) = from.text.get(part.clone()) else {
            return;
        };
        let (before, start) = (self.text.len(), part.start);
        self.anchors
            .push_back((before, from.raw_at(start).unwrap_or(otherwise)));
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

    /// How much there is, for [`truncate`](Self::truncate).
    pub(super) fn size(&self) -> (usize, usize) {
        (self.text.len(), self.anchors.len())
    }

    pub(super) fn truncate(&mut self, (bytes, anchors): (usize, usize)) {
        self.text.truncate(bytes);
        self.anchors.truncate(anchors);
    }
}
