//! The floor of free space on the file system of the state directory.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Map;
use termd_proto::terminal::DiskLimit;
use tokio::sync::watch;

use crate::config::StoreConfig;
use crate::service::audit_log::AuditLog;
use crate::store::{AuditAction, AuditOutcome, own_actor};
use crate::terminal::output::disk::{FreeSpace, Room};

/// The pause between two looks while much is free.
pub(super) const PAUSE: Duration = Duration::from_secs(5);
/// The pause while free space is near the floor. What is written in one such pause may go below the
/// floor.
pub(super) const PAUSE_NEAR_FLOOR: Duration = Duration::from_secs(1);
/// Free space below this multiple of the floor is near it.
const NEAR_FLOORS: u64 = 16;
/// Free space must exceed the floor by this part of it before output is stored again. Otherwise the
/// output that waits would go below the floor at once.
const RECOVERY_PART: u64 = 4;

/// Whether the disk has room for output.
#[derive(Debug)]
pub(super) struct FreeSpaceWatch {
    state_dir: PathBuf,
    config: StoreConfig,
    room: watch::Sender<Room>,
    /// Free bytes at the last look, and the floor.
    seen: Mutex<(u64, Option<u64>)>,
    audit: AuditLog,
}

impl FreeSpaceWatch {
    pub(super) fn new(state_dir: PathBuf, config: StoreConfig, audit: AuditLog) -> Self {
        Self {
            state_dir,
            config,
            room: watch::Sender::new(Room::Enough),
            seen: Mutex::default(),
            audit,
        }
    }

    pub(super) fn watch(&self) -> watch::Receiver<Room> {
        self.room.subscribe()
    }

    /// The free space, where there is too little of it.
    pub(super) fn lack(&self) -> Option<FreeSpace> {
        self.room.borrow().lack()
    }

    /// Free bytes at the last look, and the floor, where there is one.
    pub(super) fn seen(&self) -> (u64, Option<u64>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The daemon ends: output that waits for room is given up, and recorded as lost.
    pub(super) fn give_up_unstored(&self) {
        self.room.send_if_modified(|room| {
            let lack = room.lack();
            if let Some(free) = lack {
                *room = Room::GivingUp(free);
            }
            lack.is_some()
        });
    }

    /// Looks how much is free. Returns the pause until the next look; `None` where there is no floor.
    pub(super) async fn look(&self) -> Option<Duration> {
        let directory = self.state_dir.clone();
        // The file system may not answer.
        let looked = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&directory)).await;
        let space = match looked {
            Ok(Ok(space)) => space,
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot tell how much space is free");
                return Some(PAUSE);
            }
            Err(_) => return Some(PAUSE),
        };
        let size = space.f_blocks.saturating_mul(space.f_frsize);
        let bytes = space.f_bavail.saturating_mul(space.f_frsize);
        let floor = self.config.floor(size);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = (bytes, floor);
        let floor = floor?;
        self.update(FreeSpace { floor, bytes }).await;
        let is_near = bytes < floor.saturating_mul(NEAR_FLOORS);
        Some(if is_near { PAUSE_NEAR_FLOOR } else { PAUSE })
    }

    async fn update(&self, free: FreeSpace) {
        let FreeSpace { floor, bytes } = free;
        let before = *self.room.borrow();
        let is_low = match before {
            Room::Enough => bytes < floor,
            Room::Low(_) | Room::GivingUp(_) => bytes < floor + floor / RECOVERY_PART,
        };
        let now = match before {
            Room::GivingUp(_) => Room::GivingUp(free),
            Room::Enough | Room::Low(_) if is_low => Room::Low(free),
            Room::Enough | Room::Low(_) => Room::Enough,
        };
        self.room.send_if_modified(|room| {
            let differs = std::mem::discriminant(room) != std::mem::discriminant(&now);
            *room = now;
            differs
        });
        if before.lack().is_some() != now.lack().is_some() {
            self.record(free, is_low).await;
        }
    }

    async fn record(&self, free: FreeSpace, is_low: bool) {
        let FreeSpace { floor, bytes } = free;
        let action = if is_low {
            tracing::error!(floor, free = bytes, "the disk is below its floor");
            AuditAction::LimitReached
        } else {
            tracing::info!(floor, free = bytes, "the disk has room again");
            AuditAction::LimitLeft
        };
        let detail = Map::from_iter([
            ("limit".to_owned(), DiskLimit::FreeFloor.as_str().into()),
            ("value".to_owned(), floor.into()),
            ("free".to_owned(), bytes.into()),
        ]);
        let actor = own_actor();
        let recorded = self
            .audit
            .record(action, AuditOutcome::Ok, &actor, None, detail);
        if let Err(error) = recorded.await {
            tracing::error!(%error, "cannot record that the disk is short of room");
        }
    }
}
