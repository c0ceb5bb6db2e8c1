//! What a terminal's task hands to the store, and what it drops: blocks, gaps, and the memory of what
//! is stored.

use std::sync::Arc;
use std::time::Instant;

use termd_proto::Offset;
use termd_proto::terminal::Gap;
use tokio::sync::watch;

use super::backlog::BacklogShare;
use super::disk::{DiskShare, ReachedLimit, Step};
use super::flow::{Due, Flow};
use crate::clock::now_ms;
use crate::store::{BLOCK_BYTES, Block, BlockPermit, GapWrite};
use crate::terminal::handle::Terminal;

/// What is to be done next, once the store has a place in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Keep the screen, before the output that it would be made from is dropped.
    KeepScreen,
    Drop(Gap),
    Store(Due),
}

/// One terminal's output on its way to the store.
#[derive(Debug)]
pub(crate) struct BlockWriter {
    terminal: Arc<Terminal>,
    flow: Flow,
    disk: DiskShare,
    backlog: BacklogShare,
    committed: watch::Sender<Offset>,
}

impl BlockWriter {
    pub(crate) fn new(
        terminal: Arc<Terminal>,
        flow: Flow,
        disk: DiskShare,
        mut backlog: BacklogShare,
    ) -> Self {
        backlog.set(flow.unstored());
        Self {
            terminal,
            flow,
            disk,
            backlog,
            committed: watch::Sender::new(Offset::ZERO),
        }
    }

    /// Watches how far the output is committed.
    pub(crate) fn watch_committed(&self) -> watch::Receiver<Offset> {
        self.committed.subscribe()
    }

    /// Resolves when the quota or the room on the disk changes.
    pub(crate) async fn disk_changed(&mut self) {
        self.disk.changed().await;
    }

    /// Whether more output may be read.
    pub(crate) fn may_read(&self) -> bool {
        self.flow.may_read(self.backlog.spools())
    }

    pub(crate) fn is_all_stored(&self) -> bool {
        self.flow.unstored() == 0
    }

    /// What is to be done now. `screen_at` is the output that the stored screen shows.
    pub(crate) fn next_work(&self, screen_at: Offset, now: Instant) -> Option<Work> {
        if let Some(step) = self.disk.step(&self.flow, screen_at) {
            return Some(match step {
                Step::KeepScreen => Work::KeepScreen,
                Step::Drop(gap) => Work::Drop(gap),
            });
        }
        if self.disk.has_no_room() {
            return None;
        }
        self.flow.due(self.backlog.spools(), now).map(Work::Store)
    }

    /// When there will be work although nothing else happens.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        if self.disk.has_no_room() {
            return None;
        }
        self.flow.next_due(self.backlog.spools())
    }

    /// The output has grown to `end`, of which the screen shows what is before `fed`.
    pub(crate) fn grew(&mut self, end: Offset, fed: Offset, now: Instant) {
        self.flow.grew(end, now);
        self.release_memory(fed);
    }

    /// The command has ended: what is left of its output is read.
    pub(crate) fn drain(&mut self) {
        self.flow.drain();
    }

    /// No output follows.
    pub(crate) fn finish(&mut self) {
        self.flow.finish();
    }

    /// The store has committed up to here.
    pub(crate) fn committed(&mut self, stored: Offset, fed: Offset) {
        self.flow.committed(stored);
        self.release_memory(fed);
    }

    /// Hands a block to the store.
    pub(crate) fn store(&mut self, due: Due, permit: BlockPermit) {
        let length = usize::try_from(due.end.since(due.start)).unwrap_or(BLOCK_BYTES);
        let transcript = &self.terminal.transcript;
        let spool = transcript.spool();
        let read = spool.map_or(Ok(None), |spool| spool.read(due.start, length));
        let read =
            read.and_then(|read| Ok((read, transcript.stream_bits_of_block(due.start, length)?)));
        self.flow.queued(due, Instant::now());
        match read {
            Ok((Some(bytes), origins)) => permit.send(Block {
                terminal: self.terminal.id().clone(),
                start: due.start,
                bytes,
                origins,
                arrivals: transcript.noted_arrivals(due.start, due.end),
                committed: self.committed.clone(),
            }),
            failed => {
                // A further try would fail again, and for ever.
                tracing::error!(
                    terminal = %self.terminal.id(), start = %due.start, end = %due.end,
                    error = ?failed.err(), "output cannot be read from the spool and is not stored"
                );
                self.flow.committed(due.end);
            }
        }
    }

    /// The screen was kept for what is dropped next, or there is none.
    pub(crate) fn screen_was_kept(&mut self) {
        self.disk.has_screen_for(&self.flow);
    }

    /// Drops a range; returns a limit that is reached for the first time. The screen shows what is
    /// before `fed`.
    pub(crate) fn drop_range(
        &mut self,
        gap: Gap,
        permit: BlockPermit,
        fed: Offset,
    ) -> Option<ReachedLimit> {
        let was_stored = gap.end <= self.flow.stored();
        let (gap, reached) = self.disk.drop_range(&self.terminal, gap);
        let committed = (!was_stored).then(|| {
            self.flow.give_up(gap.end, Instant::now());
            self.committed.clone()
        });
        permit.send_gap(GapWrite {
            terminal: self.terminal.id().clone(),
            gap,
            at_ms: now_ms(),
            committed,
        });
        self.release_memory(fed);
        reached
    }

    /// Releases what is stored and fed (the screen reads from the spool alone), and what the last gap
    /// says is not kept.
    fn release_memory(&mut self, fed: Offset) {
        let unstored = self.flow.unstored();
        self.backlog.set(unstored);
        self.terminal.set_unstored(unstored);
        (self.terminal.transcript).forget_arrivals_before(self.flow.settled());
        let dropped = self.gaps().last().map_or(Offset::ZERO, |gap| gap.end);
        let expendable = self.flow.expendable().max(dropped.min(self.flow.stored()));
        if let Err(error) = (self.terminal.transcript).release_before(expendable.min(fed)) {
            tracing::warn!(terminal = %self.terminal.id(), %error, "cannot shrink the spool");
        }
    }

    /// All output that is not kept.
    pub(crate) fn gaps(&self) -> &[Gap] {
        self.disk.gaps()
    }
}
