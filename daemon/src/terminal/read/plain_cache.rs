//! Plain text of a terminal's output by offset: what readers follow, and what `terminal/output`
//! shows.
//!
//! A resolver's state is not in the offset that a client goes on from. So the newest ones are kept
//! with the terminal, each under the offset that it was left at; one that is not there (the server
//! was replaced, many readers) is made anew from the output just before the offset. What a client
//! holds stays a plain number, and the worst that a lost state costs is a redrawn line told twice.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::Offset;
use termd_proto::terminal::OutputStream;

use super::stream_reader::{Piece, pieces};
pub use super::tail_cache::Kept;
use super::tail_cache::{RING_SLACK_BYTES, raw_offset};
use crate::terminal::output::transcript::{Tail, Transcript, TranscriptError};
use termd_vt::plain::{PlainSize, PlainText, Screen, Until, first_switch, last_switch};

/// Readers' states kept for each running terminal: some readers, and the last answer of each asked
/// for again. One takes the size of a screen.
const KEPT_READERS: usize = 3;
/// Output that a lost state is made from: many screens of text, some of redraws.
const CONTEXT_BYTES: u64 = 32 << 10;
/// How far back a switch of screens is looked for where a state is lost. A full-screen program that
/// has printed more than this since it began is taken for lines, until it ends.
const SCREEN_SEARCH_BYTES: u64 = 1 << 20;
/// Output that is resolved at a time.
const STEP_BYTES: u64 = 1 << 20;
/// Text looked through for the last lines, at the most.
const LAST_LINES_BYTES: usize = 16 << 20;
/// More than this is resolved on a thread of its own, so that it stalls nobody.
const INLINE_BYTES: usize = 128 << 10;
/// How much output is resolved for a limit at first, beside the limit: escapes take some.
const FIRST_SLACK_BYTES: u64 = 64 << 10;
/// By how much more each time where that was too little text.
const WIDEN: u64 = 8;
/// Text that is kept once the command has exited; longer ones are resolved again when asked for.
const KEPT_AFTER_EXIT_BYTES: usize = 16 << 10;

/// What a reader reads, and the offset that it goes on from.
type Place = (Option<OutputStream>, Offset);

/// Readers' states by the place that they go on from, the newest last.
#[derive(Debug, Default)]
pub struct Readers(Mutex<VecDeque<(Place, PlainText)>>);

impl Readers {
    fn states(&self) -> MutexGuard<'_, VecDeque<(Place, PlainText)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, place: Place) -> Option<PlainText> {
        let states = self.states();
        let found = states.iter().rev().find(|(at, _)| *at == place);
        found.map(|(_, plain)| plain.clone())
    }

    /// Keeps a state for who goes on from here.
    pub fn keep(&self, stream: Option<OutputStream>, offset: Offset, plain: PlainText) {
        let place = (stream, offset);
        let mut states = self.states();
        states.retain(|(at, _)| *at != place);
        if states.len() >= KEPT_READERS {
            states.pop_front();
        }
        states.push_back((place, plain));
    }

    /// Nothing follows any more.
    pub fn forget(&self) {
        self.states().clear();
    }
}

impl Transcript {
    /// A resolver that has given what stands before this offset, as it was left or made anew.
    pub async fn resolver(
        &self,
        since: Offset,
        size: PlainSize,
        stream: Option<OutputStream>,
    ) -> Result<PlainText, TranscriptError> {
        if since == Offset::ZERO {
            return Ok(PlainText::new(size));
        }
        if let Some(plain) = self.readers().at((stream, since)) {
            return Ok(plain);
        }
        if stream.is_some() {
            return self.resolver_of_stream(since, size, stream).await;
        }
        self.fresh_resolver(since, size).await
    }

    /// A resolver that has given what stands before this offset and was fed nothing after it.
    pub async fn fresh_resolver(
        &self,
        since: Offset,
        size: PlainSize,
    ) -> Result<PlainText, TranscriptError> {
        if since == Offset::ZERO {
            return Ok(PlainText::new(size));
        }
        let from = since.back(CONTEXT_BYTES);
        let span = self.read_range(from, since).await?;
        // What stands before a gap does not go on behind it.
        let raw = if span.end() < since {
            &[]
        } else {
            span.bytes.as_slice()
        };
        // Whole lines, where there are any.
        let cut = match raw.iter().position(|byte| *byte == b'\n') {
            Some(newline) if span.start > Offset::ZERO => newline + 1,
            _ => 0,
        };
        let screen = self.screen_before(span.start, raw).await?;
        let head = last_switch(raw.get(..cut).unwrap_or_default()).unwrap_or(screen);
        let raw = raw.get(cut..).unwrap_or_default();
        let start = since.back(raw.len() as u64);
        Ok(PlainText::resume(size, start.0, head, raw))
    }

    /// The same of one stream, from whole lines of it where there are any. Full-screen programs do
    /// not write to pipes.
    async fn resolver_of_stream(
        &self,
        since: Offset,
        size: PlainSize,
        stream: Option<OutputStream>,
    ) -> Result<PlainText, TranscriptError> {
        let parts = self.parts(since.back(CONTEXT_BYTES), since).await?;
        let start = parts.first().map_or(since, |(span, _)| span.start);
        let mut in_line = start > Offset::ZERO;
        let feed = |plain: &mut PlainText| {
            for (span, map) in &parts {
                for piece in pieces(span, map, stream) {
                    match piece {
                        Piece::Other(length) => plain.skip(length),
                        Piece::Wanted(bytes) if in_line => {
                            let newline = bytes.iter().position(|byte| *byte == b'\n');
                            let cut = newline.map_or(bytes.len(), |newline| newline + 1);
                            in_line = newline.is_none();
                            plain.skip(cut as u64);
                            plain.advance(bytes.get(cut..).unwrap_or_default());
                        }
                        Piece::Wanted(bytes) => plain.advance(bytes),
                    }
                }
            }
        };
        Ok(PlainText::resume_after(
            size,
            start.0,
            Screen::Primary,
            feed,
        ))
    }

    /// Which screen was on at `start`, from which on the output is `raw`.
    async fn screen_before(&self, start: Offset, raw: &[u8]) -> Result<Screen, TranscriptError> {
        if start == Offset::ZERO {
            return Ok(Screen::Primary);
        }
        match first_switch(raw) {
            Some(Screen::Primary) => return Ok(Screen::Alternate),
            Some(Screen::Alternate) => return Ok(Screen::Primary),
            None => {}
        }
        let before = self
            .read_range(start.back(SCREEN_SEARCH_BYTES), start)
            .await?;
        Ok(last_switch(&before.bytes).unwrap_or_default())
    }

    /// The last `limit` bytes of plain text before `end`. What was resolved once stays so: a client
    /// that asks four times a second costs what is new.
    pub async fn plain_tail(
        &self,
        end: Offset,
        limit: u64,
        size: PlainSize,
        until_exit: UntilExit,
    ) -> Result<Tail, TranscriptError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut place = self.kept().lock().await;
        let mut kept = match place.take() {
            Some(mut kept) => {
                if kept.plain.size() != size {
                    kept.plain.resize(size);
                }
                self.catch_up(kept, end, limit).await?
            }
            None => self.resolve_tail(end, limit, size).await?,
        };
        if until_exit == UntilExit::Over {
            kept.plain.give(Until::Final);
            kept.drain(limit);
        }
        let tail = kept.tail(limit);
        if until_exit == UntilExit::Running || kept.text.len() <= KEPT_AFTER_EXIT_BYTES {
            *place = Some(kept);
        }
        Ok(tail)
    }

    async fn resolve_tail(
        &self,
        end: Offset,
        limit: usize,
        size: PlainSize,
    ) -> Result<Kept, TranscriptError> {
        let mut length = (limit as u64).saturating_add(FIRST_SLACK_BYTES);
        loop {
            let from = end.back(length);
            let head = self.read(from, end.since(from).min(CONTEXT_BYTES)).await?;
            let screen = self.screen_before(head.start, &head.bytes).await?;
            let kept = Kept::begin(size, head.start.0, screen);
            let kept = self.catch_up(kept, end, limit).await?;
            let dropped_by_retention = head.start > from;
            let length_there = kept.text.len() + kept.plain.pending().len();
            // Equal is not enough: the first line may be half a line.
            if length_there > limit.saturating_add(RING_SLACK_BYTES / 2)
                || from == Offset::ZERO
                || dropped_by_retention
            {
                return Ok(kept);
            }
            length = length.saturating_mul(WIDEN);
        }
    }

    async fn catch_up(
        &self,
        mut kept: Kept,
        end: Offset,
        limit: usize,
    ) -> Result<Kept, TranscriptError> {
        while kept.plain.fed() < end.0 {
            let from = Offset(kept.plain.fed());
            let span = self.read_before(from, end, STEP_BYTES).await?;
            if span.bytes.is_empty() {
                break;
            }
            let large = span.bytes.len() > INLINE_BYTES;
            let resolve = move || {
                if span.start > from {
                    // What lies between is not kept.
                    let size = kept.plain.size();
                    kept = Kept::begin(size, span.start.0, Screen::Primary);
                }
                kept.feed(&span.bytes, limit);
                (kept, span.bytes.len())
            };
            (kept, _) = if large {
                tokio::task::spawn_blocking(resolve)
                    .await
                    .map_err(std::io::Error::other)?
            } else {
                resolve()
            };
        }
        Ok(kept)
    }

    /// Where the last `lines` lines of plain text before `end` begin, a last line without its
    /// newline counted; from `most` bytes back at the most.
    pub async fn plain_lines(
        &self,
        end: Offset,
        lines: u64,
        size: PlainSize,
        most: u64,
    ) -> Result<LastLines, TranscriptError> {
        let mut length = FIRST_SLACK_BYTES;
        loop {
            let from = end.back(length.min(most));
            let span = self.read_range(from, end).await?;
            let screen = self.screen_before(span.start, &span.bytes).await?;
            // Going further back gives nothing more.
            let is_all = span.start > from;
            let resolve = move || last_lines(&span.bytes, span.start, screen, size, lines);
            let found = if end.since(from) > INLINE_BYTES as u64 {
                tokio::task::spawn_blocking(resolve)
                    .await
                    .map_err(std::io::Error::other)?
            } else {
                resolve()
            };
            if found.is_enough || is_all || from == Offset::ZERO || length >= most {
                return Ok(found);
            }
            length = length.saturating_mul(WIDEN);
        }
    }
}

/// Whether the command may print more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UntilExit {
    /// It may.
    Running,
    /// Nothing follows.
    Over,
}

/// The end of the output as lines of plain text.
#[derive(Debug, Clone)]
pub struct LastLines {
    /// The raw offset that the first of them began at.
    pub start: Offset,
    /// The lines.
    pub text: String,
    /// The resolver that gave all of it.
    pub plain: PlainText,
    is_enough: bool,
}

fn last_lines(raw: &[u8], start: Offset, screen: Screen, size: PlainSize, lines: u64) -> LastLines {
    let mut kept = Kept::begin(size, start.0, screen);
    kept.plain = kept.plain.with_every_anchor();
    kept.feed(raw, LAST_LINES_BYTES);
    kept.plain.give(Until::Settled);
    kept.drain(LAST_LINES_BYTES);
    let text = &kept.text;
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
    let end = kept.plain.end();
    let begins = match found {
        None if kept.text_start == 0 => start.0,
        _ => {
            let anchors = kept.anchors.iter().copied();
            raw_offset(anchors, kept.text_start + at, start.0, end)
        }
    };
    LastLines {
        start: Offset(begins),
        text: text.get(at..).unwrap_or_default().to_owned(),
        is_enough: found.is_some() || kept.text_start > 0,
        plain: kept.plain,
    }
}

#[cfg(test)]
mod tests;
