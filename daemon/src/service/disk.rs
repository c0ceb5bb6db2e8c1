//! How much of the disk there is, and what is done where it is too little: the floor of free space,
//! and the quota of all transcripts together.
//!
//! Promises: looking costs a system call every few seconds, and reads the database only where the
//! quota may be exceeded; below the floor nothing new is run, and that ends by itself; for the quota
//! ended terminals' transcripts go first, the oldest before the others, then the largest of those
//! that run are cut; the audit chain never.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{DiskLimit, Gap, ReachedLimit};
use tokio::time::Instant;

use super::Terminals;
use crate::clock::now_ms;
use crate::store::{StoreError, own_actor};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::disk::{DiskShare, FreeSpace, Room};
use crate::terminal::output::quota::level;
use termd_policy::MIN_TERMINAL_QUOTA_BYTES;

/// How often it is looked, while there is plenty.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// How often, while free space is near the floor: one of them is what may be written below it.
const NEAR_LOOK_PAUSE: Duration = Duration::from_secs(1);
/// Near is less than so many times the floor.
const NEAR: u64 = 16;
/// There is room again once free space is above the floor by this part of it: what was waiting
/// must not bring it below at once.
const ROOM_AGAIN_PART: u64 = 4;
/// Where the quota of all is exceeded, this part of it is made free beside, so that not every look
/// drops something.
const TOTAL_SLACK_PART: u64 = 16;
/// Terminals that a record of dropped transcripts names.
const MAX_NAMED: usize = 32;

impl Terminals {
    /// Looks how much room there is, and goes on looking.
    pub(super) async fn start_disk_watch(&self) {
        let pause = self.look_at_free_space().await;
        let terminals = self.clone();
        tokio::spawn(async move { terminals.watch_disk(pause).await });
    }

    async fn watch_disk(&self, first_pause: Option<Duration>) {
        let mut pause = first_pause;
        let mut total_at = Instant::now() + LOOK_PAUSE;
        loop {
            tokio::time::sleep(pause.unwrap_or(LOOK_PAUSE)).await;
            pause = self.look_at_free_space().await;
            let total = self.inner.options.store.total_quota.bytes();
            if let Some(total) = total
                && Instant::now() >= total_at
            {
                total_at = Instant::now() + LOOK_PAUSE;
                match self.keep_total(total).await {
                    Ok(()) => {}
                    Err(StoreError::Closed) => return,
                    Err(error) => tracing::error!(%error, "the quota of all cannot be kept"),
                }
            } else if total.is_none() && pause.is_none() {
                // Neither has a bound.
                return;
            }
        }
    }

    /// When to look again; `None`: there is no floor.
    async fn look_at_free_space(&self) -> Option<Duration> {
        let directory = self.inner.options.state_dir.clone();
        // The file system may not answer.
        let looked = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&directory)).await;
        let space = match looked {
            Ok(Ok(space)) => space,
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot tell how much space is free");
                return Some(LOOK_PAUSE);
            }
            Err(_) => return Some(LOOK_PAUSE),
        };
        let size = space.f_blocks.saturating_mul(space.f_frsize);
        let bytes = space.f_bavail.saturating_mul(space.f_frsize);
        let floor = self.inner.options.store.floor(size)?;
        let free = FreeSpace { floor, bytes };
        let before = *self.inner.room.borrow();
        let is_low = match before {
            Room::Enough => bytes < floor,
            Room::Low(_) | Room::GivingUp(_) => bytes < floor + floor / ROOM_AGAIN_PART,
        };
        let now = match before {
            Room::GivingUp(_) => Room::GivingUp(free),
            Room::Enough | Room::Low(_) if is_low => Room::Low(free),
            Room::Enough | Room::Low(_) => Room::Enough,
        };
        let has_turned = before.lack().is_some() != now.lack().is_some();
        self.inner.room.send_if_modified(|room| {
            let differs = std::mem::discriminant(room) != std::mem::discriminant(&now);
            *room = now;
            differs
        });
        if has_turned {
            self.record_floor(free, is_low).await;
        }
        let near = bytes < floor.saturating_mul(NEAR);
        Some(if near { NEAR_LOOK_PAUSE } else { LOOK_PAUSE })
    }

    async fn record_floor(&self, free: FreeSpace, is_low: bool) {
        let FreeSpace { floor, bytes } = free;
        let action = if is_low {
            tracing::error!(floor, free = bytes, "the disk is below its floor");
            "limit.reached"
        } else {
            tracing::info!(floor, free = bytes, "the disk has room again");
            "limit.left"
        };
        let detail = Map::from_iter([
            ("limit".to_owned(), DiskLimit::FreeFloor.as_str().into()),
            ("value".to_owned(), floor.into()),
            ("free".to_owned(), bytes.into()),
        ]);
        let recorded = self.audit(action, "ok", &own_actor(), None, detail).await;
        if let Err(error) = recorded {
            tracing::error!(%error, "cannot record that the disk is short of room");
        }
    }

    /// Whether there is room for something new.
    pub(super) fn may_create(&self) -> Result<(), TerminalError> {
        match self.inner.room.borrow().lack() {
            None => Ok(()),
            Some(FreeSpace { floor, bytes: free }) => Err(TerminalError::DiskFloor { floor, free }),
        }
    }

    /// The daemon ends: what waits for room is given up, and recorded as such.
    pub fn give_up_unstored(&self) {
        self.inner.room.send_if_modified(|room| {
            let lack = room.lack();
            if let Some(free) = lack {
                *room = Room::GivingUp(free);
            }
            lack.is_some()
        });
    }

    /// What a terminal's task is to know of the disk.
    pub(super) fn disk_share(&self, terminal: &Terminal, found: Option<Gap>) -> DiskShare {
        let configured = self.inner.options.store.terminal_quota.bytes();
        let held_to = terminal.record.held_to.as_ref();
        let of_profile = held_to.and_then(|held_to| held_to.terminal_quota);
        let own = configured.into_iter().chain(of_profile).min();
        DiskShare::new(terminal, own, self.inner.room.subscribe(), found)
    }

    /// Makes all transcripts together take less where they take too much.
    async fn keep_total(&self, total: u64) -> Result<(), StoreError> {
        let store = &self.inner.store;
        // Transcripts take no more than the file does: nothing is read where that is small enough.
        if store.database_bytes() <= total || store.used_bytes().await? <= total {
            return Ok(());
        }
        let taken = store.transcript_bytes().await?;
        if taken <= total {
            return Ok(());
        }
        let target = total - total / TOTAL_SLACK_PART;
        let dropped = store.shrink_transcripts(target, now_ms()).await?;
        if !dropped.is_empty() {
            self.forget_output(&dropped).await;
            self.tell_of_dropped(total, &dropped).await;
        }
        let left = store.transcript_bytes().await?;
        if left <= total {
            return Ok(());
        }
        let running = store.running_transcripts().await?;
        let sizes: Vec<u64> = running.iter().map(|size| size.stored).collect();
        let others = left.saturating_sub(sizes.iter().sum());
        let Some(level) = level(&sizes, target.saturating_sub(others)) else {
            return Ok(());
        };
        for size in running.iter().filter(|size| size.stored > level) {
            // As much of its output as takes that, as well as its output so far was packed.
            let bytes = u128::from(size.length) * u128::from(level) / u128::from(size.stored);
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            let terminal = self.index().by_id.get(&size.terminal).map(Arc::clone);
            if let Some(terminal) = terminal {
                terminal.lower_total_quota(bytes.max(MIN_TERMINAL_QUOTA_BYTES));
            }
        }
        Ok(())
    }

    async fn tell_of_dropped(&self, total: u64, dropped: &[String]) {
        tracing::info!(
            terminals = dropped.len(),
            total,
            "old transcripts are dropped"
        );
        let limit = ReachedLimit::Disk(DiskLimit::TotalQuota);
        for id in dropped.iter().filter_map(|id| id.parse().ok()) {
            let _ = self.inner.events.send(TerminalEvent::LimitReached {
                id,
                limit,
                value: total,
            });
        }
        let named = dropped.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>();
        let detail = Map::from_iter([
            ("limit".to_owned(), DiskLimit::TotalQuota.as_str().into()),
            ("value".to_owned(), total.into()),
            ("dropped".to_owned(), dropped.len().into()),
            ("terminals".to_owned(), Value::from(named)),
        ]);
        let recorded = self
            .audit("limit.reached", "ok", &own_actor(), None, detail)
            .await;
        if let Err(error) = recorded {
            tracing::error!(%error, "cannot record that transcripts were dropped");
        }
    }
}
