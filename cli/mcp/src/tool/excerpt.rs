//! A long output in few bytes: both ends, and from the middle what looks like an error.

use termd_client::ClientError;
use termd_excerpt::ErrorLines;
use termd_proto::Offset;
use termd_proto::terminal::{Gap, ReadResult};

use super::omitted::Omitted;
use super::pages::Pages;
use crate::settings::MAX_OUTPUT_BYTES;

/// Of more output than this only short ends are shown: nobody reads the beginning of a flood.
const FLOOD_BYTES: u64 = 64 << 10;
/// How much of the middle is looked through for errors: a bound on the time of a call.
const MAX_SCANNED_BYTES: u64 = 32 << 20;

/// The shares of an excerpt, in parts of its bytes.
struct Shares {
    head: u64,
    tail: u64,
}

/// The parts of an excerpt.
const PARTS: u64 = 32;
const SHARES: Shares = Shares { head: 8, tail: 16 };
const SHARES_OF_FLOOD: Shares = Shares { head: 1, tail: 4 };

/// A part of the output, in few bytes.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// What was left out, but for lines of it that look like errors.
    pub(crate) omitted: Omitted,
    /// Where the next read goes on: before a character that has come in part.
    pub(crate) next: Offset,
}

/// The most of an excerpt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) bytes: u64,
    /// Lines of both ends together.
    pub(crate) lines: u64,
}

impl Pages<'_> {
    /// The output from `from` until `until` within the bounds: all of it, or both ends and between them
    /// what looks like an error.
    pub(crate) async fn excerpt(
        &self,
        (from, until): (Offset, Offset),
        bounds: Bounds,
    ) -> Result<Excerpt, ClientError> {
        let whole = self
            .read((from, until), bounds.bytes, Some(bounds.lines))
            .await?;
        let mut omitted = Omitted::default();
        omitted.add(from, whole.start.min(until));
        if whole.at_end {
            return Ok(Excerpt {
                text: whole.text.unwrap_or_default(),
                omitted,
                next: whole.end.max(from),
            });
        }
        let shares = if until.since(from) > FLOOD_BYTES {
            SHARES_OF_FLOOD
        } else {
            SHARES
        };
        let share = |parts: u64, lines: u64| Bounds {
            bytes: bounds.bytes * parts / PARTS,
            lines,
        };
        let head_bounds = share(shares.head, bounds.lines / 2);
        let tail_bounds = share(shares.tail, bounds.lines - bounds.lines / 2);
        let head = self.first_lines((from, until), head_bounds).await?;
        let (tail_start, tail) = self.last_lines((head.end, until), tail_bounds).await?;
        let budget = bounds.bytes - head_bounds.bytes - tail_bounds.bytes;
        let mut errors = ErrorLines::new(usize::try_from(budget).unwrap_or(usize::MAX));
        let scanned_to = tail_start.min(head.end + MAX_SCANNED_BYTES);
        self.scan((head.end, scanned_to), |line| errors.feed(line))
            .await?;
        let mut text = head.text;
        end_line(&mut text);
        text.push_str(&errors.finish());
        if scanned_to < tail_start {
            let unseen = tail_start.since(scanned_to);
            text.extend(["... [", &unseen.to_string(), " bytes more left out] ...\n"]);
        }
        text.push_str(&tail.text);
        omitted.add(head.end, tail_start);
        Ok(Excerpt {
            text,
            omitted,
            next: tail.end,
        })
    }

    /// The first whole lines within the bounds; a part of a line where that is longer.
    pub(in crate::tool) async fn first_lines(
        &self,
        (from, until): (Offset, Offset),
        bounds: Bounds,
    ) -> Result<Piece, ClientError> {
        let range = (from, until);
        let mut read = self.read(range, bounds.bytes, Some(bounds.lines)).await?;
        let text = read.text.as_deref().unwrap_or_default();
        let lines = text.matches('\n').count() as u64;
        if lines > 0 && !text.ends_with('\n') {
            read = self.read(range, bounds.bytes, Some(lines)).await?;
        }
        Ok(Piece::of(read, from))
    }

    /// The last lines within the bounds, and where they begin.
    async fn last_lines(
        &self,
        (from, until): (Offset, Offset),
        bounds: Bounds,
    ) -> Result<(Offset, Piece), ClientError> {
        let reach = Offset(until.0.saturating_sub(bounds.bytes)).max(from);
        let all = self.read((reach, until), bounds.bytes, None).await?;
        let all = Piece::of(all, reach);
        let lines = all.text.lines().count() as u64;
        let begins_within_line = reach > from && lines > 1;
        let surplus = (lines.saturating_sub(bounds.lines)).max(u64::from(begins_within_line));
        if surplus == 0 {
            return Ok((reach, all));
        }
        let before = self
            .read((reach, until), bounds.bytes, Some(surplus))
            .await?;
        let last = self.read((before.end, until), bounds.bytes, None).await?;
        Ok((before.end, Piece::of(last, before.end)))
    }

    /// Gives each line between two offsets to `take`, the last one also without its newline.
    async fn scan(
        &self,
        (from, until): (Offset, Offset),
        mut take: impl FnMut(&str),
    ) -> Result<(), ClientError> {
        let mut at = from;
        let mut rest = String::new();
        while at < until {
            let page = self.read((at, until), MAX_OUTPUT_BYTES, None).await?;
            let text = page.text.unwrap_or_default();
            let mut lines = text.split_inclusive('\n');
            for line in &mut lines {
                match line.strip_suffix('\n') {
                    Some(line) if rest.is_empty() => take(line),
                    Some(line) => {
                        rest.push_str(line);
                        take(&rest);
                        rest.clear();
                    }
                    None => rest.push_str(line),
                }
            }
            if page.end <= at {
                break;
            }
            at = page.end;
        }
        if !rest.is_empty() {
            take(&rest);
        }
        Ok(())
    }
}

/// Text, and the offset of what follows it.
pub(in crate::tool) struct Piece {
    pub(in crate::tool) text: String,
    pub(in crate::tool) start: Offset,
    pub(in crate::tool) end: Offset,
    /// Output before it that is not kept.
    pub(in crate::tool) gap: Option<Gap>,
}

impl Piece {
    /// What a read from an offset gave.
    fn of(read: ReadResult, from: Offset) -> Self {
        Self {
            text: read.text.unwrap_or_default(),
            start: read.start.max(from),
            end: read.end.max(from),
            gap: read.gap,
        }
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
