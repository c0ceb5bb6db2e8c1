//! Which bytes go to the store next, which leave the spool, and whether more may come: pure.

use std::time::{Duration, Instant};

use termd_proto::Offset;

use super::backlog::Spools;
use super::pace::Pace;
use crate::store::BLOCK_BYTES;

const BLOCK: u64 = BLOCK_BYTES as u64;
/// How many bytes may wait for the store before the PTY is left unread: the spool absorbs a store
/// that is slow for a second, and the child waits for one that is slow for longer.
const MAX_BACKLOG_BYTES: u64 = 8 << 20;
/// So much of a burst is held beside: what a PTY gives in as long as one is held, at 64 MiB/s.
const MAX_BURST_BYTES: u64 = 128 << 20;
/// After a burst: for each two bytes that are stored one comes, until no more waits than ever. To
/// stop reading until then would stop the program for seconds.
const STORED_BYTES_PER_BYTE_LET_IN: u64 = 2;
/// How long the first bytes of a block wait for company before they are stored.
const TAIL_DELAY: Duration = Duration::from_millis(100);
/// The longer a block already is, the dearer it is to store it once more: this much longer for
/// each 4 KiB.
const TAIL_DELAY_PER_4_KIB: Duration = Duration::from_millis(100);

/// A part of the output that is to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Where its block begins.
    pub start: Offset,
    /// Where it ends.
    pub end: Offset,
}

/// How far a terminal's output has come.
#[derive(Debug)]
pub struct Flow {
    window: u64,
    end: Offset,
    block_start: Offset,
    queued: Offset,
    stored: Offset,
    /// When the bytes after `queued` are due although their block is not full.
    tail_due: Option<Instant>,
    pace: Pace,
    /// How much may wait for the store while nothing is held.
    allowed: u64,
    finished: bool,
}

impl Flow {
    /// Goes on where the store has the output up to `stored`. `first` is the first byte that can
    /// still be read, `window` how many bytes are to stay at hand.
    pub fn resume(stored: Offset, first: Offset, end: Offset, window: u64, now: Instant) -> Self {
        let aligned = |offset: Offset| Offset(offset.0 / BLOCK * BLOCK);
        let block_start = if aligned(stored) >= first {
            aligned(stored)
        } else {
            // The database lost what the spool no longer has: go on after the gap.
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
            pace: Pace::new(end, now),
            allowed: MAX_BACKLOG_BYTES,
            finished: false,
        };
        flow.grew(end, now);
        flow
    }

    /// The output is this long now.
    pub fn grew(&mut self, end: Offset, now: Instant) {
        if end > self.end {
            self.end = end;
            let before = self.pace;
            self.pace = before.grew(end, now);
            if matches!(before, Pace::Burst { .. }) && self.pace.held_until().is_none() {
                self.allowed = self.unstored() + MAX_BACKLOG_BYTES;
            }
        }
        if self.end > self.queued && self.tail_due.is_none() {
            let length = u32::try_from(self.end.since(self.block_start) / 4096).unwrap_or(u32::MAX);
            self.tail_due = Some(now + TAIL_DELAY + TAIL_DELAY_PER_4_KIB * length.min(16));
        }
    }

    /// No output follows: what is left is due at once.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Until when what waits is held, if no more comes.
    fn held_until(&self, spools: Spools) -> Option<Instant> {
        let may_wait = !self.finished && self.waiting() < MAX_BURST_BYTES;
        match spools {
            Spools::Ample if may_wait => self.pace.held_until(),
            Spools::Ample | Spools::Crowded => None,
        }
    }

    /// What is to be stored now.
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

    /// When [`due`](Self::due) will say something although nothing else happens.
    pub fn next_due(&self, spools: Spools) -> Option<Instant> {
        let due = self.held_until(spools).or(self.tail_due);
        due.filter(|_| self.end > self.queued)
    }

    /// This part is in the store's queue.
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
        let let_in = self.stored.since(before) / STORED_BYTES_PER_BYTE_LET_IN;
        self.allowed = self.allowed.saturating_sub(let_in).max(MAX_BACKLOG_BYTES);
    }

    /// Everything before this is stored, or was given up.
    pub fn stored(&self) -> Offset {
        self.stored
    }

    /// Where the oldest output begins that is on no way to the store.
    pub fn waiting_from(&self) -> Offset {
        self.queued.max(self.block_start)
    }

    /// How much output is on no way to the store, in bytes.
    pub fn waiting(&self) -> u64 {
        self.end.since(self.waiting_from())
    }

    /// Whether no output follows.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Up to where the oldest output can be given up so that about `keep` bytes of what waits are
    /// left; whole blocks, but for the last one of output that is over. `None`: there is no more.
    pub fn expendable_unstored(&self, keep: u64) -> Option<Offset> {
        let end = if self.finished && keep == 0 {
            self.end
        } else {
            Offset(self.end.back(keep).0 / BLOCK * BLOCK)
        };
        (end > self.waiting_from()).then_some(end)
    }

    /// Output up to here, which [`expendable_unstored`](Self::expendable_unstored) gave, will not
    /// be stored; it counts as stored once that is committed.
    pub fn give_up(&mut self, end: Offset, now: Instant) {
        self.queued = self.queued.max(end);
        self.block_start = self.block_start.max(Offset(end.0 / BLOCK * BLOCK));
        self.tail_due = None;
        self.grew(self.end, now);
    }

    /// Whether the PTY may be read.
    pub fn may_read(&self, spools: Spools) -> bool {
        let most = match (spools, self.pace) {
            (Spools::Ample, Pace::Burst { .. }) => MAX_BURST_BYTES + MAX_BACKLOG_BYTES,
            (Spools::Ample, Pace::Calm(_) | Pace::Flood(_)) => self.allowed,
            (Spools::Crowded, _) => MAX_BACKLOG_BYTES,
        };
        self.unstored() < most
    }

    /// Bytes before this are stored and past the window. Whole blocks: the one being filled is
    /// read again each time that it is stored.
    pub fn expendable(&self) -> Offset {
        self.stored
            .min(self.end.back(self.window))
            .min(self.block_start)
    }

    /// Bytes that are not committed yet.
    pub fn unstored(&self) -> u64 {
        self.end.since(self.stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;
    /// In which what comes is no burst.
    const SLOW: Duration = Duration::from_secs(1);

    fn flow(now: Instant) -> Flow {
        Flow::resume(Offset(0), Offset(0), Offset(0), 1024 * KIB, now)
    }

    #[test]
    fn whole_blocks_go_at_once_and_tails_after_a_while() {
        let now = Instant::now();
        let mut flow = flow(now);
        assert_eq!(
            (flow.due(Spools::Ample, now), flow.next_due(Spools::Ample)),
            (None, None)
        );
        flow.grew(Offset(10), now);
        assert_eq!(flow.due(Spools::Ample, now), None);
        let due = flow
            .next_due(Spools::Ample)
            .expect("a tail is due some time");
        assert_eq!(
            flow.due(Spools::Ample, due),
            Some(Due {
                start: Offset(0),
                end: Offset(10)
            })
        );
        flow.queued(
            Due {
                start: Offset(0),
                end: Offset(10),
            },
            now,
        );
        assert_eq!(
            (flow.due(Spools::Ample, due), flow.next_due(Spools::Ample)),
            (None, None)
        );
        flow.grew(Offset(130 * KIB), now);
        let first = Due {
            start: Offset(0),
            end: Offset(64 * KIB),
        };
        assert_eq!(flow.due(Spools::Ample, now), Some(first));
        flow.queued(first, now);
        let second = Due {
            start: Offset(64 * KIB),
            end: Offset(128 * KIB),
        };
        assert_eq!(flow.due(Spools::Ample, now), Some(second));
        flow.queued(second, now);
        assert_eq!(flow.due(Spools::Ample, now), None);
        flow.finish();
        assert_eq!(
            flow.due(Spools::Ample, now),
            Some(Due {
                start: Offset(128 * KIB),
                end: Offset(130 * KIB)
            })
        );
    }

    #[test]
    fn a_slow_store_stops_the_reading_and_a_commit_starts_it_again() {
        let now = Instant::now();
        let mut flow = flow(now);
        flow.grew(Offset(MAX_BACKLOG_BYTES), now + SLOW);
        assert!(!flow.may_read(Spools::Ample));
        flow.committed(Offset(64 * KIB));
        assert!(flow.may_read(Spools::Ample));
        assert_eq!(flow.unstored(), MAX_BACKLOG_BYTES - 64 * KIB);
    }

    /// A MiB each 20 ms.
    fn flood(flow: &mut Flow, now: &mut Instant, mib: u64) {
        for _ in 0..mib {
            *now += Duration::from_millis(20);
            flow.grew(flow.end + 1024 * KIB, *now);
        }
    }

    #[test]
    fn a_burst_waits_for_its_pause_or_its_end_or_for_others_room() {
        let mut now = Instant::now();
        let mut flow = flow(now);
        flood(&mut flow, &mut now, 64);
        assert_eq!(flow.due(Spools::Ample, now), None);
        assert!(flow.may_read(Spools::Ample));
        assert!(flow.due(Spools::Crowded, now).is_some());
        assert!(!flow.may_read(Spools::Crowded));
        let paused = flow
            .next_due(Spools::Ample)
            .expect("it is stored some time");
        assert!(flow.due(Spools::Ample, paused).is_some());
        flow.finish();
        assert!(flow.due(Spools::Ample, now).is_some());
    }

    #[test]
    fn a_burst_has_a_bound() {
        let now = Instant::now();
        let mut flow = flow(now);
        flow.grew(Offset(2048 * KIB), now);
        flow.grew(Offset(MAX_BURST_BYTES - 1), now);
        assert_eq!(flow.due(Spools::Ample, now), None);
        flow.grew(Offset(MAX_BURST_BYTES), now);
        assert!(flow.due(Spools::Ample, now).is_some());
        assert!(flow.may_read(Spools::Ample));
        flow.grew(Offset(MAX_BURST_BYTES + MAX_BACKLOG_BYTES), now);
        assert!(!flow.may_read(Spools::Ample));
    }

    #[test]
    fn after_a_burst_less_and_less_waits_while_the_program_goes_on() {
        let mut now = Instant::now();
        let mut flow = flow(now);
        flood(&mut flow, &mut now, 100);
        let most = flow.unstored() + MAX_BACKLOG_BYTES;
        flood(&mut flow, &mut now, 4);
        assert!(flow.may_read(Spools::Ample), "{flow:?}");
        while let Some(due) = flow.due(Spools::Ample, now) {
            flow.queued(due, now);
        }
        let mut stored = Offset(0);
        let mut let_in = 0;
        let mut waited = flow.unstored();
        while waited > MAX_BACKLOG_BYTES {
            stored = stored + 1024 * KIB;
            flow.committed(stored);
            while flow.may_read(Spools::Ample) {
                flow.grew(flow.end + 64 * KIB, now);
                let_in += 64 * KIB;
            }
            assert!(flow.unstored() <= waited.max(most), "{flow:?}");
            waited = flow.unstored();
        }
        assert!(let_in > 64 << 20, "the program stood still: {let_in}");
    }

    #[test]
    fn nothing_leaves_that_is_not_stored_or_in_the_window() {
        let now = Instant::now();
        let mut flow = flow(now);
        flow.grew(Offset(4096 * KIB), now + SLOW);
        assert_eq!(flow.expendable(), Offset(0));
        while let Some(due) = flow.due(Spools::Ample, now) {
            flow.queued(due, now);
        }
        assert_eq!(flow.expendable(), Offset(0), "queued is not stored");
        flow.committed(Offset(512 * KIB));
        assert_eq!(flow.expendable(), Offset(512 * KIB));
        flow.committed(Offset(4096 * KIB));
        assert_eq!(flow.expendable(), Offset(3072 * KIB));
    }

    #[test]
    fn what_is_given_up_is_the_oldest_and_counts_once_it_is_committed() {
        let now = Instant::now();
        let mut flow = flow(now);
        flow.grew(Offset(10 * KIB), now);
        let begun = Due {
            start: Offset(0),
            end: Offset(10 * KIB),
        };
        flow.queued(begun, now);
        flow.committed(Offset(10 * KIB));
        flow.grew(Offset(1000 * KIB), now);
        assert_eq!(flow.expendable_unstored(1000 * KIB), None);
        let end = flow.expendable_unstored(300 * KIB).expect("there is more");
        assert_eq!(
            (flow.waiting_from(), end),
            (Offset(10 * KIB), Offset(640 * KIB))
        );
        flow.give_up(end, now);
        assert_eq!(flow.unstored(), 990 * KIB, "it is not recorded yet");
        flow.committed(end);
        assert_eq!(flow.unstored(), 360 * KIB);
        let due = flow.due(Spools::Ample, now).expect("the rest is stored");
        assert_eq!((due.start, due.end), (end, Offset(704 * KIB)));
        flow.finish();
        assert_eq!(flow.expendable_unstored(0), Some(Offset(1000 * KIB)));
        flow.give_up(Offset(1000 * KIB), now);
        assert_eq!(
            (flow.due(Spools::Ample, now), flow.expendable_unstored(0)),
            (None, None)
        );
    }

    #[test]
    fn a_new_server_goes_on_with_the_block_that_the_last_one_was_filling() {
        let now = Instant::now();
        let k = |n: u64| Offset(n * KIB);
        let table = [
            // stored, first, end → what is due in the end
            (
                k(0),
                k(0),
                k(10),
                Some(Due {
                    start: k(0),
                    end: k(10),
                }),
            ),
            (
                k(70),
                k(64),
                k(90),
                Some(Due {
                    start: k(64),
                    end: k(90),
                }),
            ),
            (k(90), k(64), k(90), None),
            (
                k(0),
                k(100),
                k(130),
                Some(Due {
                    start: k(128),
                    end: k(130),
                }),
            ),
        ];
        for (stored, first, end, expected) in table {
            let mut flow = Flow::resume(stored, first, end, 0, now);
            flow.finish();
            assert_eq!(
                flow.due(Spools::Ample, now),
                expected,
                "{stored} {first} {end}"
            );
        }
    }
}
