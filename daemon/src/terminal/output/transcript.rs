//! A terminal's output by offset, wherever it is: in the spool, or in the database.

use std::io;
use std::sync::{Mutex, PoisonError};

use termd_proto::terminal::{Gap, GapCause};
use termd_proto::{Offset, TerminalId};
use thiserror::Error;
use tokio::sync::Mutex as AsyncMutex;

use super::quota::Gaps;
use super::spool::Spool;
use super::stream_map::{OriginMap, Origins};
use crate::store::{Store, StoreError};
use crate::terminal::read::plain_cache::{Kept, Readers};
use crate::terminal::read::text::{Completeness, Front, LineEnds, render};

/// How far back a search for lines goes, in bytes: a file without newlines must not be read whole.
pub(crate) const MAX_LINE_SEARCH_BYTES: u64 = 16 << 20;
/// How much a search for lines reads at a time, in bytes.
const LINE_SEARCH_STEP_BYTES: u64 = 64 << 10;
/// Text longer than this is made on a thread of its own, so that it stalls nobody, in bytes.
const INLINE_RENDER_BYTES: usize = 256 << 10;

/// Why output cannot be read.
#[derive(Debug, Error)]
pub enum TranscriptError {
    /// The spool.
    #[error("cannot read the spool: {0}")]
    Spool(#[from] std::io::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Output by offset.
#[derive(Debug)]
pub struct Transcript {
    id: TerminalId,
    spool: Option<Spool>,
    origins: Option<Origins>,
    store: Store,
    readers: Readers,
    kept: AsyncMutex<Option<Kept>>,
    /// What is not kept in the middle, where it has a task; else the database knows.
    gaps: Mutex<Gaps>,
}

/// Bytes of output, without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The first byte's offset.
    pub start: Offset,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Span {
    /// The offset after the last byte.
    pub fn end(&self) -> Offset {
        self.start + self.bytes.len() as u64
    }
}

/// The end of the output as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The text.
    pub text: String,
    /// The offset of the first byte in it.
    pub start: Offset,
    /// The offset after the last byte in it.
    pub end: Offset,
    /// Whether there is text before it.
    pub truncated: bool,
}

impl Transcript {
    /// Of a terminal that has a spool; `origins` of one on pipes.
    pub fn live(id: TerminalId, spool: Spool, origins: Option<Origins>, store: Store) -> Self {
        Self {
            id,
            spool: Some(spool),
            origins,
            store,
            readers: Readers::default(),
            kept: AsyncMutex::default(),
            gaps: Mutex::default(),
        }
    }

    /// Of a terminal that only the database knows.
    pub fn stored(id: TerminalId, store: Store) -> Self {
        Self {
            id,
            spool: None,
            origins: None,
            store,
            readers: Readers::default(),
            kept: AsyncMutex::default(),
            gaps: Mutex::default(),
        }
    }

    /// States of readers of plain text.
    pub(crate) fn readers(&self) -> &Readers {
        &self.readers
    }

    /// What was resolved for `terminal/output`.
    pub(crate) fn kept(&self) -> &AsyncMutex<Option<Kept>> {
        &self.kept
    }

    /// The gaps in it, as far as its task has said; of one without a task
    /// [`gaps`](Self::gaps) knows them.
    pub fn known_gaps(&self) -> Gaps {
        let gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        gaps.clone()
    }

    /// These are its gaps. Only the terminal's own task, and who makes it, call this.
    pub fn set_gaps(&self, gaps: Gaps) {
        *self.gaps.lock().unwrap_or_else(PoisonError::into_inner) = gaps;
    }

    /// The gaps in it.
    pub async fn gaps(&self) -> Result<Gaps, TranscriptError> {
        if self.spool.is_some() {
            return Ok(self.known_gaps());
        }
        Ok(Gaps::of(self.store.gaps(&self.id).await?))
    }

    /// What is not kept between what was asked for and what was given.
    pub async fn gap_between(
        &self,
        asked: Offset,
        given: Offset,
    ) -> Result<Option<Gap>, TranscriptError> {
        if given <= asked {
            return Ok(None);
        }
        if let Some(gap) = self.gaps().await?.first_within(asked, given) {
            // Its task knows of what goes before it has gone.
            return Ok(Some(Gap { end: given, ..gap }));
        }
        let row = self.store.terminal(&self.id).await?;
        let kept_from = row.map_or(Offset::ZERO, |row| row.start);
        Ok(Some(if asked < kept_from {
            Gap {
                start: Offset::ZERO,
                // What was dropped a moment ago may still have been read from memory.
                end: given,
                cause: GapCause::Retention,
            }
        } else {
            Gap {
                start: asked,
                end: given,
                cause: GapCause::Lost,
            }
        }))
    }

    /// The spool, where there is one.
    pub fn spool(&self) -> Option<&Spool> {
        self.spool.as_ref()
    }

    /// Which byte in the spool came from which pipe, where it has pipes.
    pub fn origins(&self) -> Option<&Origins> {
        self.origins.as_ref()
    }

    /// The same of a block in the spool, as the store keeps it.
    pub fn origins_of_block(&self, start: Offset, length: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(origins) = &self.origins else {
            return Ok(None);
        };
        Ok(origins.read(start, length)?.into_block(length))
    }

    /// Gives back the memory of what is stored. Only the terminal's own task calls this.
    pub fn give_back_before(&self, offset: Offset) -> io::Result<()> {
        let Some(spool) = &self.spool else {
            return Ok(());
        };
        spool.punch_before(offset)?;
        // Not beyond what the spool gave back: it is what says whether this can be trusted.
        let start = spool.start();
        self.origins
            .as_ref()
            .map_or(Ok(()), |origins| origins.punch_before(start))
    }

    /// Gives back all memory of the spool: from now on everything is read from the database.
    pub fn discard(&self) -> io::Result<()> {
        self.spool.as_ref().map_or(Ok(()), Spool::discard)?;
        self.origins.as_ref().map_or(Ok(()), Origins::discard)
    }

    /// As [`read`](Self::read), with what each byte is.
    pub async fn read_with_origins(
        &self,
        since: Offset,
        max: u64,
    ) -> Result<(Span, OriginMap), TranscriptError> {
        if let (Some(spool), Some(origins)) = (&self.spool, &self.origins) {
            let length = usize::try_from(max).unwrap_or(usize::MAX);
            if let Some(bytes) = spool.read(since, length)? {
                let map = origins.read(since, bytes.len())?;
                // Given back while we read: the map may be holes.
                if since >= spool.start() {
                    let start = since;
                    return Ok((Span { start, bytes }, map));
                }
            }
        }
        let stored = self.store.read_transcript(&self.id, since, max).await?;
        let start = stored.start;
        let map = OriginMap::of_blocks(start, stored.origins);
        let bytes = stored.bytes;
        let spool = self.spool.as_ref().filter(|spool| spool.start() > since);
        if let Some(spool) = spool
            && (bytes.is_empty() || start > spool.start())
        {
            // Not there, or only later: it goes on where the spool begins.
            let (start, bytes) = (spool.start(), Vec::new());
            return Ok((Span { start, bytes }, OriginMap::default()));
        }
        Ok((Span { start, bytes }, map))
    }

    /// Reads up to `max` bytes from `since` on, or from the first byte after it that is kept.
    /// No bytes: there are none yet.
    pub async fn read(&self, since: Offset, max: u64) -> Result<Span, TranscriptError> {
        let length = usize::try_from(max).unwrap_or(usize::MAX);
        let Some(spool) = &self.spool else {
            return self.read_stored(since, max).await;
        };
        if let Some(bytes) = spool.read(since, length)? {
            return Ok(Span {
                start: since,
                bytes,
            });
        }
        let stored = self.read_stored(since, max).await?;
        // Blocks leave the spool only once they are committed, so what is not in the database
        // was never to be had, or was dropped by retention.
        if stored.bytes.is_empty() || stored.start >= spool.start() {
            let start = spool.start();
            let bytes = spool.read(start, length)?.unwrap_or_default();
            return Ok(Span { start, bytes });
        }
        Ok(stored)
    }

    /// The same, and nothing from `end` on.
    pub async fn read_before(
        &self,
        since: Offset,
        end: Offset,
        max: u64,
    ) -> Result<Span, TranscriptError> {
        let mut span = self.read(since, max.min(end.since(since))).await?;
        // Behind a gap there may be more than was asked for before it.
        let wanted = usize::try_from(end.since(span.start)).unwrap_or(usize::MAX);
        span.bytes.truncate(wanted);
        Ok(span)
    }

    async fn read_stored(&self, since: Offset, max: u64) -> Result<Span, TranscriptError> {
        let stored = self.store.read_transcript(&self.id, since, max).await?;
        Ok(Span {
            start: stored.start,
            bytes: stored.bytes,
        })
    }

    /// Reads all of a range that is still kept, less what stands before a gap in it; where the gap
    /// reaches the range's end, what stands before it.
    pub(crate) async fn read_range(
        &self,
        from: Offset,
        to: Offset,
    ) -> Result<Span, TranscriptError> {
        let mut span = self.read(from, to.since(from)).await?;
        while span.end() < to {
            let next = self.read(span.end(), to.since(span.end())).await?;
            if next.bytes.is_empty() || next.start >= to {
                break;
            }
            if next.start == span.end() {
                span.bytes.extend_from_slice(&next.bytes);
            } else {
                span = next;
            }
        }
        span.bytes
            .truncate(usize::try_from(to.since(span.start)).unwrap_or(usize::MAX));
        Ok(span)
    }

    /// The last `limit` bytes of text before `end`, escape sequences as they came, line ends as the program wrote them.
    pub async fn tail(
        &self,
        end: Offset,
        limit: u64,
        completeness: Completeness,
    ) -> Result<Tail, TranscriptError> {
        let limit_bytes = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut from = end.back(limit);
        loop {
            let span = self.read_range(from, end).await?;
            let front = if span.start == Offset::ZERO {
                Front::Whole
            } else {
                Front::Cut
            };
            let (start, length) = (span.start, span.bytes.len());
            let make = move || {
                (
                    render(
                        &span.bytes,
                        front,
                        completeness,
                        LineEnds::Fold,
                        limit_bytes,
                    ),
                    span.bytes,
                )
            };
            let (rendered, bytes) = if length > INLINE_RENDER_BYTES {
                tokio::task::spawn_blocking(make)
                    .await
                    .map_err(std::io::Error::other)?
            } else {
                make()
            };
            let missing = limit_bytes.saturating_sub(rendered.text.len()) as u64;
            let dropped_by_retention = start > from;
            if missing == 0 || from == Offset::ZERO || dropped_by_retention || bytes.is_empty() {
                return Ok(Tail {
                    text: rendered.text,
                    start: start + rendered.start as u64,
                    end: start + rendered.end as u64,
                    truncated: start.0 + rendered.start as u64 > 0,
                });
            }
            // Folding made the text shorter than its bytes: some more, and it is long enough.
            from = from.back(missing * 2 + LINE_SEARCH_STEP_BYTES);
        }
    }

    /// Where the last `lines` lines before `end` begin. A last line without its newline counts.
    pub async fn line_start(&self, end: Offset, lines: u64) -> Result<Offset, TranscriptError> {
        if lines == 0 {
            return Ok(end);
        }
        let floor = end.back(MAX_LINE_SEARCH_BYTES);
        let mut wanted = lines;
        let mut to = end;
        while to > floor {
            let from = to.back(LINE_SEARCH_STEP_BYTES).max(floor);
            let span = self.read_range(from, to).await?;
            for (index, _) in span
                .bytes
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, b)| **b == b'\n')
            {
                let after = span.start + index as u64 + 1;
                if after == end {
                    continue;
                }
                wanted -= 1;
                if wanted == 0 {
                    return Ok(after);
                }
            }
            if span.start > from || span.bytes.is_empty() {
                return Ok(span.start);
            }
            to = from;
        }
        Ok(floor)
    }
}
