//! The text that `terminal/output` shows, kept between two askings and never longer than a limit
//! and some. Pure: output in, text out.

use std::collections::VecDeque;

use termd_proto::Offset;

use crate::terminal::output::transcript::Tail;
use termd_vt::plain::{Anchor, PlainSize, PlainText, Screen};

/// Output resolved before text beyond the limit is cut: a few bytes can make a whole row of it.
const PART_BYTES: usize = 4 << 10;
/// Text kept beyond a limit before it is cut: a part of the limit, and this at the least.
pub(super) const RING_SLACK_BYTES: usize = 64 << 10;

/// The text that `terminal/output` shows, as far as it was resolved.
#[derive(Debug)]
pub struct Kept {
    pub(super) plain: PlainText,
    /// The end of the text that is final.
    pub(super) text: String,
    /// Ascending; their `text` counts from `text_start`'s zero.
    pub(super) anchors: VecDeque<Anchor>,
    /// How much text was cut off before `text`.
    pub(super) text_start: usize,
    /// The raw offset that it began at.
    pub(super) raw_start: u64,
}

impl Kept {
    pub(super) fn begin(size: PlainSize, offset: u64, screen: Screen) -> Self {
        Self {
            plain: PlainText::at(size, offset, screen),
            text: String::new(),
            anchors: VecDeque::new(),
            text_start: 0,
            raw_start: offset,
        }
    }

    pub(super) fn feed(&mut self, raw: &[u8], limit: usize) {
        for part in raw.chunks(PART_BYTES) {
            self.plain.advance(part);
            self.drain(limit);
        }
    }

    pub(super) fn drain(&mut self, limit: usize) {
        let out = self.plain.take();
        let before = self.text_start + self.text.len();
        self.anchors.extend(out.anchors.iter().map(|anchor| Anchor {
            text: anchor.text + before,
            raw: anchor.raw,
        }));
        self.text.push_str(&out.text);
        let slack = (limit / 4).max(RING_SLACK_BYTES);
        if self.text.len() > limit.saturating_add(slack) {
            let cut = boundary(&self.text, self.text.len() - limit);
            self.text.drain(..cut);
            self.text_start += cut;
            let start = self.text_start;
            while self.anchors.get(1).is_some_and(|next| next.text <= start) {
                self.anchors.pop_front();
            }
        }
    }

    /// The last `limit` bytes of text, and what they were made of.
    pub(super) fn tail(&self, limit: usize) -> Tail {
        let pending = self.plain.pending_output();
        let length = self.text.len() + pending.text.len();
        let end = Offset(self.plain.end());
        let mut cut = length.saturating_sub(limit);
        let mut text = String::with_capacity(length - cut);
        if let Some(beyond) = cut.checked_sub(self.text.len()) {
            let at = boundary(&pending.text, beyond);
            cut = self.text.len() + at;
            text.push_str(pending.text.get(at..).unwrap_or_default());
        } else {
            cut = boundary(&self.text, cut);
            text.push_str(self.text.get(cut..).unwrap_or_default());
            text.push_str(&pending.text);
        }
        let is_cut = cut > 0 || self.text_start > 0;
        let start = if cut == length && is_cut {
            end.0
        } else if is_cut {
            let before = self.text_start + self.text.len();
            let later = pending.anchors.iter().map(|anchor| Anchor {
                text: anchor.text + before,
                raw: anchor.raw,
            });
            let known = self.anchors.iter().copied().chain(later);
            raw_offset(known, self.text_start + cut, self.raw_start, end.0)
        } else {
            self.raw_start
        };
        Tail {
            text,
            start: Offset(start),
            end,
            truncated: is_cut || self.raw_start > 0,
        }
    }
}

/// The raw offset of a place in the text: from the anchor before it on byte by byte, and not past
/// the one after it.
pub(super) fn raw_offset(
    anchors: impl Iterator<Item = Anchor>,
    at: usize,
    start: u64,
    end: u64,
) -> u64 {
    let mut before = Anchor {
        text: 0,
        raw: start,
    };
    let mut most = end;
    for anchor in anchors {
        if anchor.text > at {
            most = anchor.raw;
            break;
        }
        before = anchor;
    }
    let most = most.max(before.raw);
    (before.raw + (at - before.text.min(at)) as u64).min(most)
}

/// The first character boundary at or after this.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}
