//! The last lines of the output as plain text.

use termd_proto::Offset;
use termd_vt::plain::{PlainSize, PlainText, Screen, Styles, Until};

use super::offload;
use super::plain_resolver::screen_before;
use super::raw_tail::MAX_LINE_SEARCH_BYTES;
use super::tail_cache::{FIRST_SLACK_BYTES, INLINE_BYTES, TailCache, WIDEN, raw_offset};
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// Most text that is looked through, in bytes.
const MAX_TEXT_BYTES: usize = 16 << 20;

/// The end of the output as lines of plain text.
#[derive(Debug, Clone)]
pub(crate) struct LastLines {
    /// The raw offset at which the first of the lines begins.
    pub(crate) start: Offset,
    pub(crate) text: String,
    /// The resolver that gave the text.
    pub(crate) plain: PlainText,
    is_enough: bool,
}

/// The last `lines` lines before `end`, a last line without its newline counted; from
/// [`MAX_LINE_SEARCH_BYTES`] back at most.
pub(crate) async fn last_lines(
    transcript: &Transcript,
    end: Offset,
    lines: u64,
    size: PlainSize,
    styles: Styles,
) -> Result<LastLines, TranscriptError> {
    let mut length = FIRST_SLACK_BYTES;
    loop {
        let from = end.back(length.min(MAX_LINE_SEARCH_BYTES));
        let span = transcript.read_range(from, end).await?;
        let screen = screen_before(transcript, span.start, &span.bytes).await?;
        // Output before the span is gone.
        let is_all = span.start > from;
        let work = move || lines_of(&span.bytes, span.start, screen, (size, styles), lines);
        let found = offload::run(end.since(from) > INLINE_BYTES as u64, work).await?;
        if found.is_enough || is_all || from == Offset::ZERO || length >= MAX_LINE_SEARCH_BYTES {
            return Ok(found);
        }
        length = length.saturating_mul(WIDEN);
    }
}

fn lines_of(
    raw: &[u8],
    start: Offset,
    screen: Screen,
    (size, styles): (PlainSize, Styles),
    lines: u64,
) -> LastLines {
    let mut tail = TailCache::begin(size, start.0, screen);
    tail.plain = tail.plain.with_every_anchor().with_styles(styles);
    tail.feed(raw, MAX_TEXT_BYTES);
    tail.plain.give(Until::Settled);
    tail.drain(MAX_TEXT_BYTES);
    let text = &tail.text;
    let wanted = usize::try_from(lines).unwrap_or(usize::MAX);
    let body = text.strip_suffix('\n').unwrap_or(text);
    let found = match wanted.checked_sub(1) {
        None => Some(text.len()),
        Some(newlines) => body
            .rmatch_indices('\n')
            .nth(newlines)
            .map(|(newline, _)| newline + 1),
    };
    let at = found.unwrap_or(0);
    let end = tail.plain.end();
    let begins = match found {
        None if tail.text_start == 0 => start.0,
        _ => {
            let anchors = tail.anchors.iter().copied();
            raw_offset(anchors, tail.text_start + at, start.0, end)
        }
    };
    LastLines {
        start: Offset(begins),
        text: text.get(at..).unwrap_or_default().to_owned(),
        is_enough: found.is_some() || tail.text_start > 0,
        plain: tail.plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_counted_in_plain_text() {
        const SIZE: PlainSize = PlainSize { cols: 40, rows: 6 };
        let raw = b"one\r\n10%\r20%\r100%\r\n\x1b[1mthree\x1b[m\r\nfo";
        for (lines, text, start) in [
            (0, "", 35),
            (1, "fo", 33),
            (2, "three\nfo", 19),
            (3, "100%\nthree\nfo", 5),
            (4, "one\n100%\nthree\nfo", 0),
            (9, "one\n100%\nthree\nfo", 0),
        ] {
            let found = lines_of(
                raw,
                Offset::ZERO,
                Screen::Primary,
                (SIZE, Styles::Dropped),
                lines,
            );
            assert_eq!((&*found.text, found.start.0), (text, start), "{lines}");
            assert_eq!(found.is_enough, lines < 4, "{lines}");
        }
    }
}
