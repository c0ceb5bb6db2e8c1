//! Which bytes go to the store next, which leave the spool, and whether more may be read. Pure.

use std::time::{Duration, Instant};

use termd_proto::Offset;

use super::backlog::Spools;
use super::write_pacing::WritePacing;
use crate::store::BLOCK_BYTES;

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Most bytes that wait for the store; then the PTY is left unread. The spool absorbs a store that is
/// slow for a second. A child waits for a store that is slow for longer.
const MAX_BACKLOG_BYTES: u64 = 8 << 20;
/// Most bytes of a burst that are held in addition: what a PTY gives in that time at 64 MiB/s.
const MAX_BURST_BYTES: u64 = 128 << 20;
/// After a burst one byte is read for each two that are stored, until no more waits than usual. To read
/// nothing until then would stop the program for seconds.
const STORED_PER_READ_BYTE: u64 = 2;
/// What may wait in addition once the command has ended: more than its tty or its two pipes hold, 1 MiB
/// each (pipe(7)). A full disk does not hold up its exit.
const MAX_DRAINED_BYTES: u64 = 4 << 20;
/// How long the first bytes of a block wait for more before they are stored.
const TAIL_DELAY: Duration = Duration::from_millis(100);
/// How much longer for each 4 KiB of the block: the longer a block is, the more it costs to store it
/// again.
const TAIL_DELAY_PER_4_KIB: Duration = Duration::from_millis(100);

/// A part of the output that is to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Where the block begins.
    pub start: Offset,
    pub end: Offset,
}

/// One terminal's output between spool and store.
#[derive(Debug)]
pub struct Flow {
    /// Bytes that stay in the spool when they are stored.
    window: u64,
    end: Offset,
    block_start: Offset,
    queued: Offset,
    stored: Offset,
    /// When the bytes after `queued` are due although their block is not full.
    tail_due: Option<Instant>,
    pacing: WritePacing,
    /// Bytes that may wait for the store while nothing is held.
    allowed: u64,
    /// The command has ended.
    draining: bool,
    finished: bool,
}

impl Flow {
    /// Goes on where the store has the output up to `stored`. `first` is the first byte that can still
    /// be read; `window` is how many bytes stay in the spool.
    pub fn resume(stored: Offset, first: Offset, end: Offset, window: u64, now: Instant) -> Self {
        let aligned = |offset: Offset| Offset(offset.0 / BLOCK * BLOCK);
        let block_start = if aligned(stored) >= first {
            aligned(stored)
        } else {
            // The database has lost bytes that the spool no longer has: go on after the gap.
            Offset(first.0.div_ceil(BLOCK) * BLOCK)
        };
        let queued = stored.max(block_start).min(end);
        let mut flow = Self {
            window,
            end: queued,
            block_start,
            queued,
            stored: queued,
            tail_due: None,
            pacing: WritePacing::new(end, now),
            allowed: MAX_BACKLOG_BYTES,
            draining: false,
            finished: false,
        };
        flow.grew(end, now);
        flow
    }

    /// The output has grown to `end`.
    pub fn grew(&mut self, end: Offset, now: Instant) {
        if end > self.end {
            self.end = end;
            let before = self.pacing;
            self.pacing = before.grew(end, now);
            if matches!(before, WritePacing::Burst { .. }) && self.pacing.held_until().is_none() {
                self.allowed = self.unstored() + MAX_BACKLOG_BYTES;
            }
        }
        if self.end > self.queued && self.tail_due.is_none() {
            let length = u32::try_from(self.end.since(self.block_start) / 4096).unwrap_or(u32::MAX);
            self.tail_due = Some(now + TAIL_DELAY + TAIL_DELAY_PER_4_KIB * length.min(16));
        }
    }

    /// The command has ended: what is left of its output is read.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// No output follows: the rest is due at once.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Until when the waiting output is held, if no more comes.
    fn held_until(&self, spools: Spools) -> Option<Instant> {
        let may_wait = !self.finished && self.waiting() < MAX_BURST_BYTES;
        match spools {
            Spools::Ample if may_wait => self.pacing.held_until(),
            Spools::Ample | Spools::Crowded => None,
        }
    }

    /// The part that is to be stored now.
    pub fn due(&self, spools: Spools, now: Instant) -> Option<Due> {
        if self.held_until(spools).is_some_and(|until| now < until) {
            return None;
        }
        let full = self.block_start + BLOCK;
        if self.end >= full {
            return Some(Due {
                start: self.block_start,
                end: full,
            });
        }
        let tail_is_due = self.finished || self.tail_due.is_some_and(|due| due <= now);
        (self.end > self.queued && tail_is_due).then_some(Due {
            start: self.block_start,
            end: self.end,
        })
    }

    /// When [`due`](Self::due) will have a part although nothing else happens.
    pub fn next_due(&self, spools: Spools) -> Option<Instant> {
        let due = self.held_until(spools).or(self.tail_due);
        due.filter(|_| self.end > self.queued)
    }

    /// Counts a part that is in the store's queue.
    pub fn queued(&mut self, due: Due, now: Instant) {
        self.queued = due.end;
        if due.end == self.block_start + BLOCK {
            self.block_start = due.end;
        }
        self.tail_due = None;
        self.grew(self.end, now);
    }

    /// The store has committed up to here.
    pub fn committed(&mut self, stored: Offset) {
        let before = self.stored;
        self.stored = before.max(stored);
        let more = self.stored.since(before) / STORED_PER_READ_BYTE;
        self.allowed = self.allowed.saturating_sub(more).max(MAX_BACKLOG_BYTES);
    }

    /// Everything before this is stored or given up.
    pub fn stored(&self) -> Offset {
        self.stored
    }

    /// Where the output begins that is not in the store's queue.
    pub fn waiting_from(&self) -> Offset {
        self.queued.max(self.block_start)
    }

    /// How much output is not in the store's queue, in bytes.
    pub fn waiting(&self) -> u64 {
        self.end.since(self.waiting_from())
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Up to where the oldest waiting output can be given up so that about `keep` bytes are left: whole
    /// blocks, except at the end of output that is over. `None` where no more waits.
    pub fn expendable_unstored(&self, keep: u64) -> Option<Offset> {
        let end = if self.finished && keep == 0 {
            self.end
        } else {
            Offset(self.end.back(keep).0 / BLOCK * BLOCK)
        };
        (end > self.waiting_from()).then_some(end)
    }

    /// Gives up the output before `end`, which [`expendable_unstored`](Self::expendable_unstored) gave.
    /// It counts as stored once its gap is committed.
    pub fn give_up(&mut self, end: Offset, now: Instant) {
        self.queued = self.queued.max(end);
        self.block_start = self.block_start.max(Offset(end.0 / BLOCK * BLOCK));
        self.tail_due = None;
        self.grew(self.end, now);
    }

    /// Whether the PTY may be read.
    pub fn may_read(&self, spools: Spools) -> bool {
        let max = match (spools, self.pacing) {
            (Spools::Ample, WritePacing::Burst { .. }) => MAX_BURST_BYTES + MAX_BACKLOG_BYTES,
            (Spools::Ample, WritePacing::Calm(_) | WritePacing::Flood(_)) => self.allowed,
            (Spools::Crowded, _) => MAX_BACKLOG_BYTES,
        };
        let drained = if self.draining { MAX_DRAINED_BYTES } else { 0 };
        self.unstored() < max + drained
    }

    /// Bytes before this are stored for good. The block that is being filled is read again each time it is
    /// stored.
    pub fn settled(&self) -> Offset {
        self.stored.min(self.block_start)
    }

    /// Bytes before this are stored for good, and past the window.
    pub fn expendable(&self) -> Offset {
        self.settled().min(self.end.back(self.window))
    }

    /// Bytes that are not committed yet.
    pub fn unstored(&self) -> u64 {
        self.end.since(self.stored)
    }
}

#[cfg(test)]
mod tests;
