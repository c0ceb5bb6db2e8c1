//! A terminal's output by offset, wherever it is: in the spool, or in the database.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::terminal::{Gap, GapCause};
use termd_proto::{Offset, TerminalId};
use thiserror::Error;

use super::arrival_log::{ArrivalLog, cut};
use super::quota::Gaps;
use super::spool::Spool;
use super::stream_map::{StreamBits, StreamMap};
use crate::store::{Arrival, SizeChange, Store, StoreError};

/// Why output cannot be read.
#[derive(Debug, Error)]
pub enum TranscriptError {
    #[error("cannot read the spool: {0}")]
    Spool(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Output by offset.
#[derive(Debug)]
pub struct Transcript {
    id: TerminalId,
    spool: Option<Spool>,
    streams: Option<StreamMap>,
    store: Store,
    /// The gaps of a terminal that has a task. Of any other the database knows them.
    gaps: Mutex<Gaps>,
    /// When the output came that the database does not have for good.
    arrivals: Mutex<ArrivalLog>,
}

/// Bytes of output without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The first byte's offset.
    pub start: Offset,
    pub bytes: Vec<u8>,
}

impl Span {
    /// The offset after the last byte.
    pub fn end(&self) -> Offset {
        self.start + self.bytes.len() as u64
    }

    /// Drops the bytes from `end` on.
    pub fn truncate_at(&mut self, end: Offset) {
        let length = usize::try_from(end.since(self.start)).unwrap_or(usize::MAX);
        self.bytes.truncate(length);
    }
}

impl Transcript {
    /// The transcript of a terminal that has a spool; with `streams` if its command is on pipes.
    pub(crate) fn live(
        id: TerminalId,
        spool: Spool,
        streams: Option<StreamMap>,
        arrivals: ArrivalLog,
        store: Store,
    ) -> Self {
        Self {
            id,
            spool: Some(spool),
            streams,
            store,
            gaps: Mutex::default(),
            arrivals: Mutex::new(arrivals),
        }
    }

    /// The transcript of a terminal that only the database knows.
    pub fn stored(id: TerminalId, store: Store) -> Self {
        Self {
            id,
            spool: None,
            streams: None,
            store,
            gaps: Mutex::default(),
            arrivals: Mutex::new(ArrivalLog::stored()),
        }
    }

    /// Notes that the output has grown to `end`, `at_ms` milliseconds after the terminal's start. Only
    /// the terminal's task does.
    pub(crate) fn grew(&self, end: Offset, at_ms: u64) {
        self.arrival_log().grew(end, at_ms);
    }

    /// When output that the database does not have for good came.
    pub(crate) fn noted_arrivals(&self, from: Offset, to: Offset) -> Vec<Arrival> {
        self.arrival_log().between(from, to)
    }

    /// The database has the arrivals before this for good.
    pub(crate) fn forget_arrivals_before(&self, offset: Offset) {
        self.arrival_log().forget_before(offset);
    }

    /// When the output in a range came: parts in order, each with the offset of its first byte. What lies
    /// between them is not kept, or is older than what notes the times.
    pub(crate) async fn arrivals(
        &self,
        from: Offset,
        to: Offset,
    ) -> Result<Vec<(Offset, Vec<Arrival>)>, TranscriptError> {
        let (noted_from, noted) = {
            let log = self.arrival_log();
            (log.start(), log.between(from, to))
        };
        let stored_to = to.min(noted_from);
        let mut parts = Vec::new();
        if from < stored_to {
            for (start, arrivals) in self.store.arrivals(&self.id, (from, stored_to)).await? {
                let start = start.max(from);
                parts.push((start, cut(arrivals.into_iter(), start, stored_to)));
            }
        }
        parts.push((from.max(noted_from), noted));
        Ok(parts)
    }

    /// The end of the output in a range that had come by a time, in milliseconds since the terminal's
    /// start; `None`: of none is known when it came.
    pub(crate) async fn arrived_by(
        &self,
        (from, to): (Offset, Offset),
        at_ms: u64,
    ) -> Result<Option<Offset>, TranscriptError> {
        let (noted_from, noted) = {
            let log = self.arrival_log();
            (log.start().max(from).min(to), log.between(from, to))
        };
        let came = noted.iter().take_while(|arrival| arrival.at_ms <= at_ms);
        if let Some(last) = came.last() {
            return Ok(Some(last.end));
        }
        let stored = self.store.arrived_by(&self.id, (from, noted_from), at_ms);
        let first_noted = (!noted.is_empty()).then_some(noted_from);
        Ok(stored.await?.or(first_noted))
    }

    /// The sizes that the terminal had from an offset on, in order; the first may be older. Empty: always
    /// its first one.
    pub(crate) async fn sizes(&self, from: Offset) -> Result<Vec<SizeChange>, TranscriptError> {
        Ok(self.store.sizes(&self.id, from).await?)
    }

    fn arrival_log(&self) -> MutexGuard<'_, ArrivalLog> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gaps that the terminal's task has set. Without a task, only [`gaps`](Self::gaps) knows
    /// them.
    pub fn known_gaps(&self) -> Gaps {
        let gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        gaps.clone()
    }

    /// Sets the gaps. Only the terminal's task does, and the service before there is one.
    pub fn set_gaps(&self, gaps: Gaps) {
        *self.gaps.lock().unwrap_or_else(PoisonError::into_inner) = gaps;
    }

    pub async fn gaps(&self) -> Result<Gaps, TranscriptError> {
        if self.spool.is_some() {
            return Ok(self.known_gaps());
        }
        Ok(Gaps::of(self.store.gaps(&self.id).await?))
    }

    /// The gap between the offset that was requested and the one that was read from.
    pub async fn gap_between(
        &self,
        requested: Offset,
        given: Offset,
    ) -> Result<Option<Gap>, TranscriptError> {
        if given <= requested {
            return Ok(None);
        }
        if let Some(gap) = self.gaps().await?.first_within(requested, given) {
            // The task records a gap before its bytes are gone, so more may have been read.
            return Ok(Some(Gap { end: given, ..gap }));
        }
        let row = self.store.terminal(&self.id).await?;
        let kept_from = row.map_or(Offset::ZERO, |row| row.start);
        Ok(Some(if requested < kept_from {
            Gap {
                start: Offset::ZERO,
                // What was dropped a moment ago may still have been read from memory.
                end: given,
                cause: GapCause::Retention,
            }
        } else {
            Gap {
                start: requested,
                end: given,
                cause: GapCause::Lost,
            }
        }))
    }

    pub fn spool(&self) -> Option<&Spool> {
        self.spool.as_ref()
    }

    /// Which byte in the spool came from which pipe, for a command on pipes.
    pub fn streams(&self) -> Option<&StreamMap> {
        self.streams.as_ref()
    }

    /// The stream map of a block in the spool, as the store keeps it.
    pub fn stream_bits_of_block(
        &self,
        start: Offset,
        length: usize,
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(streams) = &self.streams else {
            return Ok(None);
        };
        Ok(streams.read(start, length)?.into_block(length))
    }

    /// Has the bytes before `offset` read from the database. Only the terminal's task does.
    pub fn release_before(&self, offset: Offset) -> io::Result<()> {
        let Some(spool) = &self.spool else {
            return Ok(());
        };
        spool.release_before(offset)?;
        // The map is trusted from the spool's start on, so no more of it is given back.
        let start = spool.start();
        self.streams
            .as_ref()
            .map_or(Ok(()), |streams| streams.punch_before(start))
    }

    /// Gives back all memory of the spool: from now on everything is read from the database.
    pub fn discard(&self) -> io::Result<()> {
        let end = self.spool.as_ref().map_or(Offset::ZERO, Spool::end);
        self.forget_arrivals_before(end);
        self.spool.as_ref().map_or(Ok(()), Spool::discard)?;
        self.streams.as_ref().map_or(Ok(()), StreamMap::discard)
    }

    /// Reads up to `max` bytes from `since` on, or from the first byte after it that is kept.
    /// An empty span means that there are none yet.
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
        // Blocks leave the spool only once they are committed. What the database lacks was lost,
        // or dropped by retention.
        if stored.bytes.is_empty() || stored.start >= spool.start() {
            let start = spool.start();
            let bytes = spool.read(start, length)?.unwrap_or_default();
            return Ok(Span { start, bytes });
        }
        Ok(stored)
    }

    async fn read_stored(&self, since: Offset, max: u64) -> Result<Span, TranscriptError> {
        let stored = self.store.read_transcript(&self.id, since, max).await?;
        Ok(Span {
            start: stored.start,
            bytes: stored.bytes,
        })
    }

    /// [`read`](Self::read) with the stream of each byte.
    pub async fn read_with_streams(
        &self,
        since: Offset,
        max: u64,
    ) -> Result<(Span, StreamBits), TranscriptError> {
        if let (Some(spool), Some(streams)) = (&self.spool, &self.streams) {
            let length = usize::try_from(max).unwrap_or(usize::MAX);
            if let Some(bytes) = spool.read(since, length)? {
                let bits = streams.read(since, bytes.len())?;
                // Memory that was given back meanwhile reads as holes.
                if since >= spool.start() {
                    let start = since;
                    return Ok((Span { start, bytes }, bits));
                }
            }
        }
        let stored = self.store.read_transcript(&self.id, since, max).await?;
        let start = stored.start;
        let bits = StreamBits::of_blocks(start, stored.origins);
        let bytes = stored.bytes;
        let spool = self.spool.as_ref().filter(|spool| spool.start() > since);
        if let Some(spool) = spool
            && (bytes.is_empty() || start > spool.start())
        {
            // The database has nothing before the spool: the output goes on where that begins.
            let (start, bytes) = (spool.start(), Vec::new());
            return Ok((Span { start, bytes }, StreamBits::default()));
        }
        Ok((Span { start, bytes }, bits))
    }

    /// Reads all of a range that is still kept, with the stream of each byte, in parts.
    pub(crate) async fn parts(
        &self,
        from: Offset,
        to: Offset,
    ) -> Result<Vec<(Span, StreamBits)>, TranscriptError> {
        let mut parts = Vec::new();
        let mut at = from;
        while at < to {
            let part = self.read_with_streams(at, to.since(at)).await?;
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

    /// [`read`](Self::read), and nothing from `end` on.
    pub async fn read_before(
        &self,
        since: Offset,
        end: Offset,
        max: u64,
    ) -> Result<Span, TranscriptError> {
        let mut span = self.read(since, max.min(end.since(since))).await?;
        // After a gap the span begins later, and would end later.
        span.truncate_at(end);
        Ok(span)
    }

    /// Reads all of a range that is still kept, without what lies before a gap in it. A gap at the
    /// range's end leaves what lies before that.
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
        span.truncate_at(to);
        Ok(span)
    }
}
