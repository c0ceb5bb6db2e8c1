//! Decides which output of a terminal is stored, dropped for a quota, or given up when the disk is
//! full.
//!
//! **Invariants:** no output is dropped without its row in the database. A screen that needs none of
//! the output is stored first, so that the next server makes the screen from what is left. A quota
//! never holds up a program, and a full disk only until that row is written.

use termd_proto::Offset;
use termd_proto::terminal::{DiskLimit, Gap, GapCause};
use tokio::sync::watch;

use super::flow::Flow;
use super::quota::{Gaps, Quota};
use crate::terminal::handle::Terminal;

/// How much output waits for a full disk, in bytes; the oldest of more is given up. Less than what
/// makes the PTY wait.
const MAX_WAITING_BYTES: u64 = 5 << 20;
/// How much is then left waiting, in bytes.
const KEPT_WAITING_BYTES: u64 = 4 << 20;

/// Whether the disk has room for output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Enough,
    /// There is less free space than the floor.
    Low(FreeSpace),
    /// There is less, and the daemon is ending: what is not stored will never be.
    GivingUp(FreeSpace),
}

/// Free space and its floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes below which no output is stored.
    pub floor: u64,
    /// Bytes free.
    pub bytes: u64,
}

impl Room {
    /// The free space, where it is too little.
    pub fn lack(self) -> Option<FreeSpace> {
        match self {
            Self::Enough => None,
            Self::Low(free) | Self::GivingUp(free) => Some(free),
        }
    }
}

/// What is to be done before the next block is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Keep the screen: the output that it would be made from is about to be dropped.
    KeepScreen,
    Drop(Gap),
}

/// A limit that a terminal has reached for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReachedLimit {
    pub(crate) limit: DiskLimit,
    /// In bytes.
    pub(crate) value: u64,
}

/// One terminal's share of the disk.
#[derive(Debug)]
pub struct DiskShare {
    /// The terminal's own quota, in bytes of output.
    own_quota: Option<u64>,
    /// What the quota of all terminals leaves, in bytes.
    total_quota: watch::Receiver<Option<u64>>,
    room: watch::Receiver<Room>,
    gaps: Gaps,
    /// A gap that no earlier server has recorded.
    unrecorded: Option<Gap>,
    /// Causes whose limit was announced.
    announced: Vec<GapCause>,
    /// The database has a screen that needs none of the output before this.
    screened: Offset,
}

impl DiskShare {
    /// The share of a terminal whose transcript knows its gaps, but for the `unrecorded` one.
    pub fn new(
        terminal: &Terminal,
        own_quota: Option<u64>,
        room: watch::Receiver<Room>,
        unrecorded: Option<Gap>,
    ) -> Self {
        let gaps = terminal.transcript.known_gaps();
        Self {
            own_quota,
            total_quota: terminal.watch_total_quota(),
            room,
            announced: gaps.all().iter().map(|gap| gap.cause).collect(),
            gaps,
            unrecorded,
            screened: Offset::ZERO,
        }
    }

    /// Whether blocks have to wait.
    pub(crate) fn has_no_room(&self) -> bool {
        self.room.borrow().lack().is_some()
    }

    /// Resolves when the quota or the room changes.
    pub(crate) async fn changed(&mut self) {
        let changed = tokio::select! {
            changed = self.total_quota.changed() => changed,
            changed = self.room.changed() => changed,
        };
        if changed.is_err() {
            // The sender is gone: nothing changes any more.
            std::future::pending::<()>().await;
        }
    }

    fn quota(&self) -> Option<Quota> {
        let of = |bytes: Option<u64>, limit| bytes.map(|bytes| Quota { bytes, limit });
        let own = of(self.own_quota, DiskLimit::TerminalQuota);
        let total = of(*self.total_quota.borrow(), DiskLimit::TotalQuota);
        own.into_iter().chain(total).min_by_key(|quota| quota.bytes)
    }

    /// What is to be done now. `screen_at` is the output that the stored screen shows.
    pub(crate) fn step(&self, flow: &Flow, screen_at: Offset) -> Option<Step> {
        let gap = self.unrecorded.or_else(|| self.next_gap(flow))?;
        let is_screened = gap.end <= screen_at.max(self.screened);
        Some(if is_screened {
            Step::Drop(gap)
        } else {
            Step::KeepScreen
        })
    }

    fn next_gap(&self, flow: &Flow) -> Option<Gap> {
        let keep = match *self.room.borrow() {
            Room::Low(_) if flow.waiting() > MAX_WAITING_BYTES => Some(KEPT_WAITING_BYTES),
            Room::GivingUp(_) if flow.is_finished() => Some(0),
            Room::Enough | Room::Low(_) | Room::GivingUp(_) => None,
        };
        let given_up = keep.and_then(|keep| flow.expendable_unstored(keep));
        if let Some(end) = given_up {
            return Some(Gap {
                start: flow.waiting_from(),
                end,
                cause: GapCause::FreeFloor,
            });
        }
        self.quota()?.middle(flow.stored(), &self.gaps)
    }

    /// The screen was kept for the next gap, or there is none.
    pub(crate) fn has_screen_for(&mut self, flow: &Flow) {
        if let Some(gap) = self.unrecorded.or_else(|| self.next_gap(flow)) {
            self.screened = self.screened.max(gap.end);
        }
    }

    /// Drops a range. Returns the gap for the database, and the limit if this is its first gap.
    pub(crate) fn drop_range(
        &mut self,
        terminal: &Terminal,
        gap: Gap,
    ) -> (Gap, Option<ReachedLimit>) {
        if self.unrecorded == Some(gap) {
            self.unrecorded = None;
        }
        let whole = self.gaps.add(gap);
        terminal.transcript.set_gaps(self.gaps.clone());
        if self.announced.contains(&gap.cause) {
            return (whole, None);
        }
        self.announced.push(gap.cause);
        let quota = self.quota().map_or(0, |quota| quota.bytes);
        let reached = match gap.cause {
            GapCause::TerminalQuota => Some((DiskLimit::TerminalQuota, quota)),
            GapCause::TotalQuota => Some((DiskLimit::TotalQuota, quota)),
            GapCause::FreeFloor => {
                let free = self.room.borrow().lack();
                Some((DiskLimit::FreeFloor, free.map_or(0, |free| free.floor)))
            }
            GapCause::Retention | GapCause::Deleted | GapCause::Lost => None,
        };
        let reached = reached.map(|(limit, value)| ReachedLimit { limit, value });
        (whole, reached)
    }

    /// All output that is not kept.
    pub(crate) fn gaps(&self) -> &[Gap] {
        self.gaps.all()
    }
}
