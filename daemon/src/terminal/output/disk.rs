//! What one terminal's task does about the disk: which of its output goes there, what goes from
//! there for a quota, and what is given up while there is no room.
//!
//! Promises: nothing is let go without its row in the database; a screen is kept there first that
//! needs none of it, so that the next server makes the screen from what is left; a program is not
//! held up by a quota, and by a disk without room no longer than it takes to write that row.
//! It must not know how much room there is, or who says so.

use termd_proto::Offset;
use termd_proto::terminal::{DiskLimit, Gap, GapCause};
use tokio::sync::watch;

use super::flow::Flow;
use super::quota::{Gaps, Quota};
use crate::terminal::handle::Terminal;

/// While the disk has no room, so much output waits for it; of more, the oldest is given up.
/// Below what makes the PTY wait.
const WAITING_MOST_BYTES: u64 = 5 << 20;
/// What is left waiting then.
const WAITING_KEPT_BYTES: u64 = 4 << 20;

/// Whether the disk has room for output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// It does.
    Enough,
    /// It has less free space than its floor.
    Low(Free),
    /// The same, and the daemon ends: what is not stored will not be.
    GivingUp(Free),
}

/// Free space, and how much there should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Free {
    /// Bytes below which no output is stored.
    pub floor: u64,
    /// Bytes free.
    pub bytes: u64,
}

impl Room {
    /// What there is, where it is too little.
    pub fn lack(self) -> Option<Free> {
        match self {
            Self::Enough => None,
            Self::Low(free) | Self::GivingUp(free) => Some(free),
        }
    }
}

/// What is to be done before the next block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Keep the screen: what it would be made of is about to go.
    Screen,
    /// Let this go.
    Gap(Gap),
}

/// A limit that this terminal has reached for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    /// Which.
    pub(crate) limit: DiskLimit,
    /// The limit itself, in bytes.
    pub(crate) value: u64,
}

/// One terminal's share of the disk.
#[derive(Debug)]
pub struct DiskShare {
    /// Its quota, in bytes of output.
    own: Option<u64>,
    /// What the quota of all has left it.
    tight: watch::Receiver<Option<u64>>,
    room: watch::Receiver<Room>,
    gaps: Gaps,
    /// What a server before has not said of its output.
    found: Option<Gap>,
    told: Vec<GapCause>,
    /// For gaps up to here a screen is in the database.
    screened: Offset,
}

impl DiskShare {
    /// Of a terminal whose gaps so far its transcript knows. `found`: one that nobody has recorded.
    pub fn new(
        terminal: &Terminal,
        own: Option<u64>,
        room: watch::Receiver<Room>,
        found: Option<Gap>,
    ) -> Self {
        let gaps = terminal.transcript.known_gaps();
        Self {
            own,
            tight: terminal.tightened(),
            room,
            told: gaps.all().iter().map(|gap| gap.cause).collect(),
            gaps,
            found,
            screened: Offset::ZERO,
        }
    }

    /// Whether blocks have to wait.
    pub(crate) fn has_no_room(&self) -> bool {
        self.room.borrow().lack().is_some()
    }

    /// Resolves when there is another quota, or other room.
    pub(crate) async fn changed(&mut self) {
        let changed = tokio::select! {
            changed = self.tight.changed() => changed,
            changed = self.room.changed() => changed,
        };
        if changed.is_err() {
            // Whoever says so is gone: nothing changes any more.
            std::future::pending::<()>().await;
        }
    }

    fn quota(&self) -> Option<Quota> {
        let of = |bytes: Option<u64>, limit| bytes.map(|bytes| Quota { bytes, limit });
        let own = of(self.own, DiskLimit::TerminalQuota);
        let tight = of(*self.tight.borrow(), DiskLimit::TotalQuota);
        own.into_iter().chain(tight).min_by_key(|quota| quota.bytes)
    }

    /// What is to be done now; `screen_at`: the output that is in the database's screen.
    pub(crate) fn step(&self, flow: &Flow, screen_at: Offset) -> Option<Step> {
        let gap = self.found.or_else(|| self.next_gap(flow))?;
        let is_screened = gap.end <= screen_at.max(self.screened);
        Some(if is_screened {
            Step::Gap(gap)
        } else {
            Step::Screen
        })
    }

    fn next_gap(&self, flow: &Flow) -> Option<Gap> {
        let keep = match *self.room.borrow() {
            Room::Low(_) if flow.waiting() > WAITING_MOST_BYTES => Some(WAITING_KEPT_BYTES),
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

    /// A screen was kept, or there is none to be kept.
    pub(crate) fn has_screen_for(&mut self, flow: &Flow) {
        if let Some(gap) = self.found.or_else(|| self.next_gap(flow)) {
            self.screened = self.screened.max(gap.end);
        }
    }

    /// This goes. Gives what the database is to be told, and the limit, if it is its first time.
    pub(crate) fn let_go(&mut self, terminal: &Terminal, gap: Gap) -> (Gap, Option<Reached>) {
        if self.found == Some(gap) {
            self.found = None;
        }
        let whole = self.gaps.add(gap);
        terminal.transcript.set_gaps(self.gaps.clone());
        if self.told.contains(&gap.cause) {
            return (whole, None);
        }
        self.told.push(gap.cause);
        let quota = self.quota().map_or(0, |quota| quota.bytes);
        let reached = match gap.cause {
            GapCause::TerminalQuota => Some((DiskLimit::TerminalQuota, quota)),
            GapCause::TotalQuota => Some((DiskLimit::TotalQuota, quota)),
            GapCause::FreeFloor => {
                let free = self.room.borrow().lack();
                Some((DiskLimit::FreeFloor, free.map_or(0, |free| free.floor)))
            }
            GapCause::Retention | GapCause::Lost => None,
        };
        let reached = reached.map(|(limit, value)| Reached { limit, value });
        (whole, reached)
    }

    /// All that is not kept.
    pub(crate) fn gaps(&self) -> &[Gap] {
        self.gaps.all()
    }
}
