//! `session.read` of one stream: what a command on pipes wrote to standard output, or to standard
//! error, alone. Offsets stay the transcript's, in which both lie as they came.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::Offset;
use termd_proto::terminal::{Encoding, OutputStream, ReadFrom, ReadResult};
use tokio::time::Instant;

use super::options::ReadOptions;
use super::text::{Completeness, Front, LineEnds, render};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::stream_map::{OriginMap, Run};
use crate::terminal::output::transcript::{
    MAX_LINE_SEARCH_BYTES, Span, Transcript, TranscriptError,
};

/// How much is looked at in one step, in bytes.
const STEP_BYTES: u64 = 64 << 10;
/// How much of the other stream one call goes through in search of a first byte: it answers then,
/// and says from where to go on.
pub(crate) const MAX_SEARCH_BYTES: u64 = 16 << 20;

/// A part of some output, as a reader of one stream sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Its own.
    Wanted(&'a [u8]),
    /// So many bytes of the other.
    Other(u64),
}

/// The parts of a span; without a stream, all of it is wanted.
pub(crate) fn pieces<'a>(
    span: &'a Span,
    map: &'a OriginMap,
    stream: Option<OutputStream>,
) -> impl Iterator<Item = Piece<'a>> {
    let whole = Piece::Wanted(span.bytes.as_slice());
    let both = stream.is_none().then_some(whole);
    let apart = stream.into_iter().flat_map(move |stream| {
        map.runs(span.start, span.end()).map(move |run| {
            if run.stream == stream {
                Piece::Wanted(of_run(span, run))
            } else {
                Piece::Other(run.end.since(run.start))
            }
        })
    });
    both.into_iter().chain(apart)
}

fn of_run(span: &Span, run: Run) -> &[u8] {
    let place = |offset: Offset| usize::try_from(offset.since(span.start)).unwrap_or(usize::MAX);
    let range = place(run.start)..place(run.end);
    span.bytes.get(range).unwrap_or_default()
}

/// Reads the exact bytes, or the text as it came, of one stream; `max` bounds it, in bytes.
pub(crate) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    stream: OutputStream,
    max: u64,
) -> Result<ReadResult, TerminalError> {
    let transcript = &terminal.transcript;
    let last = terminal.end();
    let since = match options.from {
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => transcript.back_to(stream, last, Back::Bytes(bytes)).await?,
        ReadFrom::TailLines(lines) => transcript.back_to(stream, last, Back::Lines(lines)).await?,
    };
    let deadline = options
        .wait_ms
        .map(|wait_ms| Instant::now() + Duration::from_millis(wait_ms));
    let (mut start, mut from) = (None, since);
    loop {
        // Before the bytes: whoever is told of the exit has been told of all output.
        let progress = terminal.progress();
        let state = terminal.state();
        let end = options
            .until
            .map_or(progress.end, |until| until.min(progress.end));
        let mut found = transcript.gather(stream, from, end, max).await?;
        if let Some(lines) = options.max_lines {
            found.cut_after_lines(lines);
        }
        let start = *start.get_or_insert(found.start);
        let is_last = progress.exit.is_some() && found.seen >= end;
        let (text, data, taken) = written(&found.bytes, options.encoding, is_last);
        let at_end = found.seen >= end;
        let result = ReadResult {
            text,
            data,
            start,
            gap: None,
            end: found.offset_of(taken),
            at_end,
            state,
            exit_status: progress.exit.as_ref().and_then(|exit| exit.status.clone()),
        };
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match left {
            // Nothing, or only the beginning of a character: wait until there is more than that.
            Some(left) if taken == 0 && !is_last && !left.is_zero() => {
                from = result.end;
                terminal.wait_for_output(found.seen, left).await;
            }
            _ => return Ok(result),
        }
    }
}

/// The bytes as the encoding says, and how many of them are in it.
fn written(
    bytes: &[u8],
    encoding: Encoding,
    is_last: bool,
) -> (Option<String>, Option<String>, usize) {
    if encoding == Encoding::Base64 {
        return (None, Some(BASE64.encode(bytes)), bytes.len());
    }
    let completeness = if is_last {
        Completeness::Final
    } else {
        Completeness::MayGrow
    };
    let rendered = render(
        bytes,
        Front::Whole,
        completeness,
        LineEnds::Keep,
        usize::MAX,
    );
    (Some(rendered.text), None, rendered.end)
}

/// Bytes of one stream, and where they lie.
struct Gathered {
    bytes: Vec<u8>,
    /// Where in `bytes` each run begins, and its offset.
    runs: Vec<(usize, Offset)>,
    /// The first offset looked at: later than asked for where output is gone.
    start: Offset,
    /// The offset up to which it was looked.
    seen: Offset,
}

impl Gathered {
    /// Where to go on after so many of the bytes.
    fn offset_of(&self, taken: usize) -> Offset {
        if taken >= self.bytes.len() {
            return self.seen;
        }
        let after = self.runs.partition_point(|(at, _)| *at <= taken);
        let run = after.checked_sub(1).and_then(|index| self.runs.get(index));
        run.map_or(self.start, |(at, offset)| *offset + (taken - at) as u64)
    }

    fn cut_after_lines(&mut self, lines: u64) {
        let lines = usize::try_from(lines).unwrap_or(usize::MAX);
        let ends = self.bytes.iter().enumerate();
        let mut ends = ends
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at + 1);
        let cut = match lines.checked_sub(1) {
            None => Some(0),
            Some(before) => ends.nth(before),
        };
        if let Some(cut) = cut.filter(|cut| *cut < self.bytes.len()) {
            self.seen = self.offset_of(cut);
            self.bytes.truncate(cut);
        }
    }
}

/// How far to go back from the end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Back {
    /// So many bytes of the stream.
    Bytes(u64),
    /// So many of its lines, a last one without its newline counted.
    Lines(u64),
}

impl Transcript {
    /// Up to `max` bytes of one stream from `since` on, and before `end`.
    async fn gather(
        &self,
        stream: OutputStream,
        since: Offset,
        end: Offset,
        max: u64,
    ) -> Result<Gathered, TranscriptError> {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        let mut found = Gathered {
            bytes: Vec::new(),
            runs: Vec::new(),
            start: since,
            seen: since,
        };
        while found.seen < end && found.bytes.len() < max {
            if found.bytes.is_empty() && found.seen.since(since) >= MAX_SEARCH_BYTES {
                break;
            }
            let most = end.since(found.seen).min(STEP_BYTES);
            let (span, map) = self.read_with_origins(found.seen, most).await?;
            if span.start > found.seen {
                if !found.bytes.is_empty() {
                    // A page has no gap in it.
                    break;
                }
                (found.start, found.seen) = (span.start, span.start);
            } else if span.bytes.is_empty() {
                break;
            }
            for run in map.runs(span.start, span.end()) {
                found.seen = run.end;
                if run.stream != stream {
                    continue;
                }
                let bytes = of_run(&span, run);
                let room = max - found.bytes.len();
                found.runs.push((found.bytes.len(), run.start));
                found
                    .bytes
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
                if bytes.len() >= room {
                    found.seen = run.start + room as u64;
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// Where the last bytes or lines of one stream before `end` begin; from
    /// [`MAX_LINE_SEARCH_BYTES`] back at the most.
    pub(crate) async fn back_to(
        &self,
        stream: OutputStream,
        end: Offset,
        back: Back,
    ) -> Result<Offset, TranscriptError> {
        let (Back::Bytes(mut left) | Back::Lines(mut left)) = back;
        if left == 0 {
            return Ok(end);
        }
        let floor = end.back(MAX_LINE_SEARCH_BYTES);
        let (mut to, mut last) = (end, true);
        // The stream's byte after the one that is looked at.
        let mut after = end;
        while to > floor {
            let from = to.back(STEP_BYTES).max(floor);
            let parts = self.parts(from, to).await?;
            for (span, map) in parts.iter().rev() {
                let runs: Vec<Run> = map.runs(span.start, span.end()).collect();
                for run in runs.iter().rev().filter(|run| run.stream == stream) {
                    for (index, byte) in of_run(span, *run).iter().enumerate().rev() {
                        let ends_last_line = std::mem::take(&mut last);
                        let at = run.start + index as u64;
                        let next = std::mem::replace(&mut after, at);
                        let begin = match back {
                            Back::Bytes(_) => at,
                            Back::Lines(_) if *byte == b'\n' && !ends_last_line => next,
                            Back::Lines(_) => continue,
                        };
                        left -= 1;
                        if left == 0 {
                            return Ok(begin);
                        }
                    }
                }
            }
            let first = parts.first().map_or(to, |(span, _)| span.start);
            if first > from {
                // Output before that is gone.
                return Ok(first);
            }
            to = from;
        }
        Ok(floor)
    }

    /// All of a range that is still kept, with what each byte is, in parts.
    pub(crate) async fn parts(
        &self,
        from: Offset,
        to: Offset,
    ) -> Result<Vec<(Span, OriginMap)>, TranscriptError> {
        let mut parts = Vec::new();
        let mut at = from;
        while at < to {
            let part = self.read_with_origins(at, to.since(at)).await?;
            let end = part.0.end();
            if end <= at || part.0.start >= to {
                break;
            }
            at = end;
            if !part.0.bytes.is_empty() {
                parts.push(part);
            }
        }
        Ok(parts)
    }
}
