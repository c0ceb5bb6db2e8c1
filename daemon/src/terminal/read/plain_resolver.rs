//! Resolvers of plain text that go on at an offset, made anew from the output before it.

use termd_proto::Offset;
use termd_proto::terminal::OutputStream;
use termd_vt::plain::{PlainSize, PlainText, Screen, Styles, first_switch, last_switch};

use crate::terminal::output::stream_pieces::{StreamPiece, pieces};
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// Output that a resolver is made from: many screens of text, some of redraws.
pub(super) const CONTEXT_BYTES: u64 = 32 << 10;
/// How far back a switch of screens is looked for. A full-screen program that has printed more since
/// its switch is taken for lines until it ends.
const SCREEN_SEARCH_BYTES: u64 = 1 << 20;

/// A resolver that has given what stands before this offset, and was fed nothing after it.
pub(crate) async fn resolver_at(
    transcript: &Transcript,
    since: Offset,
    size: PlainSize,
    styles: Styles,
) -> Result<PlainText, TranscriptError> {
    resolver_within(transcript, (Offset::ZERO, since), size, styles).await
}

/// [`resolver_at`] for output that begins at `first`, on the primary screen: nothing before it counts.
pub(crate) async fn resolver_within(
    transcript: &Transcript,
    (first, since): (Offset, Offset),
    size: PlainSize,
    styles: Styles,
) -> Result<PlainText, TranscriptError> {
    if since <= first {
        return Ok(PlainText::at(size, since.0, Screen::Primary).with_styles(styles));
    }
    let from = since.back(CONTEXT_BYTES).max(first);
    let span = transcript.read_range(from, since).await?;
    // What stands before a gap does not go on after it.
    let raw = if span.end() < since {
        &[]
    } else {
        span.bytes.as_slice()
    };
    // Whole lines, where there are any.
    let cut = match memchr::memchr(b'\n', raw) {
        Some(newline) if span.start > first => newline + 1,
        _ => 0,
    };
    let screen = if span.start > first {
        screen_before(transcript, span.start, raw).await?
    } else {
        Screen::Primary
    };
    let head = last_switch(raw.get(..cut).unwrap_or_default()).unwrap_or(screen);
    let raw = raw.get(cut..).unwrap_or_default();
    let start = since.back(raw.len() as u64);
    let plain = PlainText::at(size, start.0, head).with_styles(styles);
    Ok(plain.resumed(|plain| plain.advance(raw)))
}

/// [`resolver_at`] for one stream. Full-screen programs do not write to pipes.
pub(super) async fn stream_resolver_at(
    transcript: &Transcript,
    since: Offset,
    size: PlainSize,
    stream: OutputStream,
    styles: Styles,
) -> Result<PlainText, TranscriptError> {
    let parts = transcript.parts(since.back(CONTEXT_BYTES), since).await?;
    let start = parts.first().map_or(since, |(span, _)| span.start);
    let mut in_line = start > Offset::ZERO;
    let feed = |plain: &mut PlainText| {
        for (span, bits) in &parts {
            for piece in pieces(span, bits, Some(stream)) {
                match piece {
                    StreamPiece::Other(length) => plain.skip(length),
                    StreamPiece::Own(bytes) if in_line => {
                        let newline = memchr::memchr(b'\n', bytes);
                        let cut = newline.map_or(bytes.len(), |newline| newline + 1);
                        in_line = newline.is_none();
                        plain.skip(cut as u64);
                        plain.advance(bytes.get(cut..).unwrap_or_default());
                    }
                    StreamPiece::Own(bytes) => plain.advance(bytes),
                }
            }
        }
    };
    let plain = PlainText::at(size, start.0, Screen::Primary).with_styles(styles);
    Ok(plain.resumed(feed))
}

/// Which screen was on at `start`, where the output from there on is `raw`.
pub(super) async fn screen_before(
    transcript: &Transcript,
    start: Offset,
    raw: &[u8],
) -> Result<Screen, TranscriptError> {
    if start == Offset::ZERO {
        return Ok(Screen::Primary);
    }
    match first_switch(raw) {
        Some(Screen::Primary) => return Ok(Screen::Alternate),
        Some(Screen::Alternate) => return Ok(Screen::Primary),
        None => {}
    }
    let from = start.back(SCREEN_SEARCH_BYTES);
    let before = transcript.read_range(from, start).await?;
    Ok(last_switch(&before.bytes).unwrap_or_default())
}
