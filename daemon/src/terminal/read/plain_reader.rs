//! `session.read` of plain text: ended lines, and the unfinished line once the terminal is quiet.
//!
//! Without a wait a reader gets all there is. With a wait it gets ended lines at once. Where there are
//! none, it gets a prompt or a redraw after [`SETTLED_AFTER`] without output, or when the wait is over.
//! [`termd_vt::plain`] says which text is given again when it changes.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{OutputStream, ReadFrom, ReadResult};
use termd_vt::plain::{PlainText, Styles, Until};
use tokio::time::Instant;

use super::last_lines::last_lines;
use super::options::{ReadOptions, styles_of};
use super::stream_reader::{Back, MAX_SEARCH_BYTES, tail_start};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::output::stream_map::StreamBits;
use crate::terminal::output::stream_pieces::{StreamPiece, pieces};

/// How long a terminal is quiet before its unfinished line counts as a prompt: longer than the pauses
/// of a spinner, shorter than a person's patience.
const SETTLED_AFTER: Duration = Duration::from_millis(300);
/// Output resolved between two checks whether the answer is full, in bytes: a few bytes can make a
/// whole row.
const STEP_BYTES: usize = 4 << 10;

/// The bounds of an answer.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    bytes: usize,
    lines: Option<usize>,
    /// Nothing from this offset on is read.
    until: Option<Offset>,
}

impl Bounds {
    /// The end of the output that may be read.
    fn end(self, progress: &Progress) -> Offset {
        let until = self.until.unwrap_or(progress.end);
        until.min(progress.end)
    }
}

/// Reads plain text, about `max` bytes at most.
pub(super) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    max: u64,
) -> Result<ReadResult, TerminalError> {
    let bounds = Bounds {
        bytes: usize::try_from(max).unwrap_or(usize::MAX),
        lines: options
            .max_lines
            .map(|lines| usize::try_from(lines).unwrap_or(usize::MAX)),
        until: options.until,
    };
    let end = bounds.end(&terminal.progress());
    let since = match options.from {
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => match options.stream {
            None => end.back(bytes),
            Some(stream) => {
                let transcript = &terminal.transcript;
                tail_start(transcript, stream, end, Back::Bytes(bytes)).await?
            }
        },
        ReadFrom::TailLines(0) => end,
        ReadFrom::TailLines(lines) => match options.stream {
            None => match tail(terminal, lines, bounds, styles_of(options.encoding)).await? {
                TailRead::Whole(result) => return Ok(*result),
                TailRead::From(offset) => offset,
            },
            Some(stream) => {
                let transcript = &terminal.transcript;
                tail_start(transcript, stream, end, Back::Lines(lines)).await?
            }
        },
    };
    let deadline = options
        .wait_ms
        .map(|wait_ms| Instant::now() + Duration::from_millis(wait_ms));
    let mut reader = PlainReader::begin(terminal, since, options).await?;
    loop {
        let patience = match deadline {
            Some(deadline) if Instant::now() < deadline => Until::Lines,
            _ => Until::Settled,
        };
        let progress = reader.go_on(terminal, bounds, patience).await?;
        if options.stream.is_some() && reader.goes_on_searching(since, bounds.end(&progress)) {
            continue;
        }
        let has_ended = progress.exit.is_some();
        if !reader.text.is_empty() || has_ended || patience == Until::Settled {
            return Ok(reader.answer(terminal, &progress, bounds));
        }
        let Some(deadline) = deadline else {
            return Ok(reader.answer(terminal, &progress, bounds));
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if reader.is_settled {
            // Everything was given: only output can change that.
            terminal.wait_for_output(reader.seen(), left).await;
            continue;
        }
        terminal
            .wait_for_output(reader.seen(), left.min(SETTLED_AFTER))
            .await;
        if terminal.end() <= reader.seen() && terminal.progress().exit.is_none() {
            reader.settle();
            if !reader.text.is_empty() {
                return Ok(reader.answer(terminal, &progress, bounds));
            }
        }
    }
}

/// One call's answer in the making.
struct PlainReader {
    plain: PlainText,
    /// The only stream that is read.
    stream: Option<OutputStream>,
    /// How far the output was searched for a first byte of that stream.
    searched: Offset,
    start: Offset,
    text: String,
    /// The unfinished line was given, and nothing came since.
    is_settled: bool,
    is_full: bool,
}

impl PlainReader {
    async fn begin(
        terminal: &Terminal,
        since: Offset,
        options: &ReadOptions,
    ) -> Result<Self, TerminalError> {
        let size = terminal.progress().size.into();
        let (stream, styles) = (options.stream, styles_of(options.encoding));
        let mut plain = terminal
            .plain
            .resolver(&terminal.transcript, since, size, stream, styles)
            .await?;
        if plain.size() != size {
            plain.resize(size);
        }
        Ok(Self {
            plain,
            stream,
            searched: since,
            start: since,
            text: String::new(),
            is_settled: false,
            is_full: false,
        })
    }

    /// The end of what was looked at.
    fn seen(&self) -> Offset {
        Offset(self.plain.fed())
    }

    /// Whether the stream has had nothing so far, and there is more to look through.
    fn goes_on_searching(&mut self, since: Offset, end: Offset) -> bool {
        let seen = self.seen();
        let moved = std::mem::replace(&mut self.searched, seen) < seen;
        let little = seen.since(since) < MAX_SEARCH_BYTES;
        self.text.is_empty() && moved && little && seen < end
    }

    fn settle(&mut self) {
        self.plain.give(Until::Settled);
        self.text.push_str(&self.plain.take().text);
        self.is_settled = true;
    }

    /// Resolves what has come, as far as the bounds allow, and takes what can be given.
    async fn go_on(
        &mut self,
        terminal: &Terminal,
        bounds: Bounds,
        patience: Until,
    ) -> Result<Progress, TerminalError> {
        // Read before the bytes: the exit is published after all output.
        let progress = terminal.progress();
        let (seen, end) = (self.seen(), bounds.end(&progress));
        let most = end.since(seen).min(bounds.bytes as u64);
        let (mut span, bits) = match self.stream {
            None => (
                terminal.transcript.read(seen, most).await?,
                StreamBits::default(),
            ),
            Some(_) => terminal.transcript.read_with_streams(seen, most).await?,
        };
        // After a gap the span may end past what was published.
        span.truncate_at(end);
        if span.start > seen {
            // An unfinished line ends at a gap.
            self.plain.give(Until::Final);
            self.text.push_str(&self.plain.take().text);
            if !self.text.is_empty() {
                return Ok(progress);
            }
            self.start = span.start;
            let (size, stream, styles) = (self.plain.size(), self.stream, self.plain.styles());
            self.plain = terminal
                .plain
                .resolver(&terminal.transcript, span.start, size, stream, styles)
                .await?;
        }
        if !span.bytes.is_empty() {
            self.is_settled = false;
        }
        for piece in pieces(&span, &bits, self.stream) {
            if self.check_full(bounds) {
                break;
            }
            match piece {
                StreamPiece::Own(bytes) => self.resolve(bytes, bounds),
                StreamPiece::Other(length) => self.plain.skip(length),
            }
        }
        self.check_full(bounds);
        self.plain.give(Until::Lines);
        let at_end = self.seen() >= end;
        let nothing = self.plain.waiting() == 0;
        if at_end && !self.is_full && progress.exit.is_some() {
            self.plain.give(Until::Final);
        } else if (at_end && !self.is_full && patience == Until::Settled) || (!at_end && nothing) {
            // A page without an ended line is given as it is, or no reader would get further.
            self.plain.give(Until::Settled);
            self.is_settled = true;
        }
        self.text.push_str(&self.plain.take().text);
        Ok(progress)
    }

    /// Resolves the bytes, or as many as fit.
    fn resolve(&mut self, bytes: &[u8], bounds: Bounds) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.check_full(bounds) {
            let step = match bounds.lines {
                Some(_) => rest.iter().position(|byte| *byte == b'\n').map(|at| at + 1),
                None => None,
            };
            let (head, tail) = rest.split_at(step.unwrap_or(STEP_BYTES).min(rest.len()));
            self.plain.advance(head);
            if bounds.lines.is_some() {
                self.plain.give(Until::Lines);
            }
            rest = tail;
        }
    }

    fn check_full(&mut self, bounds: Bounds) -> bool {
        self.is_full = match bounds.lines {
            Some(lines) => self.plain.waiting_lines() >= lines,
            None => self.plain.waiting() >= bounds.bytes,
        };
        self.is_full
    }

    fn answer(self, terminal: &Terminal, progress: &Progress, bounds: Bounds) -> ReadResult {
        let seen = self.seen();
        let at_end = seen >= bounds.end(progress);
        let state = terminal.state();
        let end = Offset(self.plain.next()).max(self.start);
        if progress.exit.is_some() && at_end {
            terminal.plain.forget_readers();
        } else {
            terminal.plain.keep(self.stream, end, self.plain);
        }
        ReadResult {
            text: Some(self.text),
            data: None,
            written: None,
            start: self.start,
            gap: None,
            end,
            cut_character: false,
            at_end,
            output_end: None,
            state,
            exit_status: progress.exit.as_ref().and_then(|exit| exit.status.clone()),
            times: None,
            sizes: None,
        }
    }
}

/// How last lines are read.
enum TailRead {
    /// The lines fit into the answer.
    Whole(Box<ReadResult>),
    /// The lines are read page by page from here.
    From(Offset),
}

async fn tail(
    terminal: &Terminal,
    lines: u64,
    bounds: Bounds,
    styles: Styles,
) -> Result<TailRead, TerminalError> {
    let progress = terminal.progress();
    let (end, size) = (progress.end, progress.size.into());
    let found = last_lines(&terminal.transcript, end, lines, size, styles).await?;
    if found.text.len() > bounds.bytes || bounds.lines.is_some() {
        return Ok(TailRead::From(found.start));
    }
    let mut reader = PlainReader {
        plain: found.plain,
        stream: None,
        searched: found.start,
        start: found.start,
        text: found.text,
        is_settled: true,
        is_full: false,
    };
    if progress.exit.is_some() {
        reader.plain.give(Until::Final);
        reader.text.push_str(&reader.plain.take().text);
    }
    Ok(TailRead::Whole(Box::new(
        reader.answer(terminal, &progress, bounds),
    )))
}
