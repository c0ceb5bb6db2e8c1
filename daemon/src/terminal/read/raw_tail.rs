//! The end of the output as text with its escape sequences, and where its last lines begin.

use termd_proto::Offset;

use super::offload;
use super::text::{Completeness, LineEnds, StartsAt, render};
use super::unfiltered::Unfiltered;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// How far back a search for lines goes, in bytes: output without newlines is not read whole.
pub(crate) const MAX_LINE_SEARCH_BYTES: u64 = 16 << 20;
/// Bytes read at a time in that search.
const LINE_SEARCH_STEP_BYTES: u64 = 64 << 10;
/// Bytes of text that are rendered without a thread of their own.
const INLINE_RENDER_BYTES: usize = 256 << 10;

/// The end of the output as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    pub text: String,
    /// The offset of the first byte in the text.
    pub start: Offset,
    /// The offset after the last byte in the text.
    pub end: Offset,
    /// Whether there is text before it.
    pub truncated: bool,
}

/// The last `limit` bytes of text before `end`: escape sequences as they came, line ends as the
/// program wrote them.
pub async fn raw_tail(
    transcript: &Transcript,
    end: Offset,
    limit: u64,
    completeness: Completeness,
) -> Result<Unfiltered<Tail>, TranscriptError> {
    let limit_bytes = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut from = end.back(limit);
    loop {
        let span = transcript.read_range(from, end).await?;
        let starts_at = if span.start == Offset::ZERO {
            StartsAt::Character
        } else {
            StartsAt::AnyByte
        };
        let (start, length) = (span.start, span.bytes.len());
        let work = move || {
            let ends = LineEnds::Fold;
            render(&span.bytes, starts_at, completeness, ends, limit_bytes)
        };
        let rendered = offload::run(length > INLINE_RENDER_BYTES, work).await?;
        let missing = limit_bytes.saturating_sub(rendered.text.len()) as u64;
        let dropped_by_retention = start > from;
        if missing == 0 || from == Offset::ZERO || dropped_by_retention || length == 0 {
            return Ok(Unfiltered::new(Tail {
                text: rendered.text,
                start: start + rendered.start as u64,
                end: start + rendered.end as u64,
                truncated: start.0 + rendered.start as u64 > 0,
            }));
        }
        // Folding line ends made the text shorter than its bytes.
        from = from.back(missing * 2 + LINE_SEARCH_STEP_BYTES);
    }
}

/// Where the last `lines` lines before `end` begin. A last line without its newline counts.
pub(crate) async fn line_start(
    transcript: &Transcript,
    end: Offset,
    lines: u64,
) -> Result<Offset, TranscriptError> {
    if lines == 0 {
        return Ok(end);
    }
    let floor = end.back(MAX_LINE_SEARCH_BYTES);
    let mut wanted = lines;
    let mut to = end;
    while to > floor {
        let from = to.back(LINE_SEARCH_STEP_BYTES).max(floor);
        let span = transcript.read_range(from, to).await?;
        for at in memchr::memrchr_iter(b'\n', &span.bytes) {
            let after = span.start + at as u64 + 1;
            if after == end {
                continue;
            }
            wanted -= 1;
            if wanted == 0 {
                return Ok(after);
            }
        }
        if span.start > from || span.bytes.is_empty() {
            return Ok(span.start);
        }
        to = from;
    }
    Ok(floor)
}
