//! Reads blocks of a terminal's output: from the last screen that is kept before one, and fed from there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::slice;

use termd_proto::Offset;
use termd_proto::terminal::{OutputSize, Stdio};
use termd_vt::{Model, Scrollback};

use super::block::{Block, Seam};
use crate::cmd::replay::source::Source;
use crate::cmd::replay::stage::fed_by;
use crate::error::CliError;

/// Most output in a block, in bytes: that between two of the daemon's keyframes, twice.
const MAX_BLOCK_BYTES: u64 = 8 << 20;
/// A block with this many rows is full. Some are kept in memory at a time, of some 10 MB each.
const FULL_BLOCK_ROWS: u64 = 60_000;
/// Output that is fed between two looks whether a block is full, in bytes.
const PIECE_BYTES: usize = 32 << 10;
/// Most rows and bytes of a model's scrollback: a full block, and what one more piece usually prints.
const MAX_ROWS: usize = 100_000;
const MAX_ROW_BYTES: usize = 32 << 20;
/// Rows of the block before in the screen that the next one begins with, as in the daemon's keyframes.
const ROWS_BEFORE: usize = 100;
/// Most output that is fed to reach a place, in bytes. Where no screen is kept after it, as of output that a
/// termd before 0.2 recorded, a block begins with an empty screen, as the daemon's own looks back do.
const MAX_FED_BYTES: u64 = 64 << 20;
/// Most screens that are kept to come back to: some MiB.
const MAX_KEPT: usize = 512;

/// Which block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The one that ends here.
    Before(Offset),
    /// The one that begins here.
    From(Offset),
}

/// Reads blocks of one terminal, as it was at one moment.
#[derive(Debug)]
pub(super) struct BlockReader<'a> {
    source: Source<'a>,
    stdio: Stdio,
    pub(super) range: (Offset, Offset),
    /// The size at the end.
    size: termd_vt::Size,
    /// Screens where blocks were full.
    kept: RefCell<BTreeMap<Offset, Vec<u8>>>,
}

/// A block that is being fed.
struct Feed {
    model: Model,
    above: Seam,
    was_resized: bool,
    start: Offset,
    at: Offset,
    /// Rows that have left the screen since the start, as they were printed: a resize breaks them anew.
    printed: u64,
}

impl Feed {
    fn new(model: Model, start: Offset) -> Self {
        Self {
            above: Seam::of(&model),
            model,
            was_resized: false,
            start,
            at: start,
            printed: 0,
        }
    }

    fn feed(&mut self, piece: &[u8]) {
        let before = self.model.rows_printed();
        self.model.feed(piece);
        self.printed += self.model.rows_printed().saturating_sub(before);
        self.at = self.at + piece.len() as u64;
    }

    /// Goes on behind output that is not kept, with a line about it: what was printed on both sides of it is not one
    /// line.
    fn skip_to(&mut self, at: Offset) {
        let lost = at.since(self.at);
        if !self.model.is_alternate() {
            let (before, _) = self.model.cursor_line();
            let end = if before.is_empty() { "" } else { "\r\n" };
            let line = format!("\x18\x1b[m{end}\x1b[7m {lost} bytes are not kept \x1b[m\r\n");
            self.feed(line.as_bytes());
        }
        self.model.go_on_at(at.0);
        self.at = at;
    }

    fn is_full(&self) -> bool {
        self.at.since(self.start) >= MAX_BLOCK_BYTES || self.printed >= FULL_BLOCK_ROWS
    }

    /// Takes the sizes that were set up to where it is. One that was set at a seam is above it: a screen that is
    /// kept there may have it already.
    fn resize(&mut self, sizes: &mut Peekable<slice::Iter<'_, OutputSize>>) {
        while let Some(next) = sizes.next_if(|next| next.at <= self.at) {
            let size = size(next.cols, next.rows);
            if self.model.size() == size {
                continue;
            }
            self.model.resize(size);
            if self.at == self.start {
                self.above = Seam::of(&self.model);
            } else {
                self.was_resized = true;
            }
        }
    }
}

impl<'a> BlockReader<'a> {
    pub(super) fn new(
        source: Source<'a>,
        stdio: Stdio,
        range: (Offset, Offset),
        (cols, rows): (u16, u16),
    ) -> Self {
        Self {
            source,
            stdio,
            range,
            size: size(cols, rows),
            kept: RefCell::default(),
        }
    }

    pub(super) async fn read(&self, place: Place) -> Result<Block, CliError> {
        let (start, end) = self.range;
        match place {
            Place::Before(to) => {
                // A screen that is kept where the block ends is no part of it.
                let last_start = to.back(1).max(start);
                let mut feed = self.feed_from(last_start, to).await?;
                while feed.at < to {
                    if feed.is_full() {
                        feed = self.next(feed);
                    }
                    self.feed_page(&mut feed, to).await?;
                }
                Ok(self.finished(feed, to))
            }
            Place::From(start) => {
                let mut feed = self.feed_from(start, start).await?;
                while feed.at < start {
                    self.feed_page(&mut feed, start).await?;
                }
                let mut feed = self.next(feed);
                while feed.at < end && !feed.is_full() {
                    self.feed_page(&mut feed, end).await?;
                }
                let to = feed.at;
                if to < end {
                    self.keep(&feed);
                }
                Ok(self.finished(feed, to))
            }
        }
    }

    /// The screen that is kept last at or before an offset.
    async fn feed_from(&self, at: Offset, to: Offset) -> Result<Feed, CliError> {
        let own = self.kept.borrow().range(..=at).next_back().map(owned);
        let (keyframe, dump) = self.source.keyframe(at).await?;
        if let Some((own_at, dump)) = own
            && own_at >= keyframe.at
            && let Some(model) = Model::restored(scrollback(), &dump)
        {
            return Ok(Feed::new(fed_by(self.stdio, model), own_at));
        }
        let restored = dump.and_then(|dump| Model::restored(scrollback(), &dump));
        let empty = || Model::new(size(keyframe.cols, keyframe.rows), scrollback());
        let (model, start) = match restored {
            Some(model) if to.since(keyframe.at) <= MAX_FED_BYTES => (model, keyframe.at),
            _ if to.since(self.range.0) <= MAX_FED_BYTES => (empty(), self.range.0),
            _ => (empty(), to.back(MAX_BLOCK_BYTES)),
        };
        Ok(Feed::new(fed_by(self.stdio, model), start))
    }

    /// Feeds what one call reads, up to an offset or until the block is full.
    async fn feed_page(&self, feed: &mut Feed, to: Offset) -> Result<(), CliError> {
        let mut page = self.source.page(feed.at, None).await?;
        page.end_at(to);
        if page.start > feed.at {
            feed.skip_to(page.start);
        }
        let mut sizes = page.sizes.iter().peekable();
        let mut rest = page.bytes.as_slice();
        feed.resize(&mut sizes);
        while !rest.is_empty() && !feed.is_full() {
            let until_size = sizes.peek().map_or(u64::MAX, |next| next.at.since(feed.at));
            let until_size = usize::try_from(until_size).unwrap_or(usize::MAX);
            let (piece, behind) = rest.split_at(rest.len().min(PIECE_BYTES).min(until_size));
            feed.feed(piece);
            feed.resize(&mut sizes);
            rest = behind;
        }
        // Where nothing could be read, what lies between is not kept.
        if page.bytes.is_empty() {
            feed.at = page.end.max(to);
        }
        Ok(())
    }

    /// The next block, where one ends.
    fn next(&self, feed: Feed) -> Feed {
        let at = feed.at;
        let dump = self.keep(&feed);
        let model = Model::restored(scrollback(), &dump);
        Feed::new(
            model.map_or(feed.model, |model| fed_by(self.stdio, model)),
            at,
        )
    }

    /// Keeps a screen to come back to.
    fn keep(&self, feed: &Feed) -> Vec<u8> {
        let dump = feed.model.short_dump(ROWS_BEFORE);
        let mut kept = self.kept.borrow_mut();
        if kept.len() < MAX_KEPT {
            kept.insert(feed.at, dump.clone());
        }
        dump
    }

    fn finished(&self, feed: Feed, to: Offset) -> Block {
        let (range, above) = ((feed.start, to), (feed.above, feed.was_resized));
        Block::new(feed.model, range, above, self.size, to == self.range.1)
    }
}

fn owned((at, dump): (&Offset, &Vec<u8>)) -> (Offset, Vec<u8>) {
    (*at, dump.clone())
}

fn size(cols: u16, rows: u16) -> termd_vt::Size {
    termd_vt::Size {
        cols: usize::from(cols),
        rows: usize::from(rows),
    }
}

fn scrollback() -> Scrollback {
    Scrollback::new(MAX_ROWS, MAX_ROW_BYTES)
}
