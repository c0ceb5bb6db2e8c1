//! What a command is held to, and the directories that exist for its sake.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termd_proto::TerminalId;
use tokio::runtime::Handle;

use super::directories::{Remaining, SandboxDirectories};
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::confinement::Confinement;

/// How long directories stay after the end of their command. Commands in one directory often follow
/// each other, and each needs the same.
const LINGER: Duration = Duration::from_secs(5);
/// The first pause between two looks for processes that the command left running. Each further pause
/// is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause. A look reads the mounts of every process of this user.
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// A confinement, with the directories that were created for it. The directories are released on
/// drop, unless the command runs.
#[derive(Debug)]
pub(crate) struct SandboxLease {
    pub(crate) confinement: Confinement,
    /// The directories that were created for this terminal, or for another one that needs them too.
    pub(crate) paths: Vec<PathBuf>,
    /// The workspace, without links. `None` where there is no sandbox.
    pub(crate) workspace: Option<PathBuf>,
    pub(super) directories: Arc<SandboxDirectories>,
    pub(super) id: TerminalId,
    pub(super) is_running: bool,
}

impl SandboxLease {
    /// Whether this path, without links, is protected.
    pub(crate) fn protects(&self, path: &Path) -> bool {
        let protected = self.confinement.sandbox.iter();
        let mut protected = protected.flat_map(|sandbox| &sandbox.protected);
        protected.any(|protected| {
            let place = Path::new(OsStr::from_bytes(&protected.path));
            path.starts_with(place) && (path == place || !protected.if_absent.is_pin())
        })
    }

    /// The command runs. The directories are released after its end.
    pub(crate) fn keep_until_exit(mut self, terminal: &Arc<Terminal>) {
        self.is_running = true;
        release_after_exit(&self.directories, terminal);
    }
}

impl Drop for SandboxLease {
    fn drop(&mut self) {
        if self.is_running || self.paths.is_empty() {
            return;
        }
        let (directories, id) = (Arc::clone(&self.directories), self.id.clone());
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || directories.release(&id));
        }
    }
}

/// Releases a terminal's directories once nothing of the terminal runs any more.
pub(super) fn release_after_exit(directories: &Arc<SandboxDirectories>, terminal: &Arc<Terminal>) {
    if terminal.record.made.is_empty() {
        return;
    }
    let (directories, terminal) = (Arc::clone(directories), Arc::clone(terminal));
    tokio::spawn(async move {
        if terminal.exit().await.is_err() {
            return;
        }
        tokio::time::sleep(LINGER).await;
        let mut pause = FIRST_PAUSE;
        while release(&directories, terminal.id()).await == Remaining::InUse {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    });
}

async fn release(directories: &Arc<SandboxDirectories>, id: &TerminalId) -> Remaining {
    let (directories, id) = (Arc::clone(directories), id.clone());
    let released = tokio::task::spawn_blocking(move || directories.release(&id));
    released.await.unwrap_or(Remaining::Nothing)
}
