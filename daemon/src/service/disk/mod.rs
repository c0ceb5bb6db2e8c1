//! How much of the disk there is, and what is done where there is too little: the floor of free
//! space, and the quota of all transcripts together.
//!
//! **Promises:** a look at free space costs a system call every few seconds. The database is read
//! only where the quota may be exceeded. Below the floor nothing new is run, and that ends by itself.

mod free_space_watch;
mod total_quota;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use termd_proto::daemon::{DiskShortage, DiskShortageKind};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::Gap;
use tokio::sync::broadcast;
use tokio::time::Instant;

use self::free_space_watch::{FreeSpaceWatch, PAUSE, PAUSE_NEAR_FLOOR};
use self::total_quota::TotalQuota;
use crate::config::StoreConfig;
use crate::service::audit_log::AuditLog;
use crate::service::registry::Registry;
use crate::store::{BlockPermit, Stall, Store, StoreError};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::disk::{DiskShare, FreeSpace};

/// The disk that output is stored on.
#[derive(Debug)]
pub(crate) struct Disk {
    store: Store,
    free_space: FreeSpaceWatch,
    total_quota: Option<TotalQuota>,
    /// The output that may be stored of one terminal, in bytes.
    terminal_quota: Option<u64>,
}

impl Disk {
    /// The disk that `state_dir` is on.
    pub(crate) fn new(
        state_dir: PathBuf,
        config: StoreConfig,
        store: Store,
        registry: Arc<Registry>,
        audit: AuditLog,
        events: broadcast::Sender<TerminalEvent>,
    ) -> Self {
        let total_quota = config.total_quota.bytes().map(|bytes| TotalQuota {
            bytes,
            store: store.clone(),
            registry,
            audit: audit.clone(),
            events,
        });
        Self {
            store,
            total_quota,
            terminal_quota: config.terminal_quota.bytes(),
            free_space: FreeSpaceWatch::new(state_dir, config, audit),
        }
    }

    /// Looks how much is free, and goes on looking in a task.
    pub(crate) async fn start(self: &Arc<Self>) {
        let pause = self.free_space.look().await;
        let this = Arc::clone(self);
        tokio::spawn(async move { this.watch(pause).await });
    }

    async fn watch(&self, first_pause: Option<Duration>) {
        let mut pause = first_pause;
        let mut total_at = Instant::now() + PAUSE;
        loop {
            self.pause(pause.unwrap_or(PAUSE)).await;
            pause = self.free_space.look().await;
            let Some(total_quota) = &self.total_quota else {
                continue;
            };
            if Instant::now() < total_at {
                continue;
            }
            total_at = Instant::now() + PAUSE;
            match total_quota.enforce().await {
                Ok(()) => {}
                Err(StoreError::Closed) => return,
                Err(error) => tracing::error!(%error, "the quota of all cannot be kept"),
            }
        }
    }

    /// Waits until the next look at free space: a full disk is looked at at once, and then each second.
    async fn pause(&self, pause: Duration) {
        if self.store.stall().is_some() {
            tokio::time::sleep(pause.min(PAUSE_NEAR_FLOOR)).await;
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = self.store.stalled() => {}
        }
    }

    /// How many bytes of one terminal's output are kept.
    pub(crate) fn terminal_quota(&self) -> Option<u64> {
        self.terminal_quota
    }

    /// Checks that there is room for something new.
    pub(crate) fn check_room(&self) -> Result<(), TerminalError> {
        let Some(DiskShortage { kind, free, floor }) = self.shortage() else {
            return Ok(());
        };
        Err(match (kind, floor) {
            (DiskShortageKind::BelowFloor, Some(floor)) => TerminalError::DiskFloor { floor, free },
            _ => TerminalError::DiskFull { free },
        })
    }

    /// What the disk lacks, if anything.
    pub(crate) fn shortage(&self) -> Option<DiskShortage> {
        let (free, floor) = self.free_space.seen();
        let kind = match (self.store.stall(), self.free_space.lack()) {
            (Some(Stall::Full), _) => DiskShortageKind::Full,
            (Some(Stall::FullForOutput), _) => DiskShortageKind::OutputWaits,
            (_, Some(FreeSpace { floor, bytes: free })) => {
                let (kind, floor) = (DiskShortageKind::BelowFloor, Some(floor));
                return Some(DiskShortage { kind, free, floor });
            }
            (Some(Stall::Failing) | None, None) => return None,
        };
        Some(DiskShortage { kind, free, floor })
    }

    /// Size of the database with its write-ahead log, in bytes.
    pub(crate) fn database_bytes(&self) -> u64 {
        self.store.database_bytes()
    }

    /// A place in the queue of writes for the row of something new; an error where it would wait for
    /// room.
    pub(crate) async fn reserve_row(&self) -> Result<BlockPermit, TerminalError> {
        self.store.reserve_row().await.map_err(|error| match error {
            StoreError::DiskFull => self.full(),
            other => other.into(),
        })
    }

    /// The error where the disk took no more.
    pub(crate) fn full(&self) -> TerminalError {
        TerminalError::DiskFull {
            free: self.free_space.seen().0,
        }
    }

    /// The daemon ends: output that waits for room is given up, and recorded as lost.
    pub(crate) fn give_up_unstored(&self) {
        self.free_space.give_up_unstored();
    }

    /// What a terminal's task is to know of the disk. `lost` is output of an earlier server that
    /// neither the database nor the spool has.
    pub(crate) fn share(&self, terminal: &Terminal, lost: Option<Gap>) -> DiskShare {
        let held_to = terminal.record.held_to.as_ref();
        let of_profile = held_to.and_then(|held_to| held_to.terminal_quota);
        let quota = self.terminal_quota.into_iter().chain(of_profile).min();
        DiskShare::new(terminal, quota, self.free_space.watch(), lost)
    }
}
