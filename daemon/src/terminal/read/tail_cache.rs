//! The text that `terminal/output` shows, kept between two calls. It is never much longer than the
//! limit.

use std::collections::VecDeque;

use termd_proto::Offset;
use termd_vt::plain::{Anchor, PlainSize, PlainText, Screen, Until};

use super::offload;
use super::plain_resolver::{CONTEXT_BYTES, screen_before};
use super::raw_tail::Tail;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// Output resolved between two cuts of the text, in bytes: a few bytes can make a whole row.
const PART_BYTES: usize = 4 << 10;
/// Text kept beyond a limit before it is cut, in bytes: a part of the limit, and at least this.
const RING_SLACK_BYTES: usize = 64 << 10;
/// Output read at a time, in bytes.
const STEP_BYTES: u64 = 1 << 20;
/// Output that is resolved without a thread of its own, in bytes.
pub(super) const INLINE_BYTES: usize = 128 << 10;
/// How much more output than the limit is resolved at first, in bytes: escape sequences take some.
pub(super) const FIRST_SLACK_BYTES: u64 = 64 << 10;
/// The factor for the next try where that gave too little text.
pub(super) const WIDEN: u64 = 8;

/// The end of the output as plain text, as far as it was resolved.
#[derive(Debug)]
pub(super) struct TailCache {
    pub(super) plain: PlainText,
    /// The end of the text that is final.
    pub(super) text: String,
    /// Ascending. Their `text` counts from the beginning of all text, as `text_start` does.
    pub(super) anchors: VecDeque<Anchor>,
    /// How much text was cut off before `text`, in bytes.
    pub(super) text_start: usize,
    /// The raw offset at which all text began.
    raw_start: u64,
}

impl TailCache {
    pub(super) fn begin(size: PlainSize, offset: u64, screen: Screen) -> Self {
        Self {
            plain: PlainText::at(size, offset, screen),
            text: String::new(),
            anchors: VecDeque::new(),
            text_start: 0,
            raw_start: offset,
        }
    }

    /// Resolves as much of the output before `end` as `limit` bytes of text take.
    pub(super) async fn resolve(
        transcript: &Transcript,
        end: Offset,
        limit: usize,
        size: PlainSize,
    ) -> Result<Self, TranscriptError> {
        let mut length = (limit as u64).saturating_add(FIRST_SLACK_BYTES);
        loop {
            let from = end.back(length);
            let head = end.since(from).min(CONTEXT_BYTES);
            let head = transcript.read(from, head).await?;
            let screen = screen_before(transcript, head.start, &head.bytes).await?;
            let tail = Self::begin(size, head.start.0, screen);
            let tail = tail.extend(transcript, end, limit).await?;
            let dropped_by_retention = head.start > from;
            let found = tail.text.len() + tail.plain.pending().len();
            // More than the limit is needed: the first line may be half a line.
            if found > limit.saturating_add(RING_SLACK_BYTES / 2)
                || from == Offset::ZERO
                || dropped_by_retention
            {
                return Ok(tail);
            }
            length = length.saturating_mul(WIDEN);
        }
    }

    /// Resolves the output up to `end`.
    pub(super) async fn extend(
        mut self,
        transcript: &Transcript,
        end: Offset,
        limit: usize,
    ) -> Result<Self, TranscriptError> {
        while self.plain.fed() < end.0 {
            let from = Offset(self.plain.fed());
            let span = transcript.read_before(from, end, STEP_BYTES).await?;
            if span.bytes.is_empty() {
                break;
            }
            let is_long = span.bytes.len() > INLINE_BYTES;
            let work = move || {
                if span.start > from {
                    // What lies between is not kept.
                    self = Self::begin(self.plain.size(), span.start.0, Screen::Primary);
                }
                self.feed(&span.bytes, limit);
                self
            };
            self = offload::run(is_long, work).await?;
        }
        Ok(self)
    }

    pub(super) fn resize(&mut self, size: PlainSize) {
        if self.plain.size() != size {
            self.plain.resize(size);
        }
    }

    /// Takes a last line that is not ended: nothing follows.
    pub(super) fn finish(&mut self, limit: usize) {
        self.plain.give(Until::Final);
        self.drain(limit);
    }

    pub(super) fn text_len(&self) -> usize {
        self.text.len()
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

    /// The last `limit` bytes of text, and the output that they were made of.
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

/// The raw offset of a place in the text: counted in bytes from the anchor before it, and not past
/// the anchor after it.
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

#[cfg(test)]
mod tests;
