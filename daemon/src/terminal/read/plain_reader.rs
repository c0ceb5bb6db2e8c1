//! `session.read` of plain text: lines when they are ended, and what is not ended once the terminal
//! is quiet.
//!
//! Without a wait a reader gets all there is. With one it follows: it is given ended lines at once;
//! where there are none, a prompt or a redraw after [`SETTLED_AFTER`] without output, or when its
//! wait is over. [`termd_vt::plain`] says what is given again when it changes.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{OutputStream, ReadFrom, ReadResult};
use tokio::time::Instant;

use super::options::ReadOptions;
use super::stream_reader::{Back, MAX_SEARCH_BYTES, Piece, pieces};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::record::{Progress, Size};
use crate::terminal::output::stream_map::OriginMap;
use crate::terminal::output::transcript::MAX_LINE_SEARCH_BYTES;
use termd_vt::plain::{PlainSize, PlainText, Until};

/// A terminal that has printed nothing for this long waits for somebody: its prompt is shown to
/// those who follow. Longer than the pauses of a spinner, shorter than a person's patience.
const SETTLED_AFTER: Duration = Duration::from_millis(300);
/// Output resolved before it is looked whether the answer is full: a few bytes of it can make a
/// whole row.
const STEP_BYTES: usize = 4 << 10;

impl From<Size> for PlainSize {
    fn from(size: Size) -> Self {
        Self {
            cols: size.cols,
            rows: size.rows,
        }
    }
}

/// What the caller asked for, checked.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    bytes: usize,
    lines: Option<usize>,
}

/// Reads plain text; `max` is what bounds it, in bytes.
pub(crate) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    max: u64,
) -> Result<ReadResult, TerminalError> {
    let bounds = Bounds {
        bytes: usize::try_from(max).unwrap_or(usize::MAX),
        lines: options
            .max_lines
            .map(|lines| usize::try_from(lines).unwrap_or(usize::MAX)),
    };
    let end = terminal.end();
    let since = match options.from {
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => match options.stream {
            None => end.back(bytes),
            Some(stream) => {
                let transcript = &terminal.transcript;
                transcript.back_to(stream, end, Back::Bytes(bytes)).await?
            }
        },
        ReadFrom::TailLines(0) => end,
        ReadFrom::TailLines(lines) => match options.stream {
            None => match tail(terminal, lines, bounds).await? {
                TailRead::Whole(result) => return Ok(*result),
                TailRead::From(offset) => offset,
            },
            Some(stream) => {
                let transcript = &terminal.transcript;
                transcript.back_to(stream, end, Back::Lines(lines)).await?
            }
        },
    };
    let deadline = options
        .wait_ms
        .map(|wait_ms| Instant::now() + Duration::from_millis(wait_ms));
    let mut reading = Reading::begin(terminal, since, options.stream).await?;
    loop {
        let patience = match deadline {
            Some(deadline) if Instant::now() < deadline => Until::Lines,
            _ => Until::Settled,
        };
        let progress = reading.go_on(terminal, bounds, patience).await?;
        if options.stream.is_some() && reading.goes_on_searching(since, &progress) {
            continue;
        }
        let has_ended = progress.exit.is_some();
        if !reading.text.is_empty() || has_ended || patience == Until::Settled {
            return Ok(reading.answer(terminal, &progress));
        }
        let Some(deadline) = deadline else {
            return Ok(reading.answer(terminal, &progress));
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if reading.is_settled() {
            // Nothing waits to be given: only output can change that.
            terminal.wait_for_output(reading.seen(), left).await;
            continue;
        }
        terminal
            .wait_for_output(reading.seen(), left.min(SETTLED_AFTER))
            .await;
        if terminal.end() <= reading.seen() && terminal.progress().exit.is_none() {
            reading.settle();
            if !reading.text.is_empty() {
                return Ok(reading.answer(terminal, &progress));
            }
        }
    }
}

/// One call's reading.
struct Reading {
    plain: PlainText,
    /// Only this is read.
    stream: Option<OutputStream>,
    /// How far it had looked for a first byte of that.
    searched: Offset,
    start: Offset,
    text: String,
    /// All that waited was given, and nothing came since.
    quiet: Quiet,
    is_full: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quiet {
    /// There may be something to give when the terminal has been quiet.
    NotYet,
    /// It was, and it has been given.
    Given,
}

impl Reading {
    async fn begin(
        terminal: &Terminal,
        since: Offset,
        stream: Option<OutputStream>,
    ) -> Result<Self, TerminalError> {
        let size = terminal.progress().size.into();
        let mut plain = terminal.transcript.resolver(since, size, stream).await?;
        if plain.size() != size {
            plain.resize(size);
        }
        Ok(Self {
            plain,
            stream,
            searched: since,
            start: since,
            text: String::new(),
            quiet: Quiet::NotYet,
            is_full: false,
        })
    }

    /// What was looked at.
    fn seen(&self) -> Offset {
        Offset(self.plain.fed())
    }

    /// Whether there was nothing of its stream so far, and there is more to look through.
    fn goes_on_searching(&mut self, since: Offset, progress: &Progress) -> bool {
        let seen = self.seen();
        let moved = std::mem::replace(&mut self.searched, seen) < seen;
        let little = seen.since(since) < MAX_SEARCH_BYTES;
        self.text.is_empty() && moved && little && seen < progress.end
    }

    fn is_settled(&self) -> bool {
        self.quiet == Quiet::Given
    }

    fn settle(&mut self) {
        self.plain.give(Until::Settled);
        self.text.push_str(&self.plain.take().text);
        self.quiet = Quiet::Given;
    }

    /// Resolves what has come, as far as the bounds allow, and takes what can be given.
    async fn go_on(
        &mut self,
        terminal: &Terminal,
        bounds: Bounds,
        patience: Until,
    ) -> Result<Progress, TerminalError> {
        // Before the bytes: whoever is told of the exit has been told of all output.
        let progress = terminal.progress();
        let seen = self.seen();
        let most = progress.end.since(seen).min(bounds.bytes as u64);
        let (mut span, map) = match self.stream {
            None => (
                terminal.transcript.read(seen, most).await?,
                OriginMap::default(),
            ),
            Some(_) => terminal.transcript.read_with_origins(seen, most).await?,
        };
        // Behind a gap there may be more than was published.
        let published = progress.end.since(span.start);
        span.bytes
            .truncate(usize::try_from(published).unwrap_or(usize::MAX));
        if span.start > seen {
            // What lies between is gone. A line that is open before it ends there.
            self.plain.give(Until::Final);
            self.text.push_str(&self.plain.take().text);
            if !self.text.is_empty() {
                return Ok(progress);
            }
            self.start = span.start;
            self.plain = terminal
                .transcript
                .resolver(span.start, self.plain.size(), self.stream)
                .await?;
        }
        if !span.bytes.is_empty() {
            self.quiet = Quiet::NotYet;
        }
        for piece in pieces(&span, &map, self.stream) {
            if self.look_whether_full(bounds) {
                break;
            }
            match piece {
                Piece::Wanted(bytes) => self.resolve(bytes, bounds),
                Piece::Other(length) => self.plain.skip(length),
            }
        }
        self.look_whether_full(bounds);
        self.plain.give(Until::Lines);
        let at_end = self.seen() >= progress.end;
        let nothing = self.plain.waiting() == 0;
        if at_end && !self.is_full && progress.exit.is_some() {
            self.plain.give(Until::Final);
        } else if (at_end && !self.is_full && patience == Until::Settled) || (!at_end && nothing) {
            // A page without an ended line: what there is of it, or nobody would get further.
            self.plain.give(Until::Settled);
            self.quiet = Quiet::Given;
        }
        self.text.push_str(&self.plain.take().text);
        Ok(progress)
    }

    /// Resolves these, or as many as fit.
    fn resolve(&mut self, bytes: &[u8], bounds: Bounds) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.look_whether_full(bounds) {
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

    fn look_whether_full(&mut self, bounds: Bounds) -> bool {
        self.is_full = match bounds.lines {
            Some(lines) => self.plain.waiting_lines() >= lines,
            None => self.plain.waiting() >= bounds.bytes,
        };
        self.is_full
    }

    fn answer(self, terminal: &Terminal, progress: &Progress) -> ReadResult {
        let seen = self.seen();
        let at_end = seen >= progress.end;
        let state = terminal.state();
        let end = Offset(self.plain.next()).max(self.start);
        if progress.exit.is_some() && at_end {
            terminal.transcript.readers().forget();
        } else {
            let readers = terminal.transcript.readers();
            readers.keep(self.stream, end, self.plain);
        }
        ReadResult {
            text: Some(self.text),
            data: None,
            start: self.start,
            gap: None,
            end,
            at_end,
            state,
            exit_status: progress.exit.as_ref().and_then(|exit| exit.status.clone()),
        }
    }
}

/// How the last lines are read.
enum TailRead {
    /// They fit into the answer.
    Whole(Box<ReadResult>),
    /// They are read page by page from here.
    From(Offset),
}

async fn tail(terminal: &Terminal, lines: u64, bounds: Bounds) -> Result<TailRead, TerminalError> {
    let progress = terminal.progress();
    let found = terminal
        .transcript
        .plain_lines(
            progress.end,
            lines,
            progress.size.into(),
            MAX_LINE_SEARCH_BYTES,
        )
        .await?;
    if found.text.len() > bounds.bytes || bounds.lines.is_some() {
        return Ok(TailRead::From(found.start));
    }
    let mut reading = Reading {
        plain: found.plain,
        stream: None,
        searched: found.start,
        start: found.start,
        text: found.text,
        quiet: Quiet::Given,
        is_full: false,
    };
    if progress.exit.is_some() {
        reading.plain.give(Until::Final);
        reading.text.push_str(&reading.plain.take().text);
    }
    Ok(TailRead::Whole(Box::new(
        reading.answer(terminal, &progress),
    )))
}
