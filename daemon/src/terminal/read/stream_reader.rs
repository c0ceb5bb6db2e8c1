//! `session.read` of one stream: what a command on pipes wrote to standard output alone, or to
//! standard error. Offsets stay the transcript's, in which both streams lie in the order of arrival.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{Encoding, OutputStream, ReadFrom, ReadResult};
use tokio::time::Instant;

use super::encoded::Encoded;
use super::options::ReadOptions;
use super::page::Page;
use super::raw_tail::MAX_LINE_SEARCH_BYTES;
use super::text::{Completeness, after_lines};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::stream_map::StreamRun;
use crate::terminal::output::stream_pieces::bytes_of;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// Output read at a time, in bytes.
const STEP_BYTES: u64 = 64 << 10;
/// How much of the other stream one call looks through for a first byte. The answer then says where
/// to go on.
pub(super) const MAX_SEARCH_BYTES: u64 = 16 << 20;

/// Reads bytes or raw text of one stream, at most `max` bytes.
pub(super) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    stream: OutputStream,
    max: u64,
) -> Result<Page, TerminalError> {
    let transcript = &terminal.transcript;
    let end = terminal.end();
    let end = options.until.map_or(end, |until| until.min(end));
    let since = match options.from {
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => {
            tail_start(transcript, stream, end, Back::Bytes(bytes)).await?
        }
        ReadFrom::TailLines(lines) => {
            tail_start(transcript, stream, end, Back::Lines(lines)).await?
        }
    };
    let deadline = options
        .wait_ms
        .map(|wait_ms| Instant::now() + Duration::from_millis(wait_ms));
    let (mut start, mut from) = (None, since);
    loop {
        // Read before the bytes: the exit is published after all output.
        let progress = terminal.progress();
        let state = terminal.state();
        let end = options
            .until
            .map_or(progress.end, |until| until.min(progress.end));
        let mut found = gather(transcript, stream, from, end, max).await?;
        if let Some(lines) = options.max_lines {
            found.cut_after_lines(lines);
        }
        let start = *start.get_or_insert(found.start);
        let at_end = found.seen >= end;
        let is_last = progress.exit.is_some() && at_end;
        let completeness = Completeness::after_exit(is_last);
        let seen = found.seen;
        let (encoded, end) = found.encode(options.encoding, completeness);
        let answer = ReadResult {
            text: encoded.text,
            data: None,
            written: None,
            start,
            gap: None,
            end,
            cut_character: false,
            at_end,
            output_end: None,
            state,
            exit_status: progress.exit.and_then(|exit| exit.status),
            times: None,
            sizes: None,
        };
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match left {
            // There is nothing, or only the beginning of a character.
            Some(left) if encoded.taken == 0 && !is_last && !left.is_zero() => {
                from = end;
                terminal.wait_for_output(seen, left).await;
            }
            _ => {
                let exact = encoded.exact;
                return Ok(Page { answer, exact });
            }
        }
    }
}

/// Bytes of one stream, and where they lie.
struct Gathered {
    bytes: Vec<u8>,
    /// The index in `bytes` and the offset at which each run begins.
    runs: Vec<(usize, Offset)>,
    /// The first offset looked at. It is later than requested where output is gone.
    start: Offset,
    /// The end of what was looked at.
    seen: Offset,
}

impl Gathered {
    /// What the answer says of them, and where to go on after it.
    fn encode(mut self, encoding: Encoding, completeness: Completeness) -> (Encoded, Offset) {
        let bytes = std::mem::take(&mut self.bytes);
        let length = bytes.len();
        let encoded = Encoded::new(bytes, encoding, completeness);
        let end = if encoded.taken < length {
            self.offset_of(encoded.taken)
        } else {
            self.seen
        };
        (encoded, end)
    }

    /// The offset of a byte, by its index.
    fn offset_of(&self, taken: usize) -> Offset {
        let after = self.runs.partition_point(|(at, _)| *at <= taken);
        let run = after.checked_sub(1).and_then(|index| self.runs.get(index));
        run.map_or(self.start, |(at, offset)| *offset + (taken - at) as u64)
    }

    fn cut_after_lines(&mut self, lines: u64) {
        let cut = after_lines(&self.bytes, lines);
        if let Some(cut) = cut.filter(|cut| *cut < self.bytes.len()) {
            self.seen = self.offset_of(cut);
            self.bytes.truncate(cut);
        }
    }
}

/// How far to go back from the end, in bytes or lines of the stream. A last line without its newline
/// counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Back {
    Bytes(u64),
    Lines(u64),
}

/// Up to `max` bytes of one stream between `since` and `end`.
async fn gather(
    transcript: &Transcript,
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
        let (span, bits) = transcript.read_with_streams(found.seen, most).await?;
        if span.start > found.seen {
            if !found.bytes.is_empty() {
                // A page has no gap in it.
                break;
            }
            (found.start, found.seen) = (span.start, span.start);
        } else if span.bytes.is_empty() {
            break;
        }
        for run in bits.runs(span.start, span.end()) {
            found.seen = run.end;
            if run.stream != stream {
                continue;
            }
            let bytes = bytes_of(&span, run);
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

/// Where the last bytes or lines of one stream before `end` begin, at most
/// [`MAX_LINE_SEARCH_BYTES`] back.
pub(super) async fn tail_start(
    transcript: &Transcript,
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
    // The offset of the stream's byte after the one that is looked at.
    let mut after = end;
    while to > floor {
        let from = to.back(STEP_BYTES).max(floor);
        let parts = transcript.parts(from, to).await?;
        for (span, bits) in parts.iter().rev() {
            let runs: Vec<StreamRun> = bits.runs(span.start, span.end()).collect();
            for run in runs.iter().rev().filter(|run| run.stream == stream) {
                for (index, byte) in bytes_of(span, *run).iter().enumerate().rev() {
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
