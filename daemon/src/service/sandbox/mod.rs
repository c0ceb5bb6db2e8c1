//! What commands are held to, and the directories that exist for the sake of sandboxes.
//!
//! **Promises:** a start that does not come about leaves no directory behind. Directories outlive the
//! server that created them: the terminal's notes and a list on the disk name them.

mod confinement;
mod directories;
mod directory_links;
mod directory_list;
mod git;
mod info;
mod lease;
mod link_resolver;
mod mounts;
mod places;
mod protected_finder;
mod repository_settings;
mod tmux_directory;
mod tree_search;
mod writable_paths;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use termd_proto::TerminalId;
use termd_proto::policy::ExplainedSandbox;

use self::confinement::{confinement, searched_access, with_found};
use self::directories::SandboxDirectories;
use self::directory_list::is_plain;
use self::lease::release_after_exit;
use self::link_resolver::LinkResolver;
use self::places::places;
use self::writable_paths::writable_paths;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use termd_policy::{Profile, SandboxBuilder, TemporaryFiles};

pub(crate) use self::info::{recorded, requested, with_enforced};
pub(crate) use self::lease::SandboxLease;

/// Finds out what commands are held to. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Sandboxes {
    directories: Arc<SandboxDirectories>,
    config_dir: PathBuf,
}

impl Sandboxes {
    /// Created directories are written down in `state_dir`. `config_dir` holds the daemon's settings,
    /// which sandboxes protect.
    pub(crate) fn new(state_dir: &Path, config_dir: PathBuf) -> Self {
        Self {
            directories: Arc::new(SandboxDirectories::new(state_dir)),
            config_dir,
        }
    }

    /// What the keeper is to hold a command to. Looks for repositories and resolves paths, so it
    /// blocks.
    pub(crate) fn lease(
        &self,
        id: &TerminalId,
        profile: &Profile,
        cwd: &Path,
    ) -> Result<SandboxLease, TerminalError> {
        // The search may take long. No other command waits for it.
        let access = searched_access(profile, cwd, &self.config_dir)?;
        let is_sandboxed = access.is_some();
        let find = || confinement(profile, access);
        let (found, paths) = if is_sandboxed {
            self.directories.claim(id, find, |found| &found.creatable)?
        } else {
            // No path is looked at. The lock, which another command may hold while it looks, is not
            // needed.
            (find()?, Vec::new())
        };
        Ok(SandboxLease {
            confinement: found.confinement,
            workspace: found.workspace,
            paths: paths.into_iter().filter(|path| is_plain(path)).collect(),
            directories: Arc::clone(&self.directories),
            id: id.clone(),
            is_running: false,
        })
    }

    /// Takes over the directories of a terminal that an earlier server has started.
    pub(crate) fn adopt(&self, terminal: &Arc<Terminal>) {
        let paths = &terminal.record.made;
        self.directories.reclaim(terminal.id(), paths);
        release_after_exit(&self.directories, terminal);
    }

    /// Removes what a daemon that was killed has left. To be called when every terminal is adopted.
    pub(crate) async fn remove_leftovers(&self) {
        let directories = Arc::clone(&self.directories);
        let removed = tokio::task::spawn_blocking(move || directories.remove_leftovers());
        if removed.await.is_err() {
            tracing::error!("what an earlier daemon created for sandboxes stays");
        }
    }

    /// Removes every created directory: all terminals have ended.
    pub(crate) async fn remove_all(&self) {
        let directories = Arc::clone(&self.directories);
        let removed = tokio::task::spawn_blocking(move || directories.release_all());
        if removed.await.is_err() {
            tracing::error!("what was created for sandboxes stays");
        }
    }

    /// What a profile's sandbox would be for a command that starts in this directory. Blocks.
    pub(crate) fn explain(&self, profile: &Profile, cwd: &Path) -> Option<ExplainedSandbox> {
        let mut links = LinkResolver::default();
        // Of a directory that is absent only the paths are not known.
        let places = places(&mut links, cwd, &self.config_dir).unwrap_or_default();
        let walls = profile.sandbox_access(&places)?;
        let writable = writable_paths(&mut links, &walls.writable, &places).unwrap_or_default();
        let found = with_found(walls.clone(), &writable, &places);
        let walls = found.unwrap_or(walls);
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let kinds = profile.kinds().into_iter();
        let protected = walls.protected.iter();
        Some(ExplainedSandbox {
            kinds: kinds.map(|kind| kind.as_str().to_owned()).collect(),
            writable: walls.writable.iter().map(|path| shown(path)).collect(),
            protected: protected.map(|(path, _)| shown(path)).collect(),
            hidden: walls.hidden.iter().map(|path| shown(path)).collect(),
            network: walls.network,
            daemon_socket: walls.daemon_socket,
            best_effort: walls.best_effort,
            private_tmp: walls.temporary == TemporaryFiles::Private,
            bubblewrap: walls.builder == SandboxBuilder::Bubblewrap,
        })
    }
}
