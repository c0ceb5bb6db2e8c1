//! Output cut into what one stream wrote and what the other did.

use termd_proto::Offset;
use termd_proto::terminal::OutputStream;

use super::stream_map::{StreamBits, StreamRun};
use super::transcript::Span;

/// A piece of output, as a reader of one stream sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamPiece<'a> {
    Own(&'a [u8]),
    /// The length of a piece of the other stream, in bytes.
    Other(u64),
}

/// Cuts a span into pieces. Without a stream, all of it is the reader's own.
pub(crate) fn pieces<'a>(
    span: &'a Span,
    bits: &'a StreamBits,
    stream: Option<OutputStream>,
) -> impl Iterator<Item = StreamPiece<'a>> {
    let whole = StreamPiece::Own(span.bytes.as_slice());
    let both = stream.is_none().then_some(whole);
    let apart = stream.into_iter().flat_map(move |stream| {
        bits.runs(span.start, span.end()).map(move |run| {
            if run.stream == stream {
                StreamPiece::Own(bytes_of(span, run))
            } else {
                StreamPiece::Other(run.end.since(run.start))
            }
        })
    });
    both.into_iter().chain(apart)
}

/// The bytes of a run in its span.
pub(crate) fn bytes_of(span: &Span, run: StreamRun) -> &[u8] {
    let place = |offset: Offset| usize::try_from(offset.since(span.start)).unwrap_or(usize::MAX);
    let range = place(run.start)..place(run.end);
    span.bytes.get(range).unwrap_or_default()
}
