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

use termd_proto::event::TerminalEvent;
use termd_proto::terminal::Gap;
use tokio::sync::broadcast;
use tokio::time::Instant;

use self::free_space_watch::{FreeSpaceWatch, PAUSE};
use self::total_quota::TotalQuota;
use crate::config::StoreConfig;
use crate::service::audit_log::AuditLog;
use crate::service::registry::Registry;
use crate::store::{Store, StoreError};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::disk::{DiskShare, FreeSpace};

/// The disk that output is stored on.
#[derive(Debug)]
pub(crate) struct Disk {
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
            store,
            registry,
            audit: audit.clone(),
            events,
        });
        Self {
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
            tokio::time::sleep(pause.unwrap_or(PAUSE)).await;
            pause = self.free_space.look().await;
            let Some(total_quota) = &self.total_quota else {
                if pause.is_none() {
                    return;
                }
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

    /// Checks that there is room for something new.
    pub(crate) fn check_room(&self) -> Result<(), TerminalError> {
        match self.free_space.lack() {
            None => Ok(()),
            Some(FreeSpace { floor, bytes: free }) => Err(TerminalError::DiskFloor { floor, free }),
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
